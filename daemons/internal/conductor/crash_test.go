package conductor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/inventory"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

// crashVariable makes the test binary a conductor that does one [crashJob] and may be killed in it.
const crashVariable = "CONDUCTOR_TEST_CHILD"

// crashJob is what the child does.
type crashJob struct {
	File      string // of the database
	Placement string // URL
	Bind      []string
	// Point is the write point at which the child kills itself; negative never.
	Point int
}

// writePoints counts the points around everything that a process leaves behind: statements that write, commits, and
// requests to Placement before they are sent and after their answer.
type writePoints struct {
	http.RoundTripper
	kill int64
	n    atomic.Int64
}

func (w *writePoints) pass() {
	if w.n.Add(1)-1 == w.kill {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (w *writePoints) fault(p store.Point) error {
	switch p.Stage {
	case store.StageWrite, store.StageCommit, store.StageCommitted:
		w.pass()
	}
	return nil
}

func (w *writePoints) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return w.RoundTripper.RoundTrip(r)
	}
	w.pass()
	resp, err := w.RoundTripper.RoundTrip(r)
	if err == nil { // the answer is read before the point, or it would be lost with the process anyway
		raw, readErr := io.ReadAll(resp.Body)
		resp.Body.Close()
		resp.Body, err = io.NopCloser(bytes.NewReader(raw)), readErr
	}
	w.pass()
	return resp, err
}

// crashChild is the child's main function.
func crashChild(text string) error {
	var job crashJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		return err
	}
	ctx := context.Background()
	points := &writePoints{RoundTripper: http.DefaultTransport, kill: int64(job.Point)}
	db, err := store.Open(ctx, store.Config{URL: "sqlite:///" + job.File, Unsynced: true, Fault: points.fault})
	if err != nil {
		return err
	}
	client := placement.NewNoAuth(job.Placement, &http.Client{Transport: points}, placement.Config{})
	if job.Bind == nil {
		want, err := crashReport()
		if err != nil {
			return err
		}
		_, err = (&reconcile.Runner{Store: db, Placement: client, Parallel: 1}).Run(ctx, hostname, want)
		return errors.Join(err, db.Close())
	}
	return errors.Join(crashBind(ctx, db, client, job.Bind), db.Close())
}

func crashBind(ctx context.Context, db *store.Store, client *placement.Client, uuids []string) error {
	registry, err := cyborg.NewRegistry()
	if err != nil {
		return err
	}
	dispatcher, err := cyborg.Local(db).Dispatcher(registry)
	if err != nil {
		return err
	}
	manager, err := conductor.New(conductor.Config{
		Store: db, Placement: client, Providers: client, Notifier: &nova.Recorder{}, Agents: &agents{}, Registry: registry, Dispatcher: dispatcher,
	})
	if err != nil {
		return err
	}
	var patches cyborgrpc.ARQPatches
	valid := map[string]cyborgrpc.ARQFields{}
	for i, id := range uuids {
		patches = append(patches, binding(id, "0"))
		provider, host, guest := reconcile.ProviderUUID(crashName(i)), hostname, instance
		valid[id] = cyborgrpc.ARQFields{Hostname: &host, DeviceRPUUID: &provider, InstanceUUID: &guest}
	}
	return errors.Join(conductor.ApplyPatch(ctx, manager, cyborgrpc.ARQApplyPatchArgs{Patches: patches, ValidFields: valid}), manager.Close(ctx))
}

// The devices of the crash scene: those before the report, and the report.
func crashBefore() []*cyborg.DriverDevice {
	return []*cyborg.DriverDevice{device(hostname, 0, 1), nvmeDevice(1), device(hostname, 2, 2), device(hostname, 3, 1), device(hostname, 4, 1)}
}

// crashAfter changes the number of units of device 2, leaves out the free device 3 and the held device 4, and adds two.
func crashAfter() []*cyborg.DriverDevice {
	return []*cyborg.DriverDevice{device(hostname, 0, 1), nvmeDevice(1), device(hostname, 2, 3), device(hostname, 5, 1), device(hostname, 6, 2)}
}

func nvmeDevice(i int) *cyborg.DriverDevice {
	d := device(hostname, i, 1)
	d.Type = ovo.Of(cyborg.NVME)
	d.DeviceState = ovo.NullOf(cyborg.Available)
	return d
}

func crashReport() (want []reconcile.Device, err error) {
	for _, o := range crashAfter() {
		d, err := inventory.Reported(o)
		if err != nil {
			return nil, err
		}
		want = append(want, d)
	}
	return want, nil
}

func crashName(i int) string { return fmt.Sprintf("%s_%04d", hostname, i) }

// crashScene is a database file and a Placement with the devices of crashBefore; device 4 is held by a bound request,
// two more requests wait.
type crashScene struct {
	file   string
	h      *placementtest.Handler
	server *httptest.Server
	waits  []string
	known  map[string]bool // UUIDs of the rows that were there
}

func newCrashScene(t *testing.T) *crashScene {
	t.Helper()
	s := &crashScene{file: filepath.Join(t.TempDir(), "cyborg.sqlite"), h: newHosts(t, hostname)}
	s.server = httptest.NewServer(s.h)
	t.Cleanup(s.server.Close)
	r := newRig(t, rigConfig{File: s.file, Placement: placementtest.Client(s.h).Transport})
	defer r.stop()
	if err := r.conductor.ReportData(as(t, true, ""), hostname, crashBefore()); err != nil {
		t.Fatal(err)
	}
	p := r.profile(t)
	held := r.request(t, p, "p")
	s.waits = []string{r.request(t, p, "p"), r.request(t, p, "p")}
	_, err := r.store.Begin(t.Context(), arq.Bind{UUID: held, Hostname: hostname, DeviceRPUUID: reconcile.ProviderUUID(crashName(4)), InstanceUUID: "i"})
	if err != nil {
		t.Fatal(err)
	}
	s.known = dumpRows(t, r.db).uuids()
	return s
}

