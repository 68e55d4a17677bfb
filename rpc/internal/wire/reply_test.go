package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplyTolerance(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]Reply{
		`{"result": null, "failure": null, "ending": true, "_msg_id": "1"}`: {Ending: true, MsgID: "1"},
		`{"result": [1], "ending": 1, "_msg_id": "1"}`:                      {Result: []byte("[1]"), Ending: true, MsgID: "1"},
		`{"result": 0, "failure": "x", "ending": "", "_msg_id": 5}`:         {Result: []byte("0"), Failure: []byte(`"x"`)},
		`{}`: {},
	} {
		var got Reply
		if err := got.Decode([]byte(message)); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", message, diff)
		}
	}
}

func TestTruthy(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"": false, "null": false, "false": false, "true": true, "0": false, "0.0": false, "-0": false, "0e5": false, "1": true, "-0.1": true,
		"NaN": true, "Infinity": true, "-Infinity": true, `""`: false, `"false"`: true, "[]": false, "[ ]": false, "[0]": true, "{}": false, `{"a": 1}`: true,
	} {
		if got := Truthy([]byte(raw)); got != want {
			t.Errorf("%s counts as %t", raw, got)
		}
	}
}

func TestFailureTolerance(t *testing.T) {
	t.Parallel()
	var f Failure
	if err := f.Decode([]byte(`"{\"class\": null, \"module\": 5, \"message\": \"half \\ud800 pair\", \"tb\": \"one\", \"args\": {}, \"kwargs\": []}"`)); err != nil {
		t.Fatal(err)
	}
	want := Failure{Message: "half \uFFFD pair", Traceback: []string{"one"}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, raw := range []string{`{"class": "X"}`, `"not json"`, `"[]"`, `5`, `""`} {
		if err := f.Decode([]byte(raw)); err == nil {
			t.Errorf("%s: no error", raw)
		}
	}
}

func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"oslo.version": "2.0", "oslo.message": "{\"result\": 1, \"failure\": null, \"ending\": true, \"_msg_id\": \"1\"}"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var r, got Reply
		if r.Decode(body) != nil {
			return
		}
		again, err := r.Encode("u")
		if err != nil {
			t.Skip("a value that is not UTF-8")
		}
		if err := got.Decode(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("-decoded +decoded again:\n%s", diff)
		}
	})
}

func FuzzFailure(f *testing.F) {
	f.Add([]byte(`"{\"class\": \"X\", \"module\": \"m\", \"message\": \"t\", \"tb\": [\"a\"], \"args\": [1, {}], \"kwargs\": {\"code\": 404}}"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var failure, got Failure
		if failure.Decode(raw) != nil {
			return
		}
		again, err := failure.Encode()
		if err != nil {
			t.Skip("a value that is not UTF-8")
		}
		if err := got.Decode(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if diff := cmp.Diff(failure, got); diff != "" {
			t.Errorf("-decoded +decoded again:\n%s", diff)
		}
	})
}

// FuzzMembers checks the splitter: the values it finds make up an equivalent object.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a": 1, "b": [1, {"c": "d"}], "a": null}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		list, err := Members(doc)
		if err != nil {
			return
		}
		var e encoder
		e.open('{')
		for _, m := range list {
			e.key(m.Key).raw(m.Value)
		}
		e.close('}')
		again, err := Members(e.b)
		if err != nil {
			t.Fatalf("%s: %v", e.b, err)
		}
		if diff := cmp.Diff(list, again); diff != "" {
			t.Errorf("-first +second:\n%s", diff)
		}
	})
}

func TestCompression(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("body "), 1000)
	packed, err := Compress(body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(packed, []byte{0x78, 0x9c}) {
		t.Errorf("no zlib stream: % x", packed[:4])
	}
	got, err := Decompress(packed, Gzip, len(body))
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := Decompress(packed, Gzip, len(body)-1); err == nil {
		t.Error("a bomb was unpacked")
	}
	for _, compression := range []string{Gzip, Bzip2, "application/x-lzma"} {
		if _, err := Decompress([]byte("garbage"), compression, 100); err == nil {
			t.Errorf("%s: garbage was unpacked", compression)
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	id, uuid := NewID(), NewUUID()
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" || id[12] != '4' {
		t.Errorf("id %q", id)
	}
	if len(uuid) != 36 || strings.Count(uuid, "-") != 4 || uuid[14] != '4' || !strings.ContainsRune("89ab", rune(uuid[19])) {
		t.Errorf("uuid %q", uuid)
	}
	if NewID() == id {
		t.Error("the same id twice")
	}
}

func TestRepr(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"x": `'x'`, "it's": `"it's"`, `a"b'c`: `'a"b\'c'`, "a\nb\\": `'a\nb\\'`, "\x01": `'\x01'`, "é": `'é'`,
	} {
		if got := Repr(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
