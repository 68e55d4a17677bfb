package arq_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
)

func TestCheckGroups(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in  string
		want      string // profile_json; empty: refused
		reason    string
		wrongType bool
	}{
		{
			"as Nova's documentation has it", `[{"resources:FPGA": "1", "trait:CUSTOM_FAKE_DEVICE": "required"}]`,
			`{"groups": [{"resources:FPGA": "1", "trait:CUSTOM_FAKE_DEVICE": "required"}]}`, "", false,
		},
		{
			"numbers become text", `[{"resources:CUSTOM_X": 2, "accel:n": 1.5, "accel:t": true, "accel:z": null}]`,
			`{"groups": [{"resources:CUSTOM_X": "2", "accel:n": "1.5", "accel:t": "True", "accel:z": null}]}`, "", false,
		},
		{
			"blanks are stripped, the property moves to the end", `[{"resources: FPGA ": "1", "accel:x": "y"}]`,
			`{"groups": [{"accel:x": "y", "resources:FPGA": "1"}]}`, "", false,
		},
		{"an empty group", `[{}]`, `{"groups": [{}]}`, "", false},
		{"python spellings of a number", `[{"resources:FPGA": " +1_0 "}]`, `{"groups": [{"resources:FPGA": " +1_0 "}]}`, "", false},
		{"negative", `[{"resources:FPGA": "-1"}]`, `{"groups": [{"resources:FPGA": "-1"}]}`, "", false},
		{"no groups", `[]`, "", "DeviceProfile needs groups field.", true},
		{"not a list", `{}`, "", "groups must be a list of objects", true},
		{"a list of texts", `["x"]`, "", "not a JSON object", true},
		{"nested", `[{"accel:x": {}}]`, "", "accel:x: want a string, number, boolean or null", true},
		{"unknown prefix", `[{"resource:FPGA": "1"}]`, "", "Device profile group keys must be of the form ^(resources:|trait:|accel:)", false},
		{"standard trait", `[{"trait:HW_X": "required"}]`, "", "Unsupported trait name format HW_X, should start with CUSTOM_", false},
		{"trait value", `[{"trait:CUSTOM_X": "maybe"}]`, "", "Unsupported trait value maybe, the value must be one among ['required', 'forbidden']", false},
		{"no trait value", `[{"trait:CUSTOM_X": null}]`, "", "Unsupported trait value None, the value must be one among ['required', 'forbidden']", false},
		{"class", `[{"resources:VCPU": "1"}]`, "", "Unsupported resource class VCPU", false},
		{"amount in words", `[{"resources:FPGA": "one"}]`, "", "Resources number one is invalid", false},
		{"amount with a fraction", `[{"resources:FPGA": "1.5"}]`, "", "Resources number 1.5 is invalid", false},
		{"no amount", `[{"resources:FPGA": null}]`, "", "Resources number None is invalid", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			groups, err := arq.ParseGroups([]byte(test.in))
			if err == nil {
				groups, err = arq.CheckGroups(groups)
			}
			if bad, ok := errors.AsType[*arq.GroupError](err); ok {
				if bad.Reason != test.reason || bad.WrongType != test.wrongType {
					t.Errorf("%q, wrong type %t; want %q, %t", bad.Reason, bad.WrongType, test.reason, test.wrongType)
				}
				return
			}
			if got := arq.EncodeProfile(groups); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

func TestProfileRoundTrip(t *testing.T) {
	t.Parallel()
	const column = `{"groups": [{"resources:CUSTOM_TEST": "1", "trait:CUSTOM_A": "required"}, {"resources:CUSTOM_TEST": "2", "accel:note": "\u00e9\"", "accel:none": null}]}`
	groups, err := arq.DecodeProfile(column)
	if err != nil {
		t.Fatal(err)
	}
	if got := arq.EncodeProfile(groups); got != column {
		t.Errorf("%s\nwant %s", got, column)
	}
	text, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	var again []arq.Group
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(groups, again); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "{}", `{"groups": 1}`, `{"groups": [[]]}`} {
		if _, err := arq.DecodeProfile(bad); err == nil {
			t.Errorf("%q is no profile", bad)
		}
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	tests := []struct {
		group string
		want  int // -1: refused
		class string
	}{
		{`{"resources:FPGA": "1"}`, 1, "FPGA"},
		{`{"accel:x": "y", "resources:FPGA": "1", "resources:CUSTOM_NIC": "2"}`, 3, "FPGA"},
		{`{"resources:CUSTOM_NIC": "2", "resources:FPGA": "3", "trait:CUSTOM_FPGA_XILINX": "required"}`, 6, "CUSTOM_NIC"},
		{`{"resources:FPGA": "3", "trait:CUSTOM_FPGA_XILINX": "forbidden"}`, 3, "FPGA"},
		{`{"trait:CUSTOM_FPGA_XILINX": "required"}`, -1, ""},
		{`{"resources:FPGA": "0"}`, 0, "FPGA"},
		{`{"resources:FPGA": "-4"}`, 0, "FPGA"},
		{`{"resources:FPGA": "1.5"}`, -1, "FPGA"},
		{`{}`, 0, ""},
	}
	for _, test := range tests {
		var g arq.Group
		if err := json.Unmarshal([]byte(test.group), &g); err != nil {
			t.Fatal(err)
		}
		n, err := g.Requests()
		if err != nil {
			n = -1
		}
		class, err := g.Class()
		if n != test.want || class != test.class || (err != nil) != (test.class == "") {
			t.Errorf("%s: %d requests of %q (%v), want %d of %q", test.group, n, class, err, test.want, test.class)
		}
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	tests := []struct {
		group   string
		current string
		needed  bool
		refused bool
	}{
		{`{"resources:FPGA": "1"}`, "", false, false},
		{`{"resources:FPGA": "1", "accel:bitstream_id": "b"}`, "", true, false},
		{`{"resources:FPGA": "1", "accel:bitstream_id": "b"}`, "b", false, false},
		{`{"resources:FPGA": "1", "accel:function_id": "f"}`, "b", true, false},
		{`{"resources:FPGA": "1", "accel:function_id": "f", "accel:bitstream_id": "b"}`, "", false, true},
		{`{"resources:GPU": "1", "accel:bitstream_id": "b"}`, "", false, false},
	}
	for _, test := range tests {
		var g arq.Group
		if err := json.Unmarshal([]byte(test.group), &g); err != nil {
			t.Fatal(err)
		}
		p, err := g.Program()
		if (err != nil) != test.refused || p.Needed(test.current) != test.needed {
			t.Errorf("%s on %q: %+v, %v", test.group, test.current, p, err)
		}
	}
}

func TestCheckProfileName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"fpga-1_X": true, "": false, "a b": false, "a\n": false, "é": false} {
		if err := arq.CheckProfileName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
