package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// peer is Cyborg 17.0.0 in a chroot, with a database to work on.
type peer struct {
	*testing.T
	root string // of the chroot
	dir  string // inside it
}

// newPeer skips the test when CYBORG_PEERS has no chroot with Cyborg.
func newPeer(t *testing.T) *peer {
	t.Helper()
	for entry := range strings.FieldsSeq(os.Getenv("CYBORG_PEERS")) {
		root, ok := strings.CutPrefix(entry, "forky=")
		if !ok {
			continue
		}
		dir, err := os.MkdirTemp(filepath.Join(root, "tmp"), "store-")
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		script, err := os.ReadFile(filepath.Join("testdata", "peer", "rows.py"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "rows.py"), script, 0o644); err != nil {
			t.Fatal(err)
		}
		return &peer{T: t, root: root, dir: strings.TrimPrefix(dir, root)}
	}
	t.Skip("CYBORG_PEERS names no chroot of the forky suite")
	return nil
}

// use points the peer's configuration at a database.
func (p *peer) use(url string) {
	p.Helper()
	text := "[DEFAULT]\ntransport_url = fake://\n[database]\nconnection = " + url + "\n[oslo_concurrency]\nlock_path = " + p.dir + "\n"
	if err := os.WriteFile(filepath.Join(p.root, p.dir, "cyborg.conf"), []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

// run runs a program of the peer and returns the last line of its output.
func (p *peer) run(name string, args ...string) string {
	p.Helper()
	cmd := exec.Command("chroot", append([]string{p.root, name}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		p.Fatalf("%s %v: %v\n%s%s", name, args, err, out.String(), errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[len(lines)-1]
}

func (p *peer) tool(name string, args ...string) string {
	p.Helper()
	return p.run(name, append([]string{"--config-file", p.dir + "/cyborg.conf"}, args...)...)
}

func (p *peer) rows(command, host string) string {
	p.Helper()
	return p.run("python3", "-W", "ignore", p.dir+"/rows.py", p.dir+"/cyborg.conf", command, host)
}

// TestInteropDatabase lets Cyborg 17.0.0 and the store use the same database,
// made by either of them.
func TestInteropDatabase(t *testing.T) {
	byPeer := func(command string) func(*testing.T, *peer, string) {
		return func(_ *testing.T, p *peer, _ string) { p.tool("cyborg-dbsync", command) }
	}
	byUs := func(t *testing.T, _ *peer, url string) { upgrade(t, connect(t, url)) }
	for _, c := range []struct {
		engine, name string
		create       func(*testing.T, *peer, string)
	}{
		{"mysql", "the peer's upgrade", byPeer("upgrade")},
		{"mysql", "the peer's create_schema", byPeer("create_schema")},
		{"mysql", "our upgrade", byUs},
		{"postgres", "our upgrade", byUs},
		{"sqlite", "the peer's create_schema", byPeer("create_schema")},
		{"sqlite", "our upgrade", byUs},
	} {
		t.Run(c.engine+" by "+c.name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			var url string
			if c.engine == "sqlite" {
				url = "sqlite:///" + p.root + p.dir + "/c.sqlite"
				p.use("sqlite:///" + p.dir + "/c.sqlite")
			} else {
				url = freshDatabase(t, needs(t, c.engine))
				p.use(url)
			}
			c.create(t, p, url)
			s := opener(url)(t, nil)
			if c.engine == "mysql" && c.name != "the peer's create_schema" {
				charset(t, s, "utf8")
				live := mysqlListing(t, s.Raw())
				for _, table := range []string{"devices", "deployables", "attach_handles", "extended_accelerator_requests", "device_profiles"} {
					if diff := cmp.Diff(mysqlVector(t, "schema_mariadb_upgrade.json")["tables"].(object)[table], live["tables"].(object)[table]); diff != "" {
						t.Errorf("%s (-recorded +live):\n%s", table, diff)
					}
				}
			}
			if id := p.tool("cyborg-dbsync", "version"); id != store.Head {
				t.Errorf("the peer reads revision %s", id)
			}
			if c.engine == "mysql" {
				p.tool("cyborg-dbsync", "upgrade")
			}
			p.tool("cyborg-status", "upgrade", "check")
			theirs(t, p, s)
			ours(t, p, s)
		})
	}
}

// theirs takes over what the peer wrote.
func theirs(t *testing.T, p *peer, s *store.Store) {
	t.Helper()
	ctx := context.Background()
	host := "python-" + uuid.NewString()
	p.rows("write", host)
	inv, err := s.Inventory(ctx, host)
	if err != nil || len(inv.Devices) != 1 {
		t.Fatalf("%+v, %v", inv, err)
	}
	d := inv.Devices[0]
	dep := d.Deployables[0]
	if d.Type != "FPGA" || d.State != reconcile.StateAvailable || *d.StdBoardInfo != `{"a": "1"}` || dep.Offer == "" || len(dep.Attributes) != 2 ||
		len(dep.Handles) != 2 || !dep.Handles[0].Held() || dep.Handles[1].Held() {
		t.Errorf("device of the peer: %+v", d)
	}
	bound := dep.Handles[0].ARQs[0]
	q, err := s.Request(ctx, bound)
	if err != nil || q.State != arq.Bound || q.Handle.Info.String() != dep.Handles[0].Info || q.Group.Get("trait:CUSTOM_A") != "required" {
		t.Errorf("request of the peer: %+v, %v", q, err)
	}
	if _, err := s.Release(ctx, bound, arq.LeaveUnbind); err != nil {
		t.Fatal(err)
	}
	if q, err = s.Begin(ctx, arq.Bind{UUID: bound, Hostname: host, DeviceRPUUID: dep.Offer, InstanceUUID: uuid.NewString(), ProjectID: "p"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(ctx, &d); err == nil {
		t.Error("a device with a guest was removed")
	}
	var seen struct{ ARQs [][]any }
	if err := json.Unmarshal([]byte(p.rows("read", host)), &seen); err != nil {
		t.Fatal(err)
	}
	function, _ := q.Handle.Info.Text("function")
	if len(seen.ARQs) != 1 || seen.ARQs[0][0] != "Bound" || seen.ARQs[0][2].(map[string]any)["function"] != function {
		t.Errorf("the peer sees %v", seen.ARQs)
	}
	if _, err := s.Release(ctx, bound, arq.LeaveDelete); err != nil {
		t.Fatal(err)
	}
	inv, err = s.Inventory(ctx, host)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(ctx, &inv.Devices[0]); err != nil {
		t.Errorf("remove: %v", err)
	}
}

// ours lets the peer read and delete what we wrote.
func ours(t *testing.T, p *peer, s *store.Store) {
	t.Helper()
	ctx := context.Background()
	host := "go-" + uuid.NewString()
	d := reconcile.Device{
		Type: "PCI", Vendor: "8086", Model: "é", State: reconcile.StateAvailable,
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: `{"bus": "0d", "device": "00", "domain": "0000", "function": "0"}`},
		Deployables: []reconcile.Deployable{{
			Name: host + "_A", NumAccelerators: 1, Attributes: []reconcile.Attribute{{Key: "rc", Value: "CUSTOM_NVME"}},
			Handles: []reconcile.Handle{{Type: arq.HandlePCI, Info: `{"bus": "0d", "device": "00", "domain": "0000", "function": "1"}`}},
		}},
	}
	ds, err := s.Insert(ctx, host, []reconcile.Device{d})
	if err != nil {
		t.Fatal(err)
	}
	provider := reconcile.ProviderUUID(host + "_A")
	if _, err := s.Offer(ctx, []reconcile.Claim{{ID: ds[0].Deployables[0].ID, Offer: provider}}); err != nil {
		t.Fatal(err)
	}
	h := ds[0].Deployables[0].Handles[0]
	text := strings.TrimSuffix(h.Info, "}") + `, "numa_node": 1}`
	_, err = s.UpdateAttachInfo(ctx, cyborg.AttachInfoUpdate{UUID: h.UUID, AttachInfo: text, Expected: cyborg.HandleExpectation{
		DeployableID: ds[0].Deployables[0].ID, DeployableName: host + "_A", ControlpathID: ds[0].ControlPath.ID, CpidInfo: ds[0].ControlPath.Info,
		DeviceID: ds[0].ID, Hostname: host, AttachType: "PCI", AttachInfo: h.Info,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateProfile(ctx, store.Profile{Name: host, Groups: []arq.Group{{{Key: "resources:CUSTOM_NVME", Value: "1"}}}}); err != nil {
		t.Fatal(err)
	}
	qs, err := s.CreateARQs(ctx, []arq.New{{ProfileName: host, ProjectID: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(ctx, arq.Bind{UUID: qs[0].UUID, Hostname: host, DeviceRPUUID: provider, InstanceUUID: uuid.NewString(), ProjectID: "p"}); err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal([]byte(p.rows("read", host)), &got); err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(text)
	expected := `{"devices": [{"uuid": "` + ds[0].UUID + `", "type": "PCI", "vendor": "8086", "state": "available", "status": "enabled", "board": null,
		"path": "{\"bus\": \"0d\", \"device\": \"00\", \"domain\": \"0000\", \"function\": \"0\"}",
		"deployables": [{"name": "` + host + `_A", "offer": "` + provider + `", "n": 1, "attributes": {"rc": "CUSTOM_NVME"},
			"handles": [[` + string(quoted) + `, "PCI", true]]}]}],
		"arqs": [["Bound", "` + host + `", {"bus": "0d", "device": "00", "domain": "0000", "function": "1", "numa_node": "1"}]]}`
	if err := json.Unmarshal([]byte(expected), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the peer reads (-want +got):\n%s", diff)
	}
	p.rows("free", host)
	inv, err := s.Inventory(ctx, host)
	if err != nil || len(inv.Devices) != 0 {
		t.Errorf("left after the peer deleted: %+v, %v", inv, err)
	}
}