// run lets a child do the job; it reports whether the child was killed.
func (s *crashScene) run(t *testing.T, bind bool, point int, after time.Duration) bool {
	t.Helper()
	job := crashJob{File: s.file, Placement: s.server.URL, Point: point}
	if bind {
		job.Bind = s.waits
	}
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), crashVariable+"="+string(text))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("child: %v: %s", err, stderr.String())
	}
	return false
}

// recover is what happens after a restart: the sweep of a later minute, one more report.
func (s *crashScene) recover(t *testing.T, report []*cyborg.DriverDevice) []string {
	t.Helper()
	var manager *conductor.Manager
	r := newRig(t, rigConfig{File: s.file, Placement: placementtest.Client(s.h).Transport, Configure: func(c *conductor.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Hour) }
		m, err := conductor.New(*c)
		if err != nil {
			t.Fatal(err)
		}
		manager = m
	}})
	defer r.stop()
	if err := manager.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.conductor.ReportData(as(t, true, ""), hostname, report); err != nil {
		t.Fatal(err)
	}
	rows := dumpRows(t, r.db)
	names := map[string]bool{hostname: true}
	for _, p := range rows["deployables"] {
		names[plain(p["name"])] = true
	}
	for _, p := range s.h.Placement.Providers("", "", "") {
		if !names[p.Name] {
			t.Errorf("provider %s has no row", p.Name)
		}
	}
	lines := rows.lines(s.known)
	for i, line := range lines { // UUIDs differ from scene to scene: all that counts is that they stayed
		lines[i] = uuidText.ReplaceAllStringFunc(line, func(id string) string {
			if s.known[id] {
				return "kept"
			}
			return id
		})
	}
	slices.Sort(lines)
	return append(lines, placementLines(t, s.h.Placement)...)
}

// TestKilledReport kills a conductor at every write point of a report, and at random times: after one more report the
// state is that of an undisturbed run, and no provider is without a row.
func TestKilledReport(t *testing.T) {
	t.Parallel()
	undisturbed := newCrashScene(t)
	start := time.Now()
	if undisturbed.run(t, false, -1, 0) {
		t.Fatal("the undisturbed child was killed")
	}
	took := time.Since(start)
	want := undisturbed.recover(t, crashAfter())
	points := 0
	for killed := true; killed; points++ {
		s := newCrashScene(t)
		killed = s.run(t, false, points, 0)
		if diff := cmp.Diff(want, s.recover(t, crashAfter())); diff != "" {
			t.Errorf("killed at point %d: %s", points, diff)
		}
	}
	kills := 0
	for tries := 0; kills < crashTimes(t) && tries < 500; tries++ {
		s := newCrashScene(t)
		if !s.run(t, false, -1, rand.N(took)) {
			continue
		}
		kills++
		if diff := cmp.Diff(want, s.recover(t, crashAfter())); diff != "" {
			t.Errorf("killed at a random time: %s", diff)
		}
	}
	fmt.Fprintf(os.Stdout, "crash test: report killed at %d write points and %d random times\n", points-1, kills)
	if points < 20 {
		t.Errorf("only %d write points", points)
	}
}

func crashTimes(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		return 5
	}
	return 50
}

// TestKilledBind kills a conductor at every write point of a patch that binds a plain request and one of an NVMe
// device: each request is bound, has failed or was never begun, and nothing else differs.
func TestKilledBind(t *testing.T) {
	t.Parallel()
	before := newCrashScene(t).recover(t, crashBefore())
	undisturbed := newCrashScene(t)
	undisturbed.run(t, true, -1, 0)
	after := undisturbed.recover(t, crashBefore())
	if len(slices.Collect(matching(after, "state=Bound"))) != 3 {
		t.Fatalf("the undisturbed child did not bind both requests: %v", after)
	}
	allowed := map[string]bool{}
	for _, line := range slices.Concat(before, after) {
		allowed[line] = true
	}
	points := 0
	for killed := true; killed; points++ {
		s := newCrashScene(t)
		killed = s.run(t, true, points, 0)
		got := s.recover(t, crashBefore())
		bound, used := 0, 0
		for _, line := range got {
			if strings.HasPrefix(line, "arq ") && strings.Contains(line, "state=Bound") {
				bound++
			}
			if strings.HasPrefix(line, "handle ") && strings.Contains(line, "in_use=1") {
				used++
			}
			if strings.HasPrefix(line, "arq ") && strings.Contains(line, "state=BindFailed") && strings.Contains(line, "handle=NULL") {
				continue
			}
			if !allowed[line] {
				t.Errorf("killed at point %d: %s", points, line)
			}
		}
		if bound != used {
			t.Errorf("killed at point %d: %d requests bound, %d handles in use", points, bound, used)
		}
	}
	fmt.Fprintf(os.Stdout, "crash test: bind killed at %d write points\n", points-1)
	if points < 8 {
		t.Errorf("only %d write points", points)
	}
}

func matching(lines []string, part string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, line := range lines {
			if strings.Contains(line, part) && !yield(line) {
				return
			}
		}
	}
}
