package rpc_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

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
