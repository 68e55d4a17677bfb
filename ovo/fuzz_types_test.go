package ovo

import (
	"math"
	"strings"
	"testing"
)

// fuzzType feeds texts to a type: nothing panics, and what is accepted is a value that its own primitive gives again.
func fuzzType(f *testing.F, names []string, seeds ...string) {
	types := make([]Type, len(names))
	for i, name := range names {
		typ, err := NewType(TypeSpec{Name: name})
		if err != nil {
			f.Fatal(err)
		}
		types[i] = typ
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, typ := range types {
			v, err := typ.coerce(place{field: "f"}, s)
			if err != nil {
				continue
			}
			if x, ok := v.(float64); ok && math.IsNaN(x) {
				continue
			}
			p, err := typ.toPrimitive(place{}, v)
			if err != nil {
				t.Fatalf("%s: primitive of %q: %v", typ.Name(), s, err)
			}
			back, err := typ.fromPrimitive(place{}, p)
			if err == nil {
				back, err = typ.coerce(place{}, back)
			}
			again, err2 := typ.toPrimitive(place{}, back)
			if err != nil || err2 != nil || !pyEqual(p, again) {
				t.Fatalf("%s: %q gave %v, then %v (%v, %v)", typ.Name(), s, p, again, err, err2)
			}
		}
	})
}

func FuzzDateTime(f *testing.F) {
	fuzzType(f, []string{"DateTime"}, "2020-01-02T03:04:05Z", "20200102 030405,5+05:30", "2020-1-2", "2020-01-02T03-00:00", "202001", "2020\n")
}

func FuzzNetwork(f *testing.F) {
	fuzzType(f, []string{"IPAddress", "IPV4Address", "IPV6Address", "IPNetwork", "IPV4Network", "IPV6Network"},
		"10.0.0.1", "10.0.0.1/8", "10.0.0.0/0.0.255.255", "::ffff:1.2.3.4/ 96", "::1.2.3.4", "fe80::1%eth0", "::/ffc0::")
}

func FuzzNumber(f *testing.F) {
	fuzzType(f, []string{"Integer", "NonNegativeInteger", "Float", "NonNegativeFloat"}, "1_000", " +٣ ", "1e400", ".5", "-inf", "\x1c1")
}

func FuzzAddress(f *testing.F) {
	fuzzType(f, []string{"MACAddress", "PCIAddress"}, "AA-bb-cc-00-11-22\n", "0000:3B:00.0", "0000:3b:1fx7")
}

func FuzzVersionPredicate(f *testing.F) {
	fuzzType(f, []string{"VersionPredicate"}, ">=1.0, <2.0", "==1!1.0rc1.post2.dev3+a.b", ">= v1-1", "<")
}

// FuzzMaskPasswords checks that masking ends, and does nothing where no name of a secret is.
func FuzzMaskPasswords(f *testing.F) {
	for _, s := range []string{"password=x", `{"adminPass": "s3cr3t"}`, "--token abc", "<secret>v</secret>", "plain"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		masked := maskPasswords(s)
		lower := strings.ToLower(s)
		for _, key := range sensitiveKeys {
			if strings.Contains(lower, key) {
				return
			}
		}
		if masked != s {
			t.Fatalf("%q became %q", s, masked)
		}
	})
}
