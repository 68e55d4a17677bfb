package pci_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

func TestParseDeviceSpecErrorTexts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values []pci.OptionValue
		want   string
	}{
		"nova's word for managed": {
			[]pci.OptionValue{{Text: "{}"}, {Text: `[{"managed":true},{"managed":"no"}]`}},
			`[pci] device_spec, value 2, element 2, /managed: "no" is not allowed; use true or false ` +
				`(Nova's yes/no and on/off are not accepted here) (entry: {"managed":"no"})`,
		},
		"the old name counts for itself": {
			[]pci.OptionValue{
				{Option: pci.OptionPassthroughWhitelist, Text: `{"vendor_id":"8086"}`},
				{Option: pci.OptionPassthroughWhitelist, Text: `{"vendorid":"10de"}`},
				{Option: pci.OptionDeviceSpec, Text: `{"trusted":"true"}`},
			},
			`[pci] passthrough_whitelist, value 2: unknown key "vendorid" (did you mean vendor_id?); allowed are ` +
				`address, devname, managed, physical_network, product_id, vendor_id (entry: {"vendorid":"10de"})` + "\n" +
				`[pci] device_spec, value 1: unknown key "trusted" (belongs to Nova's option); allowed are ` +
				`address, devname, managed, physical_network, product_id, vendor_id (entry: {"trusted":"true"})`,
		},
		"address key": {
			[]pci.OptionValue{{Text: `{"address":{"func":"4"}}`}},
			`[pci] device_spec, value 1, /address: unknown key "func" (did you mean function?); allowed are ` +
				`domain, bus, slot, function (entry: {"address":{"func":"4"}})`,
		},
		"pattern": {
			[]pci.OptionValue{{Text: `{"address":{"bus":"(","slot":"*"}}`}},
			`[pci] device_spec, value 1, /address: not a regular expression of python: ` +
				`bus "(": missing ), unterminated subpattern at position 0; slot "*": nothing to repeat at position 0 ` +
				`(entry: {"address":{"bus":"(","slot":"*"}})`,
		},
		"wide domain": {
			[]pci.OptionValue{{Text: `{"address":"10000:01:00.0"}`}},
			`[pci] device_spec, value 1, /address: domain "10000" is above ffff (entry: {"address":"10000:01:00.0"})`,
		},
		"glob": {
			[]pci.OptionValue{{Text: `{"address":"0000:0?:00.0"}`}},
			`[pci] device_spec, value 1, /address: bus "0?" is neither hexadecimal nor "*" ` +
				`(patterns go into an address object) (entry: {"address":"0000:0?:00.0"})`,
		},
		"blank function": {
			[]pci.OptionValue{{Text: `{"address":" : :00. "}`}},
			`[pci] device_spec, value 1, /address: function "" is neither hexadecimal nor "*" ` +
				`(patterns go into an address object) (entry: {"address":" : :00. "})`,
		},
		"not json, over two lines": {
			[]pci.OptionValue{{Text: "{'vendor_id':\n'8086'}"}},
			`[pci] device_spec, value 1: not valid json: invalid character '\'' looking for beginning of object key string ` +
				`(entry: {'vendor_id': '8086'})`,
		},
		"empty": {
			[]pci.OptionValue{{Text: ""}},
			`[pci] device_spec, value 1: not valid json: the value is empty (entry: )`,
		},
		"text behind": {
			[]pci.OptionValue{{Text: `{}  # QAT`}},
			`[pci] device_spec, value 1: not valid json: there is text after the json document (entry: {}  # QAT)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, err := pci.ParseDeviceSpec(tc.values, specschema.Check)
			if err == nil || len(spec.Rules) != 0 {
				t.Fatalf("accepted: %+v", spec)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error text (-want +got):\n%s", diff)
			}
			if _, ok := errors.AsType[*pci.EntryError](err); !ok {
				t.Error("no EntryError in the chain")
			}
		})
	}
}

// TestSchemaAndDecoderAgree parses every vector with and without the schema:
// the decoder must find the same places by itself.
func TestSchemaAndDecoderAgree(t *testing.T) {
	t.Parallel()
	var file matchFile
	if !loadVectors(t, "match.json", &file) {
		t.Skip("no match vectors")
	}
	for _, c := range file.Cases {
		values := make([]pci.OptionValue, len(c.Entries))
		for i, text := range c.Entries {
			values[i].Text = text
		}
		_, want := parse(t, c.Entries...)
		_, got := pci.ParseDeviceSpec(values, nil)
		if (want == nil) != (got == nil) || want != nil && want.Error() != got.Error() {
			t.Errorf("%q:\nwith the schema    %v\nwithout the schema %v", c.Entries, want, got)
		}
	}
}

func TestParseDeviceSpecReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := parse(t,
		`{"vendor_id":"zz","address":".9","managed":1,"x":0}`,
		`{"vendor_id":"8086"}`,
		`[{"address":{"bus":1,"slot":"(","func":"0"}},5]`,
	)
	want := []string{
		`0 "" schema:additionalProperties`,
		`0 "/address" too_large`,
		`0 "/managed" schema:enum`,
		`0 "/vendor_id" schema:pattern`,
		`2/0 "/address" regex`,
		`2/0 "/address" schema:additionalProperties`,
		`2/0 "/address/bus" schema:type`,
		`2/1 "" not_object`,
	}
	if diff := cmp.Diff(want, places(t, err)); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func TestParseDeviceSpecWarnings(t *testing.T) {
	t.Parallel()
	spec := mustParse(t,
		`{}`,
		`{"vendor_id":"*","address":"*:*:*.*","managed":false}`,
		`{"address":{"bus":".*","slot":""}}`,
		`{"vendor_id":"8086","vendor_id":"10de","address":{"bus":"0a","bus":"81"}}`,
		`[{"devname":"ens1f0","physical_network":"physnet1"},{"devname":"ens1f1","physical_network":null}]`,
	)
	var got []string
	for _, w := range spec.Warnings {
		got = append(got, fmt.Sprintf("%s %s", w.Code, w))
	}
	const all = ": the rule restricts nothing and matches every pci device of the host"
	want := []string{
		"matches_all [pci] device_spec, value 1" + all,
		"matches_all [pci] device_spec, value 2" + all,
		"matches_all [pci] device_spec, value 3" + all,
		"duplicate_key [pci] device_spec, value 4: the key /vendor_id is given more than once; the last one counts",
		"duplicate_key [pci] device_spec, value 4: the key /address/bus is given more than once; the last one counts",
		"unused_key [pci] device_spec, value 5, element 1: physical_network is accepted and has no effect here (and in 1 more entries)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestExplicitManaged(t *testing.T) {
	t.Parallel()
	if got := mustParse(t, `{"vendor_id":"8086"}`).ExplicitManaged(); got != nil {
		t.Errorf("explicit at %v", got)
	}
	spec := mustParse(t, `{"vendor_id":"8086"}`, `[{"managed":"true"},{"vendor_id":"10de"},{"managed":false}]`)
	want := []pci.Location{
		{Option: pci.OptionDeviceSpec, Value: 1, Element: 0},
		{Option: pci.OptionDeviceSpec, Value: 1, Element: 2},
	}
	if diff := cmp.Diff(want, spec.ExplicitManaged()); diff != "" {
		t.Errorf("explicit (-want +got):\n%s", diff)
	}
}

// TestAlmostJSON is how operators get the option wrong.
func TestAlmostJSON(t *testing.T) {
	t.Parallel()
	good := []string{`{"vendor_id": "8086", "product_id": "0443"}`, `[]`}
	bad := []string{
		`{"vendor_id": "8086", "product_id": "0443"}  # QAT`,
		`{'vendor_id': '8086', 'product_id': '0443'}`,
		`[{"vendor_id": "8086", "product_id": "37c9"}, {"vendor_id": "10de", "product_id": "1eb8"},]`,
		`{"vendor_id": "10de"} {"vendor_id": "8086"}`,
		``, `null`, `"10de"`,
	}
	for _, text := range good {
		mustParse(t, text)
	}
	for _, text := range bad {
		if _, err := parse(t, text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err := parse(t, slices.Concat(good[:1], bad, good[1:])...)
	config, ok := errors.AsType[*pci.ConfigError](err)
	if !ok || len(config.Entries) != len(bad) || config.Entries[0].Value != 1 {
		t.Errorf("%v", err)
	}
}

func TestVectorsOptions(t *testing.T) {
	t.Parallel()
	var file struct {
		Multi []struct {
			Name  string
			Value json.RawMessage
		} `json:"multi_option"`
		Bool []struct {
			Value json.RawMessage
			Nova  json.RawMessage
		} `json:"bool_from_string_strict"`
	}
	if !loadVectors(t, "options.json", &file) {
		return
	}
	for _, c := range file.Multi {
		var values []string
		if json.Unmarshal(c.Value, &values) != nil {
			continue // a file that the configuration parser refuses
		}
		vector(t, "option "+c.Name, func(t *testing.T) {
			spec, err := parse(t, values...)
			bad := slices.Index(values, "")
			if (err != nil) != (bad >= 0) {
				t.Fatalf("%q: %v", values, err)
			}
			if err == nil && len(spec.Rules) != len(values) {
				t.Errorf("%d rules of %q", len(spec.Rules), values)
			}
		})
	}
	for _, c := range file.Bool {
		vector(t, "managed "+string(c.Value), func(t *testing.T) {
			spec, err := parse(t, fmt.Sprintf(`{"vendor_id":"8086","managed":%s}`, c.Value))
			ours := slices.Contains([]string{`true`, `false`, `"true"`, `"false"`}, string(c.Value))
			if ours != (err == nil) {
				t.Fatalf("accepted %t: %v", err == nil, err)
			}
			if ours && fmt.Sprint(*spec.Rules[0].Managed) != string(c.Nova) {
				t.Errorf("managed %t, Nova %s", *spec.Rules[0].Managed, c.Nova)
			}
		})
	}
}
