package arq_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
)

const plain = `{"bus": "25", "device": "00", "domain": "0000", "function": "4"}`

func with(extra string) string { return strings.TrimSuffix(plain, "}") + ", " + extra + "}" }

func TestHandleInfo(t *testing.T) {
	t.Parallel()
	const address = "0000:25:00.4"
	tests := []struct {
		name, text string
		address    string // empty: invalid
		managed    string // true, false or invalid
		stateful   string
		numa       string // number, unknown or invalid
	}{
		{"as the driver writes it", plain, address, "true", "false", "unknown"},
		{"compact", strings.ReplaceAll(plain, " ", ""), address, "true", "false", "unknown"},
		{"short digits", `{"domain": "0", "bus": "25", "device": "0", "function": "4"}`, address, "true", "false", "unknown"},
		{"upper case", `{"domain": "0000", "bus": "AF", "device": "1F", "function": "7"}`, "0000:af:1f.7", "true", "false", "unknown"},
		{"unmanaged", with(`"managed": false`), address, "false", "false", "unknown"},
		{"managed", with(`"managed": true`), address, "true", "false", "unknown"},
		{"the word false", with(`"managed": "false"`), address, "invalid", "false", "unknown"},
		{"the word no", with(`"managed": "no"`), address, "invalid", "false", "unknown"},
		{"zero", with(`"managed": 0`), address, "invalid", "false", "unknown"},
		{"null", with(`"managed": null`), address, "invalid", "false", "unknown"},
		{"empty text", with(`"managed": ""`), address, "invalid", "false", "unknown"},
		{"a list", with(`"managed": []`), address, "invalid", "false", "unknown"},
		{"the last of two counts", with(`"managed": false, "managed": true`), address, "true", "false", "unknown"},
		{"metadata", with(`"stateful": true, "numa_node": 0`), address, "true", "true", "0"},
		{"unknown node", with(`"numa_node": null`), address, "true", "false", "unknown"},
		{"node -1", with(`"numa_node": -1`), address, "true", "false", "invalid"},
		{"half a node", with(`"numa_node": 1.5`), address, "true", "false", "invalid"},
		{"stateful as text", with(`"stateful": "true"`), address, "true", "invalid", "unknown"},
		{"no bus", `{"device": "00", "domain": "0000", "function": "4"}`, "", "true", "false", "unknown"},
		{"bus as number", `{"bus": 25, "device": "00", "domain": "0000", "function": "4"}`, "", "true", "false", "unknown"},
		{"function 9", `{"bus": "25", "device": "00", "domain": "0000", "function": "9"}`, "", "true", "false", "unknown"},
		{"wide domain", `{"bus": "25", "device": "00", "domain": "10000", "function": "4"}`, "", "true", "false", "unknown"},
		{"escapes", `{"\u0062us": "25", "device": "00", "domain": "0000", "function": "\u0034"}`, address, "true", "false", "unknown"},
		{"empty object", ` {} `, "", "true", "false", "unknown"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			info, err := arq.ParseHandleInfo(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if info.String() != test.text {
				t.Errorf("bytes changed: %s", info)
			}
			got := ""
			if a, err := info.Address(); err == nil {
				got = a.String()
			} else if bad := new(arq.InfoError); !errors.As(err, &bad) || bad.Text != test.text {
				t.Errorf("address: %v", err)
			}
			if got != test.address {
				t.Errorf("address %q, want %q", got, test.address)
			}
			if got := word(info.Managed()); got != test.managed {
				t.Errorf("managed %s, want %s", got, test.managed)
			}
			if got := word(info.Stateful()); got != test.stateful {
				t.Errorf("stateful %s, want %s", got, test.stateful)
			}
			if got := nodeWord(info.NUMANode()); got != test.numa {
				t.Errorf("numa_node %s, want %s", got, test.numa)
			}
		})
	}
}

func word(b bool, err error) string {
	switch {
	case err != nil:
		return "invalid"
	case b:
		return "true"
	}
	return "false"
}

func nodeWord(n int, known bool, err error) string {
	switch {
	case err != nil:
		return "invalid"
	case !known:
		return "unknown"
	}
	return string(rune('0' + n))
}

func TestParseHandleInfoRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "null", "{bus: 25}", `["0000:25:00.4"]`, `"x"`, "1", plain + "x", plain + plain, `{"a": 1,}`, `{"a": 01}`, `{"a"}`, "{", `{"a": tru}`} {
		_, err := arq.ParseHandleInfo(text)
		var bad *arq.InfoError
		if !errors.As(err, &bad) || bad.Text != text || !strings.Contains(err.Error(), "invalid attach_info") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCompose(t *testing.T) {
	t.Parallel()
	info, err := arq.ParseHandleInfo(`{"function":"4","domain":"0000","bus":"25","device":"00","managed":true,"note":"\u00e9"}`)
	if err != nil {
		t.Fatal(err)
	}
	got := info.Compose(map[string]string{arq.KeyManaged: "", arq.KeyNUMANode: "1", "é": "null"})
	want := `{"bus": "25", "device": "00", "domain": "0000", "function": "4", "note": "\u00e9", "numa_node": 1, "\u00e9": null}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := (arq.HandleInfo{}).Compose(nil); got != "{}" {
		t.Errorf("empty: %s", got)
	}
}

// FuzzHandleInfo: the fast scanner and encoding/json agree on what a text says,
// and composing it again says the same.
func FuzzHandleInfo(f *testing.F) {
	for _, text := range []string{plain, with(`"managed": false`), with(`"a": {"b": [1, 2]}`), `{"a":-0,"b":1e5,"c":"\u0000"}`, `{}`, `{"a": 1, "a": 2}`, "{bus: 25}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		info, err := arq.ParseHandleInfo(text)
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal([]byte(text), &want)
		if strings.TrimSpace(text) == "null" {
			return // encoding/json leaves the map nil
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, encoding/json says %v", err, wantErr)
		}
		if err != nil {
			return
		}
		compare(t, info, want)
		again, err := arq.ParseHandleInfo(info.Compose(nil))
		if err != nil {
			t.Fatalf("composed %s: %v", info.Compose(nil), err)
		}
		if again.Compose(nil) != info.Compose(nil) || len(again.Keys()) != len(info.Keys()) {
			t.Fatalf("composed again: %s, %s", info.Compose(nil), again.Compose(nil))
		}
	})
}

func compare(t *testing.T, info arq.HandleInfo, want map[string]json.RawMessage) {
	t.Helper()
	keys := info.Keys()
	if len(keys) != len(want) {
		t.Fatalf("keys %q, encoding/json has %d", keys, len(want))
	}
	slices.Sort(keys)
	for _, k := range keys {
		v, _ := info.Value(k)
		if v != string(want[k]) {
			t.Fatalf("%q: %s, encoding/json has %s", k, v, want[k])
		}
	}
}
