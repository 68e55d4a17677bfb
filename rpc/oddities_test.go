package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// TestPythonOddities: what Python really puts into messages is answered or refused, and never kills the consumer. The bodies
// are what oslo.messaging 18.3 writes.
func TestPythonOddities(t *testing.T) {
	t.Parallel()
	for x, want := range map[string]string{
		`NaN`: "refused", `-Infinity`: "refused", `{"null": 1}`: `{"null":1}`,
		`1180591620717411303424`:               `1180591620717411303424`,
		`"\ud83d\ude00 \u00e9 \ud800"`:         `"\ud83d\ude00 \u00e9 \ufffd"`,
		`"2026-03-04T05:06:07.000089"`:         `"2026-03-04T05:06:07.000089"`,
		`1, "x": 2`:                            `2`,
		`1.0`:                                  `1.0`,
		strings.Repeat("[", 300) + `1`:         "refused",
		`"` + strings.Repeat("x", 1<<20) + `"`: `"` + strings.Repeat("x", 1<<20) + `"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			type args struct {
				X any `json:"x"`
			}
			e := rpc.NewEndpoint("", "1.0")
			rpc.NewMethod[args, any]("echo", "1.0").Handle(e, func(_ context.Context, a args) (any, error) { return a.X, nil })
			bus := newTap()
			serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{e}})
			inner := fmt.Sprintf(`{"method": "echo", "args": {"x": %s}, "version": "1.0", "_msg_id": "1", "_reply_q": "q"}`, x)
			outer, err := json.Marshal(map[string]string{"oslo.version": "2.0", "oslo.message": inner})
			if err != nil {
				t.Fatal(err)
			}
			settled := bus.deliver(rpc.Delivery{Body: outer})
			r := decodeReply(t, <-bus.sent)
			if (want == "refused") != (r.Failure != nil) || want != "refused" && string(r.Result) != want {
				t.Errorf("%.60s: result %.60s, failure %s", x, r.Result, r.Failure)
			}
			same(t, "settled", 1, len(settled.all()))
			bus.deliver(rpc.Delivery{Body: []byte(`{"method": "echo", "args": {"x": "alive"}, "_msg_id": "2", "_reply_q": "q"}`)})
			same(t, "next", `"alive"`, string(decodeReply(t, <-bus.sent).Result))
		})
	}
}

// TestJSONKeepsNumbers: a number that goes into an any is not rounded.
func TestJSONKeepsNumbers(t *testing.T) {
	t.Parallel()
	var v any
	if err := (rpc.JSON{}).Deserialize(t.Context(), json.RawMessage(`[1152921504606846977]`), &v); err != nil {
		t.Fatal(err)
	}
	raw, err := rpc.JSON{}.Serialize(t.Context(), v)
	if err != nil || string(raw) != "[1152921504606846977]" {
		t.Errorf("%s, %v", raw, err)
	}
	for _, text := range []string{"1 2", "{", "", "NaN"} {
		if err := (rpc.JSON{}).Deserialize(t.Context(), json.RawMessage(text), &v); err == nil {
			t.Errorf("%q was decoded", text)
		}
		var n []int
		if err := (rpc.JSON{}).Deserialize(t.Context(), json.RawMessage(text), &n); err == nil {
			t.Errorf("%q was decoded", text)
		}
	}
}

// upper is a serializer that is not JSON's, to see that every value passes through it once.
type upper struct{ rpc.JSON }

func (u upper) Serialize(ctx context.Context, v any) (json.RawMessage, error) {
	if v == "refuse" {
		return nil, errors.New("refused")
	}
	raw, err := u.JSON.Serialize(ctx, v)
	return json.RawMessage(strings.ToUpper(string(raw))), err
}

func TestSerializer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type args struct {
			A string `json:"a"`
			B string `json:"b"`
		}
		m := rpc.NewMethod[args, string]("join", "1.0")
		e := rpc.NewEndpoint("", "1.0")
		m.Handle(e, func(_ context.Context, a args) (string, error) { return a.A + "-" + a.B + "-res", nil })
		remote := serveMemory(t, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{e}, Serializer: upper{}}, rpc.ClientConfig{Serializer: upper{}})
		got, err := m.Call(t.Context(), remote, args{"x", "y"})
		if err != nil || got != "X-Y-RES" {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := m.Call(t.Context(), remote, args{"refuse", "y"}); err == nil || !strings.Contains(err.Error(), "argument a") {
			t.Errorf("an argument that cannot be encoded: %v", err)
		}
	})
}

// TestVersionOfPython compares Version with Python's rule wherever both can hold the versions.
func TestVersionOfPython(t *testing.T) {
	t.Parallel()
	texts := []string{"1.0", "1.1", "1.5", "1.5.1", "1.10", "2.0", "0.1", "1.5.0", "10.1"}
	for _, have := range texts {
		for _, want := range texts {
			h, err1 := rpc.ParseVersion(have)
			w, err2 := rpc.ParseVersion(want)
			python, err3 := wire.Compatible(have, want)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			if h.Supports(w) != python {
				t.Errorf("%s supports %s: %t", have, want, !python)
			}
		}
	}
	for _, text := range []string{"", "1", "auto", "1.", ".1", "1.x", "1.0.0.0", "-1.0", "1.-1", " 1.0", "0.0", "99999999999.0"} {
		if v, err := rpc.ParseVersion(text); err == nil {
			t.Errorf("%q was read as %v", text, v)
		}
	}
}
