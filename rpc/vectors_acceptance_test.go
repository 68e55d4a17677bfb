package rpc_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// odd is a request that a case describes in words. The zero values are those of a good request.
type odd struct {
	contentType, encoding string
	body                  string                     // instead of everything below
	envelope              string                     // "" for 2.0, "none" for a bare message
	extraKey, notString   bool                       // in the envelope
	members               map[string]json.RawMessage // replaced; nil removes
	before                []string                   // unique ids of requests sent before
	sameClass             bool                       // the text of the failure names Python's own parameters
}

var quoted = regexp.MustCompile(`^(version|namespace|content_type|method|args|_timeout|_unique_id|content_encoding) (.*)$`)

// describeRequest turns the name of a case into a request, false if the name is not understood.
func describeRequest(name string) (odd, bool) {
	o := odd{contentType: "application/json", encoding: "utf-8", members: map[string]json.RawMessage{}}
	set := func(key, raw string) { o.members[key] = json.RawMessage(raw) }
	switch name {
	case "baseline", "after all", "delivery_mode 1, no priority":
	case "no priority/headers minimal", "no content_encoding":
		o.encoding = ""
	case "content_encoding UTF-8 upper":
		o.encoding = "UTF-8"
	case "no content_type":
		o.contentType = ""
	case "no content_type no encoding":
		o.contentType, o.encoding = "", ""
	case "text/plain", "application/octet-stream":
		o.contentType = name
	case "no envelope (bare v1.0 message)":
		o.envelope = "none"
	case "envelope extra key":
		o.extraKey = true
	case "inner not string (object)":
		o.notString = true
	case "not json":
		o.body = "this is not json"
	case "empty body":
		o.body = " "
	case "inner not json":
		o.body = `{"oslo.version": "2.0", "oslo.message": "not json"}`
	case "json number":
		o.body = "5"
	case "json list":
		o.body = "[1, 2]"
	case "json string":
		o.body = `"text"`
	case "no _unique_id", "missing _timeout key", "no args", "no method":
		o.members[strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "no "), "missing "), " key")] = nil
	case "dup unique 1st":
		set("_unique_id", `"dup"`)
	case "dup unique 2nd":
		set("_unique_id", `"dup"`)
		o.before = []string{"dup"}
	case "dup unique after 16 others": // Python remembers 16 ids, this package 1,024
		set("_unique_id", `"dup"`)
		o.before = []string{"dup"}
		for i := range 1024 {
			o.before = append(o.before, strconv.Itoa(i))
		}
	case "_unique_id null twice a", "_unique_id null twice b":
		set("_unique_id", "null")
		o.before = []string{""}
	case "version int 1.0":
		set("version", "1.0")
	case "args list":
		set("args", "[]")
	case "args string":
		set("args", `"text"`)
	case `_timeout "abc" slow`:
		set("_timeout", `"abc"`)
		set("method", `"slow"`)
		set("args", `{"n": 2}`)
	case "_timeout 3.9 slow 2":
		set("_timeout", "3.9")
		set("method", `"slow"`)
		set("args", `{"n": 2}`)
	case "unicode raw utf8 body":
		set("method", `"echo"`)
		set("args", `{"s": "hé ☃ 😀"}`)
	case "kwargs arg name ctxt":
		set("method", `"named"`)
		set("args", `{"ctxt": 1}`)
		o.sameClass = true
	case "context keys odd":
		set("method", `"ctx"`)
		set("_context_", `"empty"`)
		set("_context_a", "null")
	default:
		return describeValue(o, name)
	}
	return o, true
}

// describeValue understands the names that carry a value.
func describeValue(o odd, name string) (odd, bool) {
	if v, ok := strings.CutPrefix(name, "envelope version "); ok {
		o.envelope = v
		return o, true
	}
	m := quoted.FindStringSubmatch(name)
	if m == nil || !json.Valid([]byte(m[2])) {
		return o, false
	}
	switch m[1] {
	case "content_type":
		return o, json.Unmarshal([]byte(m[2]), &o.contentType) == nil
	case "content_encoding":
		return o, json.Unmarshal([]byte(m[2]), &o.encoding) == nil
	}
	o.members[m[1]] = json.RawMessage(m[2])
	return o, true
}

