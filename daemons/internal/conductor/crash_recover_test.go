package conductor_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

// crashConductor is a conductor of this process on a scene.
type crashConductor struct {
	store   *store.Store
	manager *conductor.Manager
	cfg     conductor.Config
	later   time.Duration // how far ahead its clock is
}

func (s *crashScene) start(t *testing.T) *crashConductor {
	t.Helper()
	db, err := store.Connect(t.Context(), store.Config{URL: "sqlite:///" + s.file, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Upgrade(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	c := &crashConductor{store: db}
	if c.cfg, err = crashConfig(db, "http://scene.invalid", placementtest.Client(s.services)); err != nil {
		t.Fatal(err)
	}
	c.cfg.Now = func() time.Time { return time.Now().Add(c.later) }
	if c.manager, err = conductor.New(c.cfg); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *crashConductor) stop(t *testing.T) {
	t.Helper()
	if err := errors.Join(c.manager.Close(context.Background()), c.store.Close()); err != nil {
		t.Error(err)
	}
}

func (c *crashConductor) report(t *testing.T, report []*cyborg.DriverDevice) {
	t.Helper()
	if err := crashReport(t.Context(), c.manager, report); err != nil {
		t.Fatal(err)
	}
}

func (c *crashConductor) sweep(t *testing.T) {
	t.Helper()
	if err := c.manager.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// recovery is when the report comes that repairs what is left.
type recovery int

const (
	sweepFirst  recovery = iota // after the sweep that ends abandoned binds
	reportFirst                 // before it, and once more after
)

func (r recovery) String() string {
	return [...]string{"swept, then reported", "reported, then swept"}[r]
}

// recover is what happens after a restart: announcement and sweep, one more report, the sweep of a later minute.
func (s *crashScene) recover(t *testing.T, report []*cyborg.DriverDevice, how recovery) []string {
	t.Helper()
	c := s.start(t)
	defer c.stop(t)
	conductor.Announce(t.Context(), c.manager)
	c.sweep(t)
	if how == reportFirst {
		c.report(t, report)
	}
	c.later = time.Hour
	c.sweep(t)
	c.report(t, report)
	return s.state(t, c, report)
}

// repeat is what the caller of the patches does: requests that are not bound are unbound and bound again.
func (s *crashScene) repeat(t *testing.T) []string {
	t.Helper()
	c := s.start(t)
	defer c.stop(t)
	for _, patch := range s.patches {
		var binds []crashBind
		for _, b := range patch {
			q, err := c.store.Request(t.Context(), b.ARQ)
			if err != nil {
				t.Fatal(err)
			}
			if q.State == arq.Bound {
				continue
			}
			binds = append(binds, b)
			if q.State == arq.Initial {
				continue
			}
			unbind := cyborgrpc.ARQApplyPatchArgs{Patches: patches([]string{b.ARQ}, cyborgrpc.OpRemove)}
			if err := conductor.ApplyPatch(t.Context(), c.manager, unbind); err != nil {
				t.Errorf("unbind of device %d: %v", b.Device, err)
			}
		}
		if err := crashPatch(t.Context(), c.manager, binds); err != nil {
			t.Errorf("bind again: %v", err)
		}
	}
	if err := c.manager.Close(t.Context()); err != nil { // what goes on after the answer is done
		t.Error(err)
	}
	return s.state(t, c, crashBefore())
}

// state is what is there, in lines, after a check of what must hold whatever has happened. What a next report would do is
// part of it. UUIDs of rows that were there before have names; those of later rows are new.
func (s *crashScene) state(t *testing.T, c *crashConductor, report []*cyborg.DriverDevice) []string {
	t.Helper()
	runner := &reconcile.Runner{Store: c.store, Placement: c.cfg.Placement}
	plan, err := conductor.PlanReport(t.Context(), runner, hostname, crashReported(report))
	if err != nil {
		t.Fatal(err)
	}
	var rows tables
	s.look(t, func(db *sql.DB) { rows = dumpRows(t, db) })
	s.check(t, rows, plan)
	known := map[string]bool{}
	for id := range s.names {
		known[id] = true
	}
	lines := rows.lines(known)
	for i, line := range lines {
		lines[i] = uuidText.ReplaceAllStringFunc(line, func(id string) string {
			if name, ok := s.names[id]; ok {
				return "<" + name + ">"
			}
			return id
		})
	}
	lines = append(lines, placementLines(t, s.placement.Placement)...)
	for _, d := range plan.Devices {
		lines = append(lines, fmt.Sprintf("next report %s %s", d.Verdict, d.Device()))
	}
	for _, p := range plan.Problems {
		lines = append(lines, "next report "+p.String())
	}
	slices.Sort(lines)
	return lines
}

func (s *crashScene) check(t *testing.T, rows tables, plan reconcile.Plan) {
	t.Helper()
	s.checkProviders(t, rows, plan)
	owner := map[string]map[string]any{} // of a handle, by its id
	for _, q := range rows["extended_accelerator_requests"] {
		if id := plain(q["attach_handle_id"]); id != "NULL" {
			if owner[id] != nil {
				t.Errorf("handle %s belongs to two requests", id)
			}
			owner[id] = q
		}
		s.mu.Lock()
		if told, want := s.told[plain(q["uuid"])], eventOf(plain(q["state"])); told != want {
			t.Errorf("request %s is %s and Nova was told %q", s.names[plain(q["uuid"])], plain(q["state"]), told)
		}
		s.mu.Unlock()
	}
	mdevs := map[string]bool{} // that may exist, since somebody will remove them; those that must are true
	for _, h := range rows["attach_handles"] {
		q := owner[plain(h["id"])]
		if used := plain(h["in_use"]) == "1"; used != (q != nil) {
			t.Errorf("handle %s: in use %t, request %v", plain(h["attach_info"]), used, q)
		}
		if q != nil && plain(h["attach_type"]) == string(arq.HandleMDEV) {
			mdevs[plain(h["uuid"])] = plain(q["state"]) == string(arq.Bound)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.mdevs {
		if _, ok := mdevs[id]; !ok {
			t.Errorf("a mediated device exists that nobody will remove")
		}
	}
	for id, bound := range mdevs {
		if bound && !s.mdevs[id] {
			t.Errorf("a bound request has no mediated device")
		}
	}
	for _, p := range rows["deployables"] {
		if image := plain(p["bitstream_id"]); image != "NULL" && image != s.loaded {
			t.Errorf("%s is said to carry %s and carries %s", plain(p["name"]), image, s.loaded)
		}
	}
}

// checkProviders: a provider has a row, or the plan of the next report names it.
func (s *crashScene) checkProviders(t *testing.T, rows tables, plan reconcile.Plan) {
	t.Helper()
	names := map[string]bool{hostname: true}
	for _, p := range rows["deployables"] {
		names[plain(p["name"])] = true
	}
	for _, p := range plan.Problems {
		if p.Reason == reconcile.ReasonOrphan {
			names[p.Deployable] = true
		}
	}
	for _, p := range s.placement.Placement.Providers("", "", "") {
		if !names[p.Name] {
			t.Errorf("provider %s has no row", p.Name)
		}
	}
}
