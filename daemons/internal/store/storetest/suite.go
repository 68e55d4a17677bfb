package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Target is one database at store.Head.
type Target struct {
	// Engine is its name: mysql, postgres or sqlite.
	Engine string
	// Open opens a store on it, closed when the test ends. change may be nil.
	Open func(t testing.TB, change func(*store.Config)) *store.Store
	// Raw gives a store's own connections, to write what only a peer writes.
	Raw func(*store.Store) *sql.DB
}

// Run runs every case and returns how many passed.
func Run(t *testing.T, target Target) int {
	var passed atomic.Int32
	t.Run(target.Engine, func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				t.Cleanup(func() {
					if !t.Failed() {
						passed.Add(1)
					}
				})
				c.run(t, target)
			})
		}
	})
	return int(passed.Load())
}

type testCase struct {
	name string
	run  func(*testing.T, Target)
}

var cases = []testCase{
	{"NULL in_use is free", nullInUse},
	{"insert refuses what the engine refuses", insertRefused},
	{"commit refuses to touch what is held", commitHeld},
	{"remove a tree of deployables", removeTree},
	{"remove keeps what is held", removeHeld},
	{"remove what was half made", halfMade},
	{"create requests", createRequests},
	{"bind and unbind", bindAndUnbind},
	{"bind refusals", bindRefusals},
	{"bind with an outside step", bindSteps},
	{"programming", programming},
	{"nvme life", nvmeLife},
	{"nvme withdrawn in the middle of a bind", withdrawnMeanwhile},
	{"nvme claimed in the middle of a bind", claimedMeanwhile},
	{"a handle that two requests name stays in use", sharedHandle},
	{"200 binds on one deployable with 50 handles", raceOneDeployable},
	{"200 binds on 50 deployables", raceManyDeployables},
	{"two stores bind at once", raceTwoStores},
	{"binds against removals", raceRemoval},
	{"overlapping inserts", raceInsert},
	{"update attach_info", updateAttachInfo},
	{"update attach_info against a bind", raceUpdate},
	{"row lists", rowLists},
	{"device profiles", profiles},
	{"api lists", apiLists},
	{"request lists take two queries", requestStatements},
	{"inventory takes five queries", inventoryStatements},
	{"statement budgets", statements},
	{"sweeps", sweeps},
	{"healing", healing},
	{"text is kept byte for byte", texts},
	{"a transaction runs again after conflicts", retries},
	{"a commit without an answer", lostCommit},
	{"an error at every point leaves rows as before", faultEverywhere},
	{"cancelled contexts", cancelled},
	{"rows of a report", func(t *testing.T, target Target) {
		RunReconcile(t, func(t testing.TB) reconcile.Store { return target.Open(t, nil) })
	}},
}

// RunReconcile runs the cases of a [reconcile.Store] alone, on whatever keeps
// the rows.
func RunReconcile(t *testing.T, open func(testing.TB) reconcile.Store) {
	for name, run := range map[string]func(*rows){
		"insert and read an inventory":              insertAndRead,
		"insert is all or nothing and meets itself": insertTwice,
		"an offer follows its claim":                offerClaims,
		"commit writes row steps":                   commitSteps,
		"commit refuses a stale plan":               commitStale,
		"remove":                                    removeDevice,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(&rows{TB: t, Store: open(t), host: "host-" + uuid.NewString(), ctx: context.Background()})
		})
	}
}

// rows is the report's side of a store, on a host of its own.
type rows struct {
	testing.TB
	reconcile.Store
	host string
	ctx  context.Context
}

// fixture is one store with names of its own.
type fixture struct {
	*testing.T
	*store.Store
	target Target
	host   string
	ctx    context.Context
	db     *sql.DB
}

func newFixture(t *testing.T, target Target, change func(*store.Config)) *fixture {
	s := target.Open(t, change)
	return &fixture{T: t, Store: s, target: target, host: "host-" + uuid.NewString(), ctx: context.Background(), db: target.Raw(s)}
}

// report is the fixture's side of a report.
func (f *fixture) report() *rows {
	return &rows{TB: f.T, Store: f.Store, host: f.host, ctx: f.ctx}
}

func (f *fixture) insert(ds ...reconcile.Device) []reconcile.Device {
	f.Helper()
	return f.report().insert(ds...)
}

func (f *fixture) offer(ds []reconcile.Device) {
	f.Helper()
	f.report().offer(ds)
}

func (f *fixture) ok2(lost []reconcile.Claim, err error) {
	f.Helper()
	f.report().ok2(lost, err)
}

func (f *fixture) inventory() []reconcile.Device {
	f.Helper()
	return f.report().inventory()
}

