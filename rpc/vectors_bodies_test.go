package rpc_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// capture is one published message. What it means is in Message and Failure; Body is what was seen on the wire.
type capture struct {
	N       int             `json:"n"`
	Kind    string          `json:"kind"`
	Body    string          `json:"body"`
	Message json.RawMessage `json:"decoded_message"`
	Failure json.RawMessage `json:"decoded_failure"`
}

func (v *vectors) bodies(t *testing.T) {
	for _, dir := range []string{"lab", "cyborg"} {
		files, err := filepath.Glob(filepath.Join(v.dir, dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			var file struct{ Messages []capture }
			name := dir + "/" + filepath.Base(path)
			v.load(t, name, &file)
			for _, c := range file.Messages {
				v.check(t, name, func(t *testing.T) { c.check(t) })
			}
		}
	}
}

func (c *capture) check(t *testing.T) {
	meaning := members(t, c.Message)
	var encode func(*testing.T, []wire.Member) string
	switch c.Kind {
	case "request", "cast":
		encode = encodeRequest
		c.decodeRequest(t, meaning)
	case "reply", "failure-reply", "call-monitor-heartbeat":
		encode = encodeReply
		c.decodeReply(t, meaning)
	default:
		t.Fatalf("unknown kind %q", c.Kind)
	}
	if len(c.Failure) > 0 && c.Failure[0] == '{' {
		replace(meaning, "failure", encodeFailure(t, members(t, c.Failure)))
	}
	same(t, "encoded body", c.Body, encode(t, meaning))

	mutant := slices.Clone(meaning)
	old := find(meaning, "_unique_id")
	replace(mutant, "_unique_id", []byte(`"ffffffffffff4fffbfffffffffffffff"`))
	same(t, "encoded body with another id", strings.ReplaceAll(c.Body, text(old), "ffffffffffff4fffbfffffffffffffff"), encode(t, mutant))
}

func (c *capture) decodeRequest(t *testing.T, meaning []wire.Member) {
	var r wire.Request
	if err := r.Decode([]byte(c.Body)); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for key, raw := range map[string][]byte{
		"method": r.Method, "args": r.Args, "namespace": r.Namespace, "version": r.Version, "_timeout": r.Timeout,
	} {
		if raw != nil {
			got[key] = string(raw)
		}
	}
	for key, id := range map[string]string{"_msg_id": r.MsgID, "_reply_q": r.ReplyQueue, "_unique_id": r.UniqueID} {
		if id != "" {
			got[key] = `"` + id + `"`
		}
	}
	for _, m := range r.Context {
		got["_context_"+m.Key] = string(m.Value)
	}
	same(t, "decoded request", texts(meaning), got)
}

func (c *capture) decodeReply(t *testing.T, meaning []wire.Member) {
	var r wire.Reply
	if err := r.Decode([]byte(c.Body)); err != nil {
		t.Fatal(err)
	}
	want := texts(meaning)
	delete(want, "_unique_id")
	got := map[string]string{"result": orNull(r.Result), "failure": orNull(r.Failure), "_msg_id": `"` + r.MsgID + `"`, "ending": "false"}
	if r.Ending {
		got["ending"] = "true"
	}
	same(t, "decoded reply", want, got)
	if r.Failure == nil {
		return
	}
	var f wire.Failure
	if err := f.Decode(r.Failure); err != nil {
		t.Fatal(err)
	}
	raw, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "decoded failure", string(pythonText(t, c.Failure)), text(raw))
}

func encodeRequest(t *testing.T, meaning []wire.Member) string {
	t.Helper()
	r := wire.Request{
		Method: find(meaning, "method"), Args: find(meaning, "args"), Namespace: find(meaning, "namespace"),
		Version: find(meaning, "version"), Timeout: find(meaning, "_timeout"),
		MsgID: text(find(meaning, "_msg_id")), ReplyQueue: text(find(meaning, "_reply_q")), UniqueID: text(find(meaning, "_unique_id")),
	}
	var context []byte
	for _, m := range meaning {
		if key, ok := strings.CutPrefix(m.Key, "_context_"); ok {
			var err error
			if context, err = wire.AppendContext(context, key, m.Value); err != nil {
				t.Fatal(err)
			}
		}
	}
	body, err := r.Encode(escaped(t, context))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func encodeReply(t *testing.T, meaning []wire.Member) string {
	t.Helper()
	r := wire.Reply{
		Result: find(meaning, "result"), Failure: find(meaning, "failure"),
		Ending: string(find(meaning, "ending")) == "true", MsgID: text(find(meaning, "_msg_id")),
	}
	body, err := r.Encode(text(find(meaning, "_unique_id")))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func encodeFailure(t *testing.T, meaning []wire.Member) []byte {
	t.Helper()
	f := wire.Failure{Class: text(find(meaning, "class")), Module: text(find(meaning, "module")), Message: text(find(meaning, "message"))}
	if err := json.Unmarshal(find(meaning, "tb"), &f.Traceback); err != nil {
		t.Fatal(err)
	}
	var args []json.RawMessage
	if err := json.Unmarshal(find(meaning, "args"), &args); err != nil {
		t.Fatal(err)
	}
	for _, arg := range args {
		f.Args = append(f.Args, arg)
	}
	f.Kwargs = members(t, find(meaning, "kwargs"))
	raw, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// members lists the members of a JSON object, their values as Python writes them.
func members(t *testing.T, raw []byte) []wire.Member {
	t.Helper()
	list, err := wire.Members(pythonText(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func find(meaning []wire.Member, key string) []byte {
	for _, m := range meaning {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

func replace(meaning []wire.Member, key string, value []byte) {
	for i := range meaning {
		if meaning[i].Key == key {
			meaning[i].Value = value
		}
	}
}

func texts(meaning []wire.Member) map[string]string {
	m := map[string]string{}
	for _, member := range meaning {
		m[member.Key] = string(member.Value)
	}
	return m
}

func text(raw []byte) string {
	s, _ := wire.Text(raw)
	return s
}

func orNull(raw []byte) string {
	if raw == nil {
		return "null"
	}
	return string(raw)
}

func escaped(t *testing.T, members []byte) []byte {
	t.Helper()
	context, err := wire.EscapeContext(members)
	if err != nil {
		t.Fatal(err)
	}
	return context
}
