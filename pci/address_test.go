package pci_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-cyborg/cyborg/pci"
)

func TestParseAddressWideDomain(t *testing.T) {
	t.Parallel()
	for text, wide := range map[string]bool{
		"10000:e1:00.0": true, "10000000:01:00.7": true, "00000:03:00.0": true,
		"10000:e1:20.0": false, "10000:e1:00.8": false, "1000g:01:00.0": false, "000:01:00.0": false, "x": false,
	} {
		_, err := pci.ParseAddress(text)
		if got := errors.Is(err, pci.ErrWideDomain); err == nil || got != wide {
			t.Errorf("%s: %v, wide domain %t", text, err, got)
		}
	}
}

func TestParseAddressFields(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fields [4]string
		want   string
	}{
		"full width":  {[4]string{"0000", "0c", "1F", "7"}, "0000:0c:1f.7"},
		"short":       {[4]string{"0", "c", "1", "0"}, "0000:0c:01.0"},
		"empty":       {[4]string{"0000", "", "00", "0"}, ""},
		"wide domain": {[4]string{"10000", "00", "00", "0"}, ""},
		"slot":        {[4]string{"0000", "00", "20", "0"}, ""},
		"function":    {[4]string{"0000", "00", "00", "8"}, ""},
		"sign":        {[4]string{"0000", "+1", "00", "0"}, ""},
		"blank":       {[4]string{"0000", " 1", "00", "0"}, ""},
		"prefix":      {[4]string{"0x00", "00", "00", "0"}, ""},
	} {
		a, err := pci.ParseAddressFields(tc.fields[0], tc.fields[1], tc.fields[2], tc.fields[3])
		if (err == nil) != (tc.want != "") || err == nil && a.String() != tc.want {
			t.Errorf("%s: %s, %v", name, a, err)
		}
	}
}

func TestAddressProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawAddress(t), drawAddress(t)
		if back, err := pci.ParseAddress(a.String()); err != nil || back != a {
			t.Fatalf("%s reads back as %s, %v", a, back, err)
		}
		order := 0
		switch {
		case a.String() < b.String(): // full width: text order is address order
			order = -1
		case a.String() > b.String():
			order = 1
		}
		if a.Compare(b) != order {
			t.Fatalf("%s against %s: %d", a, b, a.Compare(b))
		}
	})
}
