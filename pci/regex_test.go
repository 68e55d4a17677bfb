package pci

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// buses gives the set of buses that a pattern matches, as a number.
func buses(pattern string) (*big.Int, error) {
	set, err := compileFieldRegex(pattern, maxBus, 2)
	n := new(big.Int)
	for v := range maxBus + 1 {
		if set.has(uint(v)) {
			n.SetBit(n, v, 1)
		}
	}
	return n, err
}

// TestRegexEqualsPython compares with what Python 3.14 did with random patterns.
func TestRegexEqualsPython(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/regex-python3.14.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Patterns []struct{ Pattern, Error, Buses string }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, p := range file.Patterns {
		got, err := buses(p.Pattern)
		switch {
		case (err != nil) != (p.Error != ""):
			t.Errorf("%q: error %v, Python %q", p.Pattern, err, p.Error)
		case err == nil && got.Text(16) != p.Buses:
			t.Errorf("%q matches %x, Python %s", p.Pattern, got, p.Buses)
		}
	}
}

// TestRegexRefuses covers refusals of constructs one by one.
func TestRegexRefuses(t *testing.T) {
	t.Parallel()
	for pattern, text := range map[string]string{
		`\`:                          "bad escape (end of pattern)",
		`\q`:                         `bad escape \q`,
		`[\8]`:                       "bad escape",
		`\x1`:                        "incomplete escape",
		`\U00110000`:                 "bad escape",
		`\N0`:                        "missing {",
		`\N{NO SUCH}`:                "undefined character name",
		`\N{`:                        "missing character name",
		`\400`:                       "octal escape value",
		`\1`:                         "invalid group reference 1",
		`(a\1)`:                      "cannot refer to an open group",
		`(?P=x)`:                     `unknown group name "x"`,
		`(?P<x>a`:                    "missing ), unterminated subpattern",
		`(?P<x`:                      "missing >, unterminated name",
		`(?P<>a)`:                    "missing group name",
		`(?P<x>a)(?P<x>b)`:           "redefinition of group name",
		`(?Px)`:                      "unknown extension ?Px",
		`(?`:                         "unexpected end of pattern",
		`(?#`:                        "unterminated comment",
		`(?<x>a)`:                    "unknown extension ?<x",
		`(?<=a*)b`:                   "look-behind requires fixed-width pattern",
		`(?<=a{4294967294}{1})b`:     "multiple repeat",
		`(?<=(?:a{4294967294}){2})b`: "looks too much behind",
		`(?<=(a)\1)b`:                "cannot refer to group defined in the same lookbehind subpattern",
		`(?(1)a|b|c)(x)`:             "conditional backref with more than two branches",
		`(?(2)a)(x)`:                 "invalid group reference 2",
		`(?(0)a)`:                    "bad group number",
		`(?(x)a)`:                    `unknown group name "x"`,
		`a(?i)b`:                     "global flags not at the start of the expression",
		`(?au)`:                      "flags 'a', 'u' and 'L' are incompatible",
		`(?a)(?u)`:                   "ASCII and UNICODE flags are incompatible",
		`(?L)`:                       "cannot use 'L' flag",
		`(?i-i:a)`:                   "flag turned on and off",
		`(?-a:a)`:                    "cannot turn off flags",
		`(?i`:                        "missing -, : or )",
		`(?-)`:                       "missing flag",
		`(?-i)`:                      "missing :",
		`*`:                          "nothing to repeat",
		`^*`:                         "nothing to repeat",
		`a**`:                        "multiple repeat",
		`a{4294967295}`:              "the repetition number is too large",
		`a{2,1}`:                     "min repeat greater than max repeat",
		`[a`:                         "unterminated character set",
		`[a-`:                        "unterminated character set",
		`[b-a]`:                      "bad character range b-a",
		`[\d-a]`:                     `bad character range \d-a`,
		`a)`:                         "unbalanced parenthesis",
		strings.Repeat("(", 600) + strings.Repeat(")", 600): "nested more than",
	} {
		_, err := parseRegex(pattern)
		if e, ok := errors.AsType[*regexError](err); !ok || !strings.Contains(e.Error(), text) {
			t.Errorf("%.40q: error %v, want %q", pattern, err, text)
		}
	}
}

// TestRegexSpellings compares spellings of one set.
func TestRegexSpellings(t *testing.T) {
	t.Parallel()
	for plain, spellings := range map[string][]string{
		"a": {
			`\N{LATIN SMALL LETTER A}`, `\N{latin small letter a}`, `(?i:\N{LATIN CAPITAL LETTER A})`, `[\N{LATIN SMALL LETTER A}]`,
			`\x61`, `\141`, `[\141]`, `\u0061`, `\U00000061`, `(?x: a # comment` + "\n)", `(?x)\ ?a`, `(?#comment \) )a`, `[A-a]`, `a(?!)?`,
		},
		"0":      {`\N{DIGIT ZERO}`, `(?:\a|\f|\n|\r|\t|\v|0)`, `[\a\f\n\r\t\v\b0]`, `[+--0]`, `(?:\N{COMMA}|0)`},
		"[^a-f]": {`\d`, `[\d]`, `[^\D]`, `(?![a-f])`, `(?a:\d)`, `(?-i:[0-9])`},
		"":       {`\b`, `(?u)`, `(?s-i:)`, `\w`, `\S`, `[\w]`, `[^\W]`, `[^\s]`, `(?=\d|\D)`},
	} {
		want, err := buses(plain)
		if err != nil {
			t.Fatal(err)
		}
		for _, spelling := range spellings {
			if got, err := buses(spelling); err != nil || got.Cmp(want) != 0 {
				t.Errorf("%q matches %x, error %v, want %x", spelling, got, err, want)
			}
		}
	}
}

// TestRegexBounds makes sure that no pattern hangs or exhausts the stack.
func TestRegexBounds(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`(?:(?:a?){20}){20}b`,
		`(?:){4000000000}`,
		`(?:(?=0)){2000000}`,
		`(?:(?:){100000}){100000}`,
		`(?:(?:(?:a*)*)*)*b` + strings.Repeat(`(?:a?b?0?)*`, 500) + `g`,
		strings.Repeat(`(?:`, 400) + `a` + strings.Repeat(`)*`, 400) + `g`,
		`(?:()){1000000}+`,
	} {
		start := time.Now()
		_, err := compileFieldRegex(pattern, maxBus, 2)
		if err != nil && !errors.Is(err, errRegexTooComplex) {
			t.Errorf("%.40q: %v", pattern, err)
		}
		t.Logf("%.40q: %v after %s", pattern, err, time.Since(start))
	}
}

// pattern draws a pattern of the constructs that Python and Go read alike.
func pattern(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if depth == 0 {
			return rapid.SampledFrom([]string{
				"0", "1", "a", "f", ".", "[0-9]", "[a-f]", "[^0a]", `\d`, `\D`, `\w`, "^", "$", `\b`, `\B`, "A", "(?i:A)", "",
			}).Draw(t, "atom")
		}
		a := pattern(depth-1).Draw(t, "a")
		b := pattern(depth-1).Draw(t, "b")
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return a + b
		case 1:
			return a + "|" + b
		case 2:
			return "(" + a + ")" + b
		case 3:
			return "(?:" + a + ")" + rapid.SampledFrom([]string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}?"}).Draw(t, "count")
		default:
			return "(?i:" + a + ")" + b
		}
	})
}

// TestRegexEqualsGo compares with Go's regexp on the common constructs.
func TestRegexEqualsGo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := pattern(rapid.IntRange(0, 4).Draw(t, "depth")).Draw(t, "pattern")
		got, err := buses(p)
		if err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		re := regexp.MustCompile(`\A(?:` + p + `)`)
		for v := range maxBus + 1 {
			if want := re.MatchString(fmt.Sprintf("%02x", v)); want != (got.Bit(v) == 1) {
				t.Fatalf("%q on %02x: Go says %t", p, v, want)
			}
		}
	})
}

