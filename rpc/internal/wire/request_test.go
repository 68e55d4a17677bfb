package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty":                  "",
		"not JSON":               "garbage",
		"array":                  "[]",
		"string":                 `"x"`,
		"envelope version 2.1":   `{"oslo.version": "2.1", "oslo.message": "{}"}`,
		"envelope version 1.0":   `{"oslo.version": "1.0", "oslo.message": "{}"}`,
		"envelope version null":  `{"oslo.version": null, "oslo.message": "{}"}`,
		"envelope version 2":     `{"oslo.version": "2", "oslo.message": "{}"}`,
		"message is an object":   `{"oslo.version": "2.0", "oslo.message": {}}`,
		"message is no object":   `{"oslo.version": "2.0", "oslo.message": "[]"}`,
		"message is cut off":     `{"oslo.version": "2.0", "oslo.message": "{\"method\": "}`,
		"text after the message": `{"oslo.version": "2.0", "oslo.message": "{} {}"}`,
		"text after the body":    `{"oslo.version": "2.0", "oslo.message": "{}"} x`,
		"nested without end":     `{"oslo.version": "2.0", "oslo.message": "{\"args\": ` + strings.Repeat("[", 1000) + `"}`,
	} {
		var r Request
		if err := r.Decode([]byte(body)); err == nil {
			t.Errorf("%s: no error", name)
		}
		var p Reply
		if err := p.Decode([]byte(body)); err == nil {
			t.Errorf("%s: no error as a reply", name)
		}
	}
}

