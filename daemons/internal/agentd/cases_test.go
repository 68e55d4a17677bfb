package agentd_test

import (
	"strings"
	"testing"
)

const pciDriver = "[agent]\nenabled_drivers = pci_driver\n[pci]\n"

// TestExcludeListTexts: complete addresses are taken in any spelling of a list; whatever is not one ends the start and
// is named.
func TestExcludeListTexts(t *testing.T) {
	t.Parallel()
	for text, bad := range map[string]string{
		`["0000:03:00.0","0000:04:00.0"]`:         `["0000:03:00.0"`,
		`"0000:03:00.0", 0000:04:00.0 ,`:          `"0000:03:00.0"`,
		`'0000:03:00.0,0000:04:00.0'`:             "",
		`0000:03:00.0,,0000:04:00.0`:              "value 2",
		``:                                        "",
		`0000:03:00.0 0000:04:00.0`:               "0000:03:00.0 0000:04:00.0",
		" 0000:03:00.0 ,\n    0000:04:00.0":       "",
		"0000:03:00.0,":                           "",
		"0000:03:00.0,0000:04:00.0,0000:05:00.00": "0000:05:00.00",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := run(t, pciDriver+"device_spec = {\"vendor_id\": \"10de\"}\nexclude_list = "+text+"\n", "check-config")
			switch {
			case bad == "" && code != 0:
				t.Errorf("refused: %s", stderr)
			case bad != "" && code != 1:
				t.Errorf("accepted")
			case bad != "" && !strings.Contains(strings.ReplaceAll(stderr, `\"`, `"`), bad):
				t.Errorf("%q is not named: %s", bad, stderr)
			case bad != "" && !strings.Contains(stderr, "cyborg.conf:5: [pci] exclude_list"):
				t.Errorf("the place is not named: %s", stderr)
			}
		})
	}
}

// TestDeviceSpecTexts: what is almost JSON ends the start, also beside rules that are good, and the entry is named.
func TestDeviceSpecTexts(t *testing.T) {
	t.Parallel()
	const good = `device_spec = '{"vendor_id": "8086", "product_id": "0443"}'` + "\n"
	lines := map[string]bool{
		good:                 true,
		"device_spec = []\n": true,
		`device_spec = {"vendor_id": "8086", "product_id": "0443"}  # QAT` + "\n":                                          false,
		`device_spec = {'vendor_id': '8086', 'product_id': '0443'}` + "\n":                                                 false,
		`device_spec = [{"vendor_id": "8086", "product_id": "37c9"}, {"vendor_id": "10de", "product_id": "1eb8"},]` + "\n": false,
		`device_spec = {"vendor_id": "10de"} {"vendor_id": "8086"}` + "\n":                                                 false,
		"device_spec =\n":          false,
		"device_spec = null\n":     false,
		"device_spec = \"10de\"\n": false,
	}
	for line, ok := range lines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := run(t, pciDriver+line, "check-config")
			if ok != (code == 0) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			if !ok {
				code, _, stderr := run(t, pciDriver+good+line, "check-config")
				if code != 1 || !strings.Contains(stderr, "cyborg.conf:5: [pci] device_spec, value 2") {
					t.Errorf("beside a good rule: exit code %d: %s", code, stderr)
				}
			}
		})
	}
}

// TestOldAndNewNameTogether: the entries of the former name come first, then those of the new one, with one warning.
func TestOldAndNewNameTogether(t *testing.T) {
	t.Parallel()
	const old1, new1, old2 = `{"vendor_id": "8086", "product_id": "37c9"}`, `{"vendor_id": "8086", "product_id": "1533"}`, `{"vendor_id": "10de", "product_id": "1eb8"}`
	code, stdout, stderr := run(t, "[agent]\nenabled_drivers = pci_driver\n[PCI]\npassthrough_whitelist = "+old1+"\ndevice-spec = "+new1+"\npassthrough_whitelist = "+old2+"\n", "check-config")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var entries []string
	for line := range strings.Lines(stdout) {
		if entry, ok := strings.CutPrefix(line, "device_spec = "); ok {
			entries = append(entries, strings.TrimSpace(entry))
		}
	}
	if got, want := strings.Join(entries, "\n"), old1+"\n"+old2+"\n"+new1; got != want {
		t.Errorf("effective entries:\n%s\nwant:\n%s", got, want)
	}
	if n := strings.Count(stderr, "passthrough_whitelist"); n != 1 || !strings.Contains(stderr, "device_spec") {
		t.Errorf("%d warnings: %s", n, stderr)
	}
}