func (f *fixture) device(n, handles int) reconcile.Device { return newDevice(f.host, n, handles) }

// raw runs statements as a peer would.
func (f *fixture) raw(format string, args ...any) {
	f.Helper()
	query := fmt.Sprintf(format, args...)
	if _, err := f.db.Exec(query); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
}

// rawString reads one value as text.
func (f *fixture) rawString(format string, args ...any) string {
	f.Helper()
	query := fmt.Sprintf(format, args...)
	var v sql.NullString
	if err := f.db.QueryRow(query).Scan(&v); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	if !v.Valid {
		return "NULL"
	}
	return v.String
}

func (f *fixture) ok(err error) {
	f.Helper()
	f.report().ok(err)
}

func (f *rows) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// pciInfo is an attach_info as drivers write it.
func pciInfo(bus, slot, function int) string {
	return fmt.Sprintf(`{"bus": "%02x", "device": "%02x", "domain": "0000", "function": "%d"}`, bus, slot, function)
}

func (f *rows) device(n, handles int) reconcile.Device { return newDevice(f.host, n, handles) }

// newDevice describes a reported device with one deployable.
func newDevice(host string, n, handles int) reconcile.Device {
	name := fmt.Sprintf("%s_%d", host, n)
	board := `{"device": "0x1533"}`
	d := reconcile.Device{
		Type: "GPU", Vendor: "0x10de", Model: "A100", StdBoardInfo: &board,
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: pciInfo(n>>5, n&31, 0)},
		Deployables: []reconcile.Deployable{{
			Name: name, NumAccelerators: handles,
			Attributes: []reconcile.Attribute{{Key: "rc", Value: "CUSTOM_GPU"}, {Key: "trait0", Value: "CUSTOM_A100"}},
		}},
	}
	for i := range handles {
		d.Deployables[0].Handles = append(d.Deployables[0].Handles, reconcile.Handle{Type: arq.HandlePCI, Info: pciInfo(n>>5, n&31, i+1)})
	}
	return d
}

// insert stores devices and puts every deployable on offer.
func (f *rows) insert(ds ...reconcile.Device) []reconcile.Device {
	f.Helper()
	out, err := f.Insert(f.ctx, f.host, ds)
	f.ok(err)
	f.offer(out)
	return f.inventory()
}

func (f *rows) offer(ds []reconcile.Device) {
	f.Helper()
	var claims []reconcile.Claim
	for _, d := range ds {
		for _, p := range d.Deployables {
			claims = append(claims, reconcile.Claim{ID: p.ID, UpdatedAt: p.UpdatedAt, Offer: provider(p.Name)})
		}
	}
	lost, err := f.Offer(f.ctx, claims)
	f.ok(err)
	if len(lost) > 0 {
		f.Fatalf("lost claims: %v", lost)
	}
}

func provider(name string) string { return uuid.NewMD5(uuid.NameSpaceDNS, []byte(name)).String() }

func (f *rows) inventory() []reconcile.Device {
	f.Helper()
	inv, err := f.Inventory(f.ctx, f.host)
	f.ok(err)
	return inv.Devices
}

// profile stores a device profile with one group.
func (f *fixture) profile() store.Profile {
	f.Helper()
	p, err := f.CreateProfile(f.ctx, store.Profile{
		Name: "profile-" + uuid.NewString(), Groups: []arq.Group{{{Key: "resources:CUSTOM_GPU", Value: "1"}}},
	})
	f.ok(err)
	return p
}

// requests creates n requests.
func (f *fixture) requests(n int) []arq.Request {
	f.Helper()
	p := f.profile()
	news := make([]arq.New, n)
	for i := range news {
		news[i] = arq.New{ProfileName: p.Name, ProjectID: "project-1"}
	}
	qs, err := f.CreateARQs(f.ctx, news)
	f.ok(err)
	return qs
}

// bindTo describes a bind of a request to a deployable on offer.
func (f *fixture) bindTo(q arq.Request, p reconcile.Deployable) arq.Bind {
	return arq.Bind{UUID: q.UUID, Hostname: f.host, DeviceRPUUID: p.Offer, InstanceUUID: uuid.NewString(), ProjectID: "project-1"}
}

// counter counts the statements of a store.
type counter struct{ reads, writes, all atomic.Int32 }

func (c *counter) count(p store.Point) error {
	c.all.Add(1)
	switch p.Stage {
	case store.StageRead:
		c.reads.Add(1)
	case store.StageWrite:
		c.writes.Add(1)
	}
	return nil
}

func (c *counter) reset() { c.reads.Store(0); c.writes.Store(0); c.all.Store(0) }
