package pci_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
)

// TestParseExcludeListAsSplit reads elements as oslo.config splits the option.
func TestParseExcludeListAsSplit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		elements []string
		want     []string // nil when refused
		bad      []string // parts of the error text
	}{
		"empty":        {nil, []string{}, nil},
		"two":          {[]string{"0000:04:00.0", "0000:03:00.0"}, []string{"0000:03:00.0", "0000:04:00.0"}, nil},
		"duplicate":    {[]string{"0000:AF:00.0", "0000:af:00.0"}, []string{"0000:af:00.0"}, nil},
		"json list":    {[]string{`["0000:03:00.0"`, `"0000:04:00.0"]`}, nil, []string{"value 1", "value 2", `"[\"0000:03:00.0\""`}},
		"quoted":       {[]string{`0000:03:00.0"`, `"0000:04:00.0`}, nil, []string{"value 1", "value 2"}},
		"empty middle": {[]string{"0000:03:00.0", "", "0000:04:00.0"}, nil, []string{"value 2", "(empty)"}},
		"no comma":     {[]string{"0000:03:00.0 0000:04:00.0"}, nil, []string{"value 1"}},
		"two lines":    {[]string{"0000:03:00.0\n0000:04:00.0"}, nil, []string{"value 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := pci.ParseExcludeList(tc.elements, "")
			if (err == nil) != (tc.want != nil) {
				t.Fatalf("error %v", err)
			}
			for _, part := range tc.bad {
				if !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "[pci] exclude_list") {
					t.Errorf("%q is not in %v", part, err)
				}
			}
			got := []string{}
			for _, a := range list.Addresses() {
				got = append(got, a.String())
				if !list.Contains(a) {
					t.Errorf("%s is not contained", a)
				}
			}
			if tc.want != nil && !cmp.Equal(tc.want, got) {
				t.Errorf("addresses %v, want %v", got, tc.want)
			}
			if list.Contains(pci.Address{Domain: 0xffff}) {
				t.Error("a foreign address is contained")
			}
		})
	}
}
