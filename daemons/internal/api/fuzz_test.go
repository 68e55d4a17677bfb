package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
)

// Whatever a client sends as a body is read or refused with a status.
func FuzzBodies(f *testing.F) {
	for _, s := range []string{
		`[{"name": "a", "groups": [{"resources:FPGA": "1"}]}]`, `{"u": [{"op": "add", "path": "/hostname", "value": 1}]}`,
		`[{"path": "/a", "op": "replace", "value": [{"image_uuid": "x"}]}]`, `{"deployable_id": 1, "key": null}`, `[[]]`, `{"a": {}}`, `"x"`, `null`,
	} {
		f.Add(s)
	}
	c := &call{Handler: &Handler{}, version: arq.MicroversionMax}
	f.Fuzz(func(t *testing.T, body string) {
		if !json.Valid([]byte(body)) {
			return
		}
		raw := json.RawMessage(body)
		_, err1 := parseProfile(raw)
		patches, err2 := c.parsePatches(raw)
		_, err3 := parseProgram(raw)
		_, err4 := parseAttribute(raw)
		for _, err := range []error{err1, err2, err3, err4} {
			if err == nil {
				continue
			}
			if f := asFault(err); f.status < 400 || f.text == "" {
				t.Fatalf("%q: %d %q", body, f.status, f.text)
			}
		}
		if err2 != nil {
			return
		}
		for _, p := range patches {
			if len(p.Operations) == 0 || p.Bind() && (p.Fields.Hostname == nil || p.Fields.DeviceRPUUID == nil || p.Fields.InstanceUUID == nil) {
				t.Fatalf("%q passes as %+v", body, p)
			}
		}
	})
}

// No header makes the negotiation leave the range it serves.
func FuzzNegotiate(f *testing.F) {
	f.Add("accelerator 2.4, compute 2.90")
	f.Add("latest")
	f.Fuzz(func(t *testing.T, value string) {
		v, err := negotiate(http.Header{http.CanonicalHeaderKey(headerVersion): {value}}, arq.MicroversionMax)
		if err == nil && (v < arq.MicroversionMin || v > arq.MicroversionMax) {
			t.Fatalf("%q: %s", value, v)
		}
	})
}

// The blanks and escapes change nothing but the form.
func FuzzEncode(f *testing.F) {
	f.Add("a\"b\\c: ,é😀<>")
	f.Fuzz(func(t *testing.T, text string) {
		plain, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		ours, err := encode(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var want, got map[string]string
		if json.Unmarshal(plain, &want) != nil || json.Unmarshal(ours, &got) != nil {
			t.Fatalf("%s is no JSON", ours)
		}
		for k, v := range want {
			if got[k] != v {
				t.Fatalf("%q became %q", v, got[k])
			}
		}
	})
}
