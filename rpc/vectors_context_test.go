package rpc_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// contextCases are what the cases of context-from-dict stand for, and what is compared: a field of ours with the outcome.
var contextCases = map[string]struct {
	members string
	show    func(*rpc.RequestContext) string
}{
	"user_id_only":           {`{"user_id": "U"}`, user},
	"user only":              {`{"user": "U"}`, user},
	"user & user_id differ":  {`{"user": "U", "user_id": "X"}`, user},
	"user null & user_id":    {`{"user": null, "user_id": "X"}`, user},
	"project only":           {`{"project": "P"}`, project},
	"tenant only":            {`{"tenant": "P"}`, project},
	"roles null":             {`{"roles": null}`, func(c *rpc.RequestContext) string { return "[" + strings.Join(c.Roles, ", ") + "]" }},
	"unknown key":            {`{"nonsense": 1}`, func(c *rpc.RequestContext) string { return python(c.IsAdmin) }},
	"is_admin null":          {`{"is_admin": null}`, odderAdmin},
	"is_admin string":        {`{"is_admin": "false"}`, odderAdmin},
	"service_roles sent":     {`{"service_roles": ["r"]}`, func(c *rpc.RequestContext) string { return "[]" + strings.Repeat("!", len(c.Roles)) }},
	"domain_name sent":       {`{"user_domain_name": "UD"}`, func(c *rpc.RequestContext) string { return text(c.Extra["user_domain_name"]) }},
	"catalog image":          {`{"service_catalog": [{"type": "image"}, {"type": "age"}, {"type": "compute"}]}`, catalog},
	"catalog no type":        {`{"service_catalog": [{"name": "x"}]}`, sentCatalog},
	"catalog type null":      {`{"service_catalog": [{"type": null}]}`, sentCatalog},
	"empty":                  {`{}`, defaults},
	"roundtrip keys":         {`{"user": "U"}`, nil},
	"is_admin_project false": {`{"is_admin_project": false}`, func(c *rpc.RequestContext) string { return python(c.IsAdminProject) }},
}

func user(c *rpc.RequestContext) string { return orNone(c.User) }

func project(c *rpc.RequestContext) string { return orNone(c.ProjectID) }

func orNone(s string) string {
	if s == "" {
		return "None"
	}
	return s
}

// odderAdmin is what stays of an is_admin that is no bool, and that it counts as Python counts it.
func odderAdmin(c *rpc.RequestContext) string {
	raw := c.Extra["is_admin"]
	if c.IsAdmin != (len(text(raw)) > 0) {
		return "counted the other way"
	}
	return orNone(text(raw))
}

// catalog is what a Python reader would keep of ours.
func catalog(c *rpc.RequestContext) string {
	var kept []string
	for _, raw := range c.ServiceCatalog {
		var entry struct{ Type string }
		if json.Unmarshal(raw, &entry) == nil && strings.Contains("image", entry.Type) {
			kept = append(kept, "{'type': '"+entry.Type+"'}")
		}
	}
	return "[" + strings.Join(kept, ", ") + "]"
}

// sentCatalog shows that an entry which makes Python fail is not passed on.
func sentCatalog(c *rpc.RequestContext) string {
	if sent(c)["service_catalog"] != "[]" {
		return "passed on"
	}
	return "EXC TypeError 'in <string>' requires string as left operand, not NoneType"
}

func defaults(c *rpc.RequestContext) string {
	id := c.RequestID
	if c.User != "" || c.ProjectID != "" || c.IsAdmin || !c.IsAdminProject || c.ReadOnly || c.ShowDeleted || len(c.Roles) != 0 {
		id = "other defaults"
	}
	return "{'user_id': None, 'project_id': None, 'is_admin': False, 'request_id': '" + id + "', 'global_request_id': None, 'roles': [], " +
		"'service_catalog': [], 'user_name': None, 'project_name': None, 'domain_id': None, 'user_domain_id': None, 'project_domain_id': None, " +
		"'auth_token': None, 'read_only': False, 'show_deleted': False, 'is_admin_project': True, 'service_roles': [], 'system_scope': None, " +
		"'resource_uuid': None}"
}

func (v *vectors) contexts(t *testing.T) {
	var file struct {
		Cases []struct {
			Case    string `json:"from_dict_case"`
			Outcome string
		}
	}
	if !v.load(t, "topology/context-from-dict.json", &file) {
		return
	}
	for _, c := range file.Cases {
		known, ok := contextCases[c.Case]
		if !ok {
			v.skip(t, c.Case, "the name of the case does not say what was sent")
			continue
		}
		v.check(t, c.Case, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rc := received(t, known.members)
				if known.show == nil {
					same(t, "keys", c.Outcome, "['"+strings.Join(sortedKeys(sent(rc)), "', '")+"']")
					return
				}
				got := known.show(rc)
				if c.Case == "empty" { // the request id is a fresh one
					got = strings.Replace(got, rc.RequestID, c.Outcome[strings.Index(c.Outcome, "req-"):][:len(rc.RequestID)], 1)
				}
				same(t, "outcome", c.Outcome, got)
			})
		})
	}
}

// received is the context that a handler gets for the given members.
func received(t *testing.T, members string) *rpc.RequestContext {
	t.Helper()
	list, err := wire.Members([]byte(members))
	if err != nil {
		t.Fatal(err)
	}
	var encoded []byte
	for _, m := range list {
		if encoded, err = wire.AppendContext(encoded, m.Key, m.Value); err != nil {
			t.Fatal(err)
		}
	}
	body, err := (&wire.Request{Method: []byte(`"m"`), Args: []byte("{}")}).Encode(escaped(t, encoded))
	if err != nil {
		t.Fatal(err)
	}
	return receivedIn(t, body)
}

// receivedIn gives the request context of a request for method m.
func receivedIn(t *testing.T, body []byte) *rpc.RequestContext {
	t.Helper()
	var rc *rpc.RequestContext
	e := rpc.NewEndpoint("", "1.0")
	rpc.NewMethod[struct{}, rpc.Null]("m", "1.0").Handle(e, func(ctx context.Context, _ struct{}) (rpc.Null, error) {
		rc = rpc.RequestOf(ctx)
		return rpc.Null{}, nil
	})
	bus := newTap()
	srv, err := rpc.NewServer(bus, rpc.ServerConfig{Target: rpc.Target{Topic: "t", Server: "h"}, Endpoints: []*rpc.Endpoint{e}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Run(ctx) }()
	bus.deliver(rpc.Delivery{Body: body})
	cancel()
	if err := <-stopped; err != nil || rc == nil {
		t.Fatal("the handler was not called", err)
	}
	return rc
}

// sent is the context that a client sends, by key.
func sent(rc *rpc.RequestContext) map[string]string {
	bus := newTap()
	client := rpc.NewClient(bus, rpc.ClientConfig{})
	err := rpc.NewMethod[struct{}, rpc.Null]("m", "1.0").Cast(rpc.WithRequest(context.Background(), rc), rpc.Remote{Client: client, Target: rpc.Target{Topic: "t"}}, struct{}{})
	var r wire.Request
	if err != nil || r.Decode((<-bus.sent).Body) != nil {
		return nil
	}
	keys := map[string]string{}
	for _, m := range r.Context {
		keys[m.Key] = string(m.Value)
	}
	return keys
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return sorted(keys)
}
