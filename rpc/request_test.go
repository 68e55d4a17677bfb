package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/go-cyborg/cyborg/rpc"
)

func TestAllKeysAreSent(t *testing.T) {
	t.Parallel()
	rc := &rpc.RequestContext{
		User: "U", UserName: "un", ProjectID: "P", ProjectName: "pn", Domain: "D", UserDomain: "UD", ProjectDomain: "PD", SystemScope: "all",
		AuthToken: "tok", RequestID: "req-1", GlobalRequestID: "req-2", ResourceUUID: "r", IsAdmin: true, Roles: []string{"é", "admin"},
		ServiceCatalog: []json.RawMessage{json.RawMessage(`{"type": "image", "n": 1}`), json.RawMessage(`{"type": null}`), json.RawMessage(`5`)},
		Extra:          map[string]json.RawMessage{"traceparent": json.RawMessage(`"00"`), "client_timeout": json.RawMessage("1"), "read_only": json.RawMessage(`"no"`)},
	}
	same(t, "context", map[string]string{
		"user": `"U"`, "user_id": `"U"`, "user_name": `"un"`, "project_id": `"P"`, "project": `"P"`, "project_name": `"pn"`, "domain": `"D"`,
		"user_domain": `"UD"`, "project_domain": `"PD"`, "system_scope": `"all"`, "auth_token": `"tok"`, "request_id": `"req-1"`,
		"global_request_id": `"req-2"`, "resource_uuid": `"r"`, "is_admin": "true", "is_admin_project": "false", "read_only": `"no"`, "show_deleted": "false",
		"roles": `["\u00e9", "admin"]`, "service_catalog": `[{"type": "image", "n": 1}]`, "user_identity": `"U P D UD PD"`, "traceparent": `"00"`,
	}, sent(rc))

	admin := sent(rpc.AdminContext())
	same(t, "keys", 21, len(admin))
	for key, want := range map[string]string{"user": "null", "is_admin": "true", "is_admin_project": "true", "roles": "[]", "service_catalog": "[]", "user_identity": `"- - - - -"`} {
		same(t, key, want, admin[key])
	}
	if !strings.HasPrefix(text([]byte(admin["request_id"])), "req-") {
		t.Errorf("request id %s", admin["request_id"])
	}
}

// TestContextSurvivesARelay: what a server received goes on unchanged, odd values and unknown keys included.
func TestContextSurvivesARelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rc := received(t, `{"user": "U", "project_id": "P", "is_admin": "false", "roles": null, "read_deleted": "no", "timestamp": "now", "request_id": "req-9",
			"auth_token": 5, "service_catalog": "none", "client_timeout": 3, "msg_id": "x", "big": 18446744073709551616}`)
		same(t, "user", "U", rc.User)
		same(t, "project", "P", rc.ProjectID)
		same(t, "is_admin", true, rc.IsAdmin) // Python counts every text but the empty one as true
		again := sent(rc)
		for key, want := range map[string]string{
			"is_admin": `"false"`, "read_deleted": `"no"`, "timestamp": `"now"`, "request_id": `"req-9"`, "auth_token": "5", "service_catalog": `"none"`,
			"big": "18446744073709551616", "roles": "[]", "user_id": `"U"`,
		} {
			same(t, key, want, again[key])
		}
		for _, key := range []string{"client_timeout", "msg_id"} {
			if _, ok := again[key]; ok {
				t.Errorf("%s went on", key)
			}
		}
	})
}

