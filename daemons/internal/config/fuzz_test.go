package config

import (
	"slices"
	"strings"
	"testing"
)

// ini.v1 must read back exactly what the pre-pass found: nothing is left for it
// to interpret.
func FuzzParseFile(f *testing.F) {
	for _, c := range []string{
		"[DEFAULT]\na = 1\n", "[a]\nb = \"\"\"x\"\"\"\n c\n", "[a\"]\n`k` = `v\\\n", "[pci]\n- = 1\n- = 2\n[PCI]\n-: 3",
		"[x]\na=1\r\n\tb\r[y]\n;c\n#d\nk=%(x)s ${y}", "[[x]]\n=\n", "[.]\na.b = @3\n",
	} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain, err := scan("f", text)
		if err != nil {
			return
		}
		got, err := parseFile("f", text)
		if err != nil {
			t.Fatalf("ini.v1 refuses what the pre-pass accepts: %v", err)
		}
		if !slices.Equal(plain, got) {
			t.Fatalf("pre-pass %+v, ini.v1 %+v", plain, got)
		}
	})
}

// No text crashes the types or the expansion of references.
func FuzzConvert(f *testing.F) {
	f.Add("${a} $b.c $$ \\$x", byte(0))
	f.Add("1_0,-5,a:b", byte(7))
	kinds := []Kind{Str, Int, Float, Bool, List, MultiStr, Dict, Port, HostAddr, URI}
	f.Fuzz(func(t *testing.T, text string, k byte) {
		d, err := declare(Option{Name: "a", Kind: kinds[int(k)%len(kinds)]})
		if err != nil {
			t.Fatal(err)
		}
		c := &Config{schema: &Schema{options: []declared{d}, index: map[Name]int{d.name: 0}}}
		c.resolved = []resolved{{found: []setting{{text: text}}}}
		c.convert(0)
		if r := c.resolved[0]; r.err != nil && r.value != nil {
			t.Fatalf("value %v beside error %v", r.value, r.err)
		}
		if strings.Contains(text, "$") {
			return
		}
		if expanded, err := c.expand(text, "g"); err != nil || expanded != text {
			t.Fatalf("%q expands to %q, %v", text, expanded, err)
		}
	})
}