// TestRegexAlgebra checks the constructs that Go lacks against each other.
func TestRegexAlgebra(t *testing.T) {
	t.Parallel()
	all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), maxBus+1), big.NewInt(1))
	rapid.Check(t, func(t *rapid.T) {
		set := func(p string) *big.Int {
			n, err := buses(p)
			if err != nil {
				t.Fatalf("%q: %v", p, err)
			}
			return n
		}
		p := pattern(2).Draw(t, "p")
		q := pattern(2).Draw(t, "q")
		ps, qs := set(p), set(q)
		for law, want := range map[string]*big.Int{
			"(?=" + p + ")":                     ps,
			"(?!" + p + ")":                     new(big.Int).AndNot(all, ps),
			"(?=" + p + ")(?=" + q + ")":        new(big.Int).And(ps, qs),
			"(?>" + p + ")":                     ps,
			p + "|" + q:                         new(big.Int).Or(ps, qs),
			"(?:" + p + "){1}+":                 ps,
			"(?:" + p + "){,1}":                 all,
			"(" + p + ")(?(1)|g)":               ps,
			"(?:" + p + ")(?<=(?=g)|..|.|)":     nil,
			"(?#" + "x" + ")(?:" + p + ")(?:)*": ps,
		} {
			if want == nil {
				if _, err := parseRegex(law); err == nil {
					t.Fatalf("%q has no fixed width and is accepted", law)
				}
			} else if got := set(law); got.Cmp(want) != 0 {
				t.Fatalf("%q gives %x, want %x", law, got, want)
			}
		}
	})
}

// FuzzRegex: no pattern panics or hangs, and an accepted one stands a group
// around it and a lookahead in front.
func FuzzRegex(f *testing.F) {
	for _, seed := range []string{
		"", "0a$|81$", "(?!0a)", `(.)\1`, "(?P<x>.)(?P=x)", "(?i:[A-F])++", "(a)?(?(1)b|c)", "(?<=a)b{,1}", `\N{DIGIT ZERO}`, "[[:digit:]]", "(?x) a #c\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		want, err := buses(pattern)
		if err != nil {
			return
		}
		re, err := parseRegex(pattern)
		if err != nil {
			t.Fatalf("%q is refused the second time: %v", pattern, err)
		}
		got, err := buses("(?=" + strings.Repeat("0?", 2) + ")" + pattern)
		if _, refused := errors.AsType[*regexError](err); refused || errors.Is(err, errRegexTooComplex) {
			return // global flags must stand first; the budget is smaller now
		}
		if got.Cmp(want) != 0 {
			t.Errorf("%q (%d groups) matches %x, behind a lookahead %x", pattern, re.groups, want, got)
		}
	})
}