// TestExtraMustBeJSON: a context that cannot be written fails here and not at a server that cannot tell.
func TestExtraMustBeJSON(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{"": "null", "NaN": "NaN", `"\ud800"`: `"\ud800"`, "x": "refused", `1, "_context_is_admin": true`: "refused", " ": "refused"} {
		value := json.RawMessage(raw)
		if raw == "" {
			value = nil
		}
		for _, key := range []string{"mine", "read_only"} {
			bus := newTap()
			to := remoteOf(bus)
			ctx := rpc.WithRequest(t.Context(), &rpc.RequestContext{Extra: map[string]json.RawMessage{key: value}})
			err := ping.Cast(ctx, to, struct{}{})
			if want == "refused" {
				if err == nil || !strings.Contains(err.Error(), key) || len(bus.sent) != 0 {
					t.Errorf("%s as %s: %v", raw, key, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range decodeRequest(t, (<-bus.sent).Body).Context {
				if m.Key == key && string(m.Value) != want {
					t.Errorf("%s as %s was sent as %s", raw, key, m.Value)
				}
			}
		}
	}
}

// TestTheLastOfTwoMembersCounts: also when an earlier one had another type.
func TestTheLastOfTwoMembersCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rc := receivedIn(t, []byte(`{"method": "m", "_context_user": 5, "_context_user": "U", "_context_roles": "x", "_context_roles": ["r"],
			"_context_is_admin": "false", "_context_is_admin": false, "_context_project_id": "P", "_context_project_id": 7, "_context_odd": 1, "_context_odd": 2}`))
		again := sent(rc)
		for key, want := range map[string]string{"user": `"U"`, "roles": `["r"]`, "is_admin": "false", "project_id": "7", "odd": "2"} {
			same(t, key, want, again[key])
		}
	})
}

// TestKeptContextsKeepNoMessages: a handler's context that lives on, and a request context, do not keep the message.
func TestKeptContextsKeepNoMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var kept []any
		e := rpc.NewEndpoint("", "1.0")
		type args struct {
			Text string `json:"text"`
			Keep string `json:"keep"`
		}
		rpc.NewMethod[args, rpc.Null]("keep", "1.0").Handle(e, func(ctx context.Context, a args) (rpc.Null, error) {
			if a.Keep == "context" {
				kept = append(kept, context.WithoutCancel(ctx))
			} else {
				kept = append(kept, rpc.RequestOf(ctx))
			}
			return rpc.Null{}, nil
		})
		bus := newTap()
		serveOn(t, bus, rpc.ServerConfig{Endpoints: []*rpc.Endpoint{e}})
		var messages []weak.Pointer[byte]
		for _, keep := range []string{"context", "request"} {
			body := fmt.Appendf(nil, `{"method": "keep", "args": {"text": "%s", "keep": "%s"}, "_context_user": "U", "_context_odd": "x", "_context_service_catalog": [{"type": "image"}]}`,
				strings.Repeat("x", 1<<20), keep)
			messages = append(messages, weak.Make(&body[0]))
			bus.deliver(rpc.Delivery{Body: body})
			synctest.Wait()
			bus.deliver(rpc.Delivery{Body: []byte(`{"method": "none"}`)}) // the listener and the worker have other things in hand
			synctest.Wait()
		}
		runtime.GC()
		for i, m := range messages {
			if m.Value() != nil {
				t.Errorf("message %d is kept", i)
			}
		}
		if rc := rpc.RequestOf(kept[0].(context.Context)); rc.User != "U" || string(rc.Extra["odd"]) != `"x"` || len(rc.ServiceCatalog) != 1 {
			t.Errorf("%+v", rc)
		}
		runtime.KeepAlive(kept)
	})
}

func TestRequestOf(t *testing.T) {
	t.Parallel()
	a, b := rpc.RequestOf(context.Background()), rpc.RequestOf(context.Background())
	if a.RequestID == b.RequestID || a.IsAdmin || !strings.HasPrefix(a.RequestID, "req-") || len(a.RequestID) != 40 {
		t.Errorf("%+v, %+v", a, b)
	}
	ctx := rpc.WithRequest(context.Background(), &rpc.RequestContext{User: "U"})
	first := rpc.RequestOf(ctx)
	if first.User != "U" || first.RequestID == "" || rpc.RequestOf(ctx) != first {
		t.Errorf("%+v", first)
	}
}