func (o odd) bytes(t *testing.T, uniqueID string) []byte {
	t.Helper()
	if o.body != "" {
		return []byte(o.body)
	}
	message := map[string]json.RawMessage{
		"method": json.RawMessage(`"ping"`), "args": json.RawMessage("{}"), "_msg_id": json.RawMessage(`"0123"`),
		"_reply_q": json.RawMessage(`"reply_x"`), "_timeout": json.RawMessage("null"), "_unique_id": json.RawMessage(`"` + uniqueID + `"`),
	}
	for key, raw := range o.members {
		if message[key] = raw; raw == nil {
			delete(message, key)
		}
	}
	inner, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	envelope := map[string]any{"oslo.version": "2.0", "oslo.message": string(inner)}
	switch {
	case o.envelope == "none":
		return inner
	case o.envelope != "":
		envelope["oslo.version"] = o.envelope
	case o.notString:
		envelope["oslo.message"] = json.RawMessage(inner)
	case o.extraKey:
		envelope["extra"] = 1
	}
	body, err := json.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// labEndpoint is the endpoint of the servers in the recordings.
func labEndpoint() *rpc.Endpoint {
	e := rpc.NewEndpoint("", "1.5")
	rpc.NewMethod[struct{}, string]("ping", "1.0").Handle(e, func(context.Context, struct{}) (string, error) { return "host-a", nil })
	rpc.NewMethod[map[string]any, any]("echo", "1.0").Handle(e, func(_ context.Context, a map[string]any) (any, error) { return a, nil })
	type slow struct {
		N int `json:"n"`
	}
	rpc.NewMethod[slow, string]("slow", "1.0").Handle(e, func(_ context.Context, a slow) (string, error) {
		<-time.After(time.Duration(a.N) * time.Second)
		return "slept", nil
	})
	rpc.NewMethod[slow, any]("named", "1.0").Handle(e, func(context.Context, slow) (any, error) { return nil, nil })
	rpc.NewMethod[struct{}, any]("ctx", "1.0").Handle(e, func(ctx context.Context, _ struct{}) (any, error) {
		return rpc.RequestOf(ctx).Extra, nil
	})
	return e
}

type answer struct {
	Result  json.RawMessage
	Failure *string
}

func (v *vectors) requestAcceptance(t *testing.T) {
	var file struct {
		Cases []struct {
			Case    string
			Replies []answer
		}
	}
	if !v.load(t, "topology/request-acceptance.json", &file) {
		return
	}
	for _, c := range file.Cases {
		o, ok := describeRequest(c.Case)
		if !ok {
			v.skip(t, c.Case, "the name of the case does not say what was sent")
			continue
		}
		v.check(t, c.Case, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { o.check(t, c.Replies) })
		})
	}
}

// check sends the request to a server and compares the first answer.
func (o odd) check(t *testing.T, want []answer) {
	bus := newTap()
	srv, err := rpc.NewServer(bus, rpc.ServerConfig{Target: rpc.Target{Topic: "t", Server: "h"}, Endpoints: []*rpc.Endpoint{labEndpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Run(ctx) }()
	for _, id := range o.before {
		first := odd{members: map[string]json.RawMessage{}}
		if id == "" {
			first.members["_unique_id"] = json.RawMessage("null")
		}
		bus.deliver(rpc.Delivery{Body: first.bytes(t, id)})
		synctest.Wait()
		<-bus.sent
	}
	settled := bus.deliver(rpc.Delivery{Body: o.bytes(t, "fresh"), Invalid: wire.CheckContent(o.contentType, o.encoding)})
	pause(1600 * time.Millisecond)
	if len(want) > 0 {
		got := <-bus.sent
		same(t, "settled", []bool{true}, settled.all())
		o.compare(t, want[0], got.Body)
	} else {
		o.refused(t, bus, settled)
	}
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func (o odd) compare(t *testing.T, want answer, body []byte) {
	t.Helper()
	var r wire.Reply
	if err := r.Decode(body); err != nil {
		t.Fatal(err)
	}
	if want.Failure == nil {
		if r.Failure != nil {
			t.Fatalf("failure: %s", r.Failure)
		}
		result := string(pythonText(t, orNullJSON(want.Result)))
		if string(o.members["method"]) == `"ctx"` {
			result = withoutTimeout(t, want.Result)
		}
		same(t, "result", result, string(pythonText(t, []byte(orNull(r.Result)))))
		return
	}
	var f wire.Failure
	if err := f.Decode(r.Failure); err != nil {
		t.Fatalf("no failure but result %s, want %s", r.Result, *want.Failure)
	}
	got := f.Module + "." + f.Class + ": " + f.Message
	if o.sameClass {
		same(t, "class", strings.SplitN(*want.Failure, ":", 2)[0], f.Module+"."+f.Class)
		return
	}
	same(t, "failure", *want.Failure, got)
}

// withoutTimeout is a context without the key that a Python server adds on its own, in the order in which Go writes maps.
func withoutTimeout(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "client_timeout")
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(pythonText(t, raw))
}

func orNullJSON(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// refused checks that nothing was run: Python stays silent, this package answers when it can.
func (o odd) refused(t *testing.T, bus *tap, settled *settlement) {
	t.Helper()
	duplicate := len(o.before) > 0
	same(t, "settled", []bool{duplicate}, settled.all())
	select {
	case m := <-bus.sent:
		var r wire.Reply
		if err := r.Decode(m.Body); err != nil || r.Failure == nil || duplicate {
			t.Errorf("answered with %s", m.Body)
		}
	default:
	}
}
