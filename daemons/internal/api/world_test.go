package api

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/policy"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/rpc"
)

// What the recorded service held: one fake device with sixteen handles.
const (
	recordedHost       = "peer-host-1"
	recordedDevice     = "ffb4f391-ee15-49c0-b1db-3065a47a6f6b"
	recordedDeployable = "cc4690ea-31c2-4d3c-8854-f50a7c625409"
	recordedProvider   = "922aaf1a-3f2b-3c55-894d-3b9a39b9a80d"
	recordedHandle     = "50dd0576-025f-4a59-8039-22007de7e4fc"
)

// seed writes the recorded inventory.
func seed(t *testing.T, db *sql.DB) {
	t.Helper()
	const at = "2026-11-29 14:08:48.000000"
	statements := []string{
		fmt.Sprintf(`INSERT INTO devices (id, uuid, type, vendor, model, std_board_info, vendor_board_info, hostname, status, created_at)
			VALUES (1, '%s', 'FPGA', '0xABCD', 'miss model info', '{"device_id": "0xabcd", "class": "Fake class"}', 'fake_vendor_info', '%s', 'enabled', '%s')`,
			recordedDevice, recordedHost, at),
		fmt.Sprintf(`INSERT INTO controlpath_ids (id, uuid, device_id, cpid_type, cpid_info, created_at)
			VALUES (1, '00000000-0000-4000-8000-000000000001', 1, 'PCI', '{"domain": "0000", "bus": "0c", "device": "0", "function": "0"}', '%s')`, at),
		fmt.Sprintf(`INSERT INTO deployables (id, uuid, name, num_accelerators, device_id, rp_uuid, driver_name, created_at, updated_at)
			VALUES (1, '%s', 'peer-host-1_FakeDevice', 16, 1, '%s', 'fake', '%s', '%s')`, recordedDeployable, recordedProvider, at, at),
		fmt.Sprintf(`INSERT INTO attributes (id, uuid, deployable_id, key, value, created_at) VALUES
			(1, '3e2d31c1-e08e-49e9-a2a5-4471b283333a', 1, 'traits1', 'CUSTOM_FAKE_DEVICE', '%s'),
			(2, '35c00f2a-8877-4932-89f4-b3445d1a293a', 1, 'rc', 'FPGA', '%s')`, at, at),
	}
	for i := range 16 {
		id := recordedHandle
		if i > 0 {
			id = fmt.Sprintf("00000000-0000-4000-9000-%012d", i)
		}
		statements = append(statements, fmt.Sprintf(`INSERT INTO attach_handles (id, uuid, deployable_id, cpid_id, in_use, attach_type, attach_info, created_at)
			VALUES (%d, '%s', 1, 1, 0, 'TEST_PCI', '{"domain": "0000", "bus": "0c", "device": "0", "function": "%d"}', '%s')`, i+1, id, i+1, at))
	}
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
}

// world is the API over a real store, with a conductor that does the database's part
// of its work in this process.
type world struct {
	*Handler
	store *store.Store
	db    *sql.DB
}

func newWorld(t *testing.T, c Config, p policy.Config) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cyborg.sqlite")
	s, err := store.Connect(t.Context(), store.Config{URL: "sqlite:///" + file, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	seed(t, db)
	p.EnforceScope = true
	if c.Policy, err = policy.New(policy.Defaults(), nil, p); err != nil {
		t.Fatal(err)
	}
	c.Store, c.Conductor = s, conductor{s}
	if c.Authenticator == nil {
		c.Authenticator = NoAuth()
	}
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &world{Handler: h, store: s, db: db}
}

// conductor does what the conductor does with its database.
type conductor struct{ *store.Store }

func (c conductor) CreateProfile(ctx context.Context, p store.Profile) (string, error) {
	p, err := c.Store.CreateProfile(ctx, p)
	return p.UUID, err
}

func (c conductor) DeleteProfile(ctx context.Context, p store.Profile) error {
	return c.Store.DeleteProfile(ctx, p.UUID)
}

func (c conductor) CreateRequest(ctx context.Context, n arq.New) (string, error) {
	rows, err := c.CreateARQs(ctx, []arq.New{n})
	if err != nil {
		return "", err
	}
	return rows[0].UUID, nil
}

func (c conductor) ApplyPatches(ctx context.Context, patches []Patch) error {
	caller := rpc.RequestOf(ctx)
	var project *string
	if !caller.IsAdmin {
		project = &caller.ProjectID
	}
	for _, p := range patches {
		rows, err := c.Requests(ctx, store.RequestFilter{UUIDs: []string{p.UUID}, Project: project})
		if err == nil && len(rows) == 0 {
			err = &arq.NotFoundError{Resource: "ExtArq", Msg: "with uuid=" + p.UUID}
		}
		if err != nil {
			return err
		}
		if p.Bind() {
			bind := arq.Bind{UUID: p.UUID, Hostname: *p.Fields.Hostname, DeviceRPUUID: *p.Fields.DeviceRPUUID, InstanceUUID: *p.Fields.InstanceUUID}
			if p.Fields.ProjectID != nil {
				bind.ProjectID = *p.Fields.ProjectID
			}
			_, err = c.Begin(ctx, bind)
		} else {
			_, err = c.Release(ctx, p.UUID, arq.LeaveUnbind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c conductor) DeleteRequests(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if _, err := c.Release(ctx, id, arq.LeaveDelete); err != nil {
			return err
		}
	}
	return nil
}

// personas stands in for Keystone: a token names its persona.
type personas map[string]Caller

func recordedPersonas() personas {
	const admin, demo, alt, service = "6de23dc9ed2642a480308484077cd549", "70eefba7ab9243a8a55391d46209c7d8", "ff277bfd75ea41b6880072ac6fe255c9", "e3382a5d58ab4102ada8fd2ff4531e7e"
	who := func(project string, roles ...string) Caller {
		c := Caller{Context: rpc.RequestContext{User: "00000000000000000000000000000001", ProjectID: project, Roles: roles, IsAdminProject: true}}
		c.Context.IsAdmin = len(roles) > 0 && roles[0] == "admin"
		return c
	}
	p := personas{
		"admin":        who(admin, "admin", "manager", "member", "reader"),
		"demo":         who(demo, "member", "reader"),
		"demo-reader":  who(demo, "reader"),
		"demo-manager": who(demo, "manager", "member", "reader"),
		"demo-none":    who(demo, "nobody"),
		"alt":          who(alt, "member", "reader"),
		"nova":         who(service, "service"),
		"cyborg":       who(service, "admin", "service", "manager", "member", "reader"),
		"unscoped":     who(""),
		"system":       who("", "admin", "manager", "member", "reader"),
	}
	system := p["system"]
	system.Context.SystemScope = "all"
	p["system"] = system
	return p
}

func (p personas) Authenticate(r *http.Request) (Caller, error) {
	caller, ok := p[persona(r.Header.Get("X-Auth-Token"))]
	if !ok {
		return Caller{}, ErrUnauthorized
	}
	service := r.Header.Get("X-Service-Token")
	if service == "" {
		return caller, nil
	}
	other, ok := p[persona(service)]
	if !ok || !strings.Contains(strings.Join(other.Context.Roles, " "), "service") {
		return Caller{}, ErrUnauthorized
	}
	caller.Service = true
	return caller, nil
}

func persona(token string) string {
	return strings.TrimSuffix(strings.TrimPrefix(token, "<token of "), ">")
}

// broken is an identity service that cannot be asked.
type broken struct{}

func (broken) Authenticate(*http.Request) (Caller, error) {
	return Caller{}, errors.New("connection refused")
}