func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	want := Request{
		Method: []byte(`"m"`), Args: []byte(`{"x": NaN}`), MsgID: "1", ReplyQueue: "q", UniqueID: "u",
		Context: []Member{{"user", []byte(`"x"`)}, {"n", []byte(`18446744073709551616`)}, {"user", []byte(`"é"`)}},
	}
	inner := `{"method": "m", "args": {"x": NaN}, "_msg_id": "1", "_reply_q": "q", "_unique_id": "u", "_context_user": "x", "_context_n": 18446744073709551616, "_context_user": "é"}`
	quoted, err := pyjson.AppendString(nil, inner)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"bare":            inner,
		"Python's form":   `{"oslo.version": "2.0", "oslo.message": ` + string(quoted) + `}`,
		"compact":         `{"oslo.version":"2.0","oslo.message":` + string(quoted) + `}`,
		"other order":     `{"oslo.message": ` + string(quoted) + `, "more": 1, "oslo.version": "2.0.0"}`,
		"with extra keys": `{"oslo.version": "2.0", "oslo.message": ` + string(quoted) + `, "x": [1]}`,
		"white space":     "\n" + `{ "oslo.version" : "2.0", "oslo.message" : ` + string(quoted) + ` } `,
	} {
		var got Request
		if err := got.Decode([]byte(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestIDsOfHostileSize: an id is remembered and logged after its message is gone, so one that cannot be a name is none.
func TestIDsOfHostileSize(t *testing.T) {
	t.Parallel()
	longest, tooLong := strings.Repeat(`\u00e9`, 255), strings.Repeat("x", maxID)
	body := func(id string) []byte {
		return []byte(`{"method": "m", "_msg_id": "` + id + `", "_reply_q": "` + id + `", "_unique_id": "` + id + `"}`)
	}
	want := strings.Repeat("é", 255)
	for id, want := range map[string]string{longest: want, tooLong: ""} {
		var r Request
		var p Reply
		if err := errors.Join(r.Decode(body(id)), p.Decode(body(id))); err != nil {
			t.Fatal(err)
		}
		if r.MsgID != want || r.ReplyQueue != want || r.UniqueID != want || p.MsgID != want {
			t.Errorf("ids of %d, %d, %d and %d bytes, want %d", len(r.MsgID), len(r.ReplyQueue), len(r.UniqueID), len(p.MsgID), len(want))
		}
	}
}

// TestSalvage: whoever sent a request that cannot be read can be told, if the ids are there.
func TestSalvage(t *testing.T) {
	t.Parallel()
	const ids = `\"_msg_id\": \"0123abcd\", \"_reply_q\": \"reply_x\"`
	for name, c := range map[string]struct {
		body  string
		found bool
	}{
		"wrong envelope version": {`{"oslo.version": "2.1", "oslo.message": "{` + ids + `}"}`, true},
		"cut off":                {`{"oslo.version": "2.0", "oslo.message": "{` + ids + `, \"x`, true},
		"too deep":               {`{"oslo.version": "2.0", "oslo.message": "{\"args\": ` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + `, ` + ids + `}"}`, true},
		"not a string":           {`{"oslo.version": "2.0", "oslo.message": {"_msg_id": "0123abcd", "_reply_q":"reply_x"}}`, true},
		"one id only":            {`{"oslo.version": "2.1", "oslo.message": "{\"_msg_id\": \"0123abcd\"}"}`, false},
		"odd id":                 {`{"oslo.version": "2.1", "oslo.message": "{\"_msg_id\": \"a b\", \"_reply_q\": \"q\"}"}`, false},
		"endless id":             {`{"oslo.version": "2.1", "oslo.message": "{\"_msg_id\": \"` + strings.Repeat("a", 300) + `\", \"_reply_q\": \"q\"}"}`, false},
		"nothing":                {`garbage`, false},
	} {
		var r Request
		if err := r.Decode([]byte(c.body)); err == nil {
			t.Errorf("%s: no error", name)
		}
		want := Request{MsgID: "0123abcd", ReplyQueue: "reply_x"}
		if !c.found {
			want = Request{}
		}
		if r.MsgID != want.MsgID || r.ReplyQueue != want.ReplyQueue {
			t.Errorf("%s: found %q and %q", name, r.MsgID, r.ReplyQueue)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) []byte {
			raw, err := pyjson.AppendString(nil, rapid.String().Draw(t, name))
			if err != nil {
				t.Skip("not UTF-8")
			}
			return raw
		}
		want := Request{
			Method: text("method"), Args: []byte(`{"a": ` + string(text("a")) + `}`), Version: text("version"),
			MsgID: rapid.StringMatching(`[0-9a-f]{0,32}`).Draw(t, "id"), UniqueID: NewID(), Context: []Member{},
		}
		var context []byte
		for _, key := range rapid.SliceOfNDistinct(rapid.String(), 0, 5, rapid.ID).Draw(t, "keys") {
			value := text("value")
			var err error
			if context, err = AppendContext(context, key, value); err != nil {
				t.Skip("not UTF-8")
			}
			want.Context = append(want.Context, Member{key, value})
		}
		body, err := want.Encode(escaped(t, context))
		if err != nil {
			t.Fatal(err)
		}
		var got Request
		if err := got.Decode(body); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		for _, c := range body {
			if c >= 0x7f {
				t.Fatalf("the body is not ASCII: %q", body)
			}
		}
	})
}

func escaped(t interface{ Fatal(...any) }, members []byte) []byte {
	context, err := EscapeContext(members)
	if err != nil {
		t.Fatal(err)
	}
	return context
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"oslo.version": "2.0", "oslo.message": "{\"method\": \"m\", \"args\": {}, \"_msg_id\": \"1\", \"_context_user\": null}"}`))
	f.Add([]byte(`{"method": "m", "version": "1.0", "_unique_id": null}`))
	f.Add([]byte(`{"oslo.version":"2.1","oslo.message":"{\"_msg_id\": \"a\", \"_reply_q\": \"b\"}"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var r Request
		if r.Decode(body) != nil {
			return
		}
		if r.Method == nil || r.Args == nil {
			return // cannot be encoded
		}
		var context []byte
		for _, m := range r.Context {
			var err error
			if context, err = AppendContext(context, m.Key, m.Value); err != nil {
				t.Fatal(err)
			}
		}
		again, err := r.Encode(escaped(t, context))
		if err != nil {
			t.Skip("a value that is not UTF-8")
		}
		var got Request
		if err := got.Decode(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("-decoded +decoded again:\n%s", diff)
		}
	})
}
