package conductor_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

// The devices of the crash scene that requests are bound to, one of each way to bind, and the one that is held.
const (
	crashPlain = 0
	crashNVMe  = 1
	crashHeld  = 4
	crashMdev  = 7
	crashFPGA  = 8
)

// crashBefore are the devices before the report.
func crashBefore() []*cyborg.DriverDevice {
	return []*cyborg.DriverDevice{
		device(hostname, crashPlain, 1), nvmeDevice(crashNVMe), device(hostname, 2, 2), device(hostname, 3, 1),
		device(hostname, crashHeld, 1), mdevDevice(crashMdev), fpgaDevice(crashFPGA),
	}
}

// crashAfter changes a trait of the plain device and the number of units of device 2, leaves out the free device 3 and
// the held one, and adds two.
func crashAfter() []*cyborg.DriverDevice {
	plain := device(hostname, crashPlain, 1)
	plain.DeployableList.Value()[0].AttributeList.Value()[2].Value = ovo.Of("CUSTOM_PCI_PRODUCT_ID_CAFE")
	return []*cyborg.DriverDevice{
		plain, nvmeDevice(crashNVMe), device(hostname, 2, 3), device(hostname, 5, 1), device(hostname, 6, 2),
		mdevDevice(crashMdev), fpgaDevice(crashFPGA),
	}
}

func nvmeDevice(i int) *cyborg.DriverDevice {
	d := device(hostname, i, 1)
	d.Type = ovo.Of(cyborg.NVME)
	d.DeviceState = ovo.NullOf(cyborg.Available)
	return d
}

func mdevDevice(i int) *cyborg.DriverDevice {
	d := device(hostname, i, 1)
	handle := d.DeployableList.Value()[0].AttachHandleList.Value()[0]
	handle.AttachType = ovo.Of("MDEV")
	handle.AttachInfo = ovo.Of(strings.TrimSuffix(handle.AttachInfo.Value(), "}") + `, "asked_type": "nvidia-223", "vgpu_mark": "nvidia-223_0"}`)
	return d
}

func fpgaDevice(i int) *cyborg.DriverDevice {
	d := device(hostname, i, 1)
	d.Type = ovo.Of(cyborg.FPGA)
	d.DeployableList.Value()[0].AttributeList.Value()[0].Value = ovo.Of("FPGA")
	return d
}

func crashName(i int) string { return fmt.Sprintf("%s_%04d", hostname, i) }

// crashScene is what outlives a conductor: a database file with the devices of crashBefore, Placement, Nova and an agent.
// One device is held by a bound request, four more requests wait. The FPGA carries an image of old.
type crashScene struct {
	file      string
	placement *placementtest.Handler
	services  http.Handler // all of them
	patches   [][]crashBind
	names     map[string]string // of the rows that were there, by UUID

	mu     sync.Mutex
	told   map[string]string // what Nova was told last, by request
	mdevs  map[string]bool   // that exist, by handle
	loaded string            // image of the FPGA
}

// oldImage is what the FPGA carries at first.
const oldImage = "a0000000-0000-0000-0000-00000000000a"

func newCrashScene(t *testing.T) *crashScene {
	t.Helper()
	s := &crashScene{
		file: filepath.Join(t.TempDir(), "cyborg.sqlite"), placement: newHosts(t, hostname),
		names: map[string]string{}, told: map[string]string{}, mdevs: map[string]bool{}, loaded: oldImage,
	}
	mux := http.NewServeMux()
	mux.Handle("/placement/", http.StripPrefix("/placement", s.placement))
	mux.HandleFunc("POST /nova/os-server-external-events", func(_ http.ResponseWriter, r *http.Request) { s.hear(t, r) })
	mux.HandleFunc("POST /agent/{what}", s.agent)
	s.services = mux

	c := s.start(t)
	defer c.stop(t)
	c.report(t, crashBefore())
	request := func(device int, guest string, g arq.Group) crashBind {
		name := fmt.Sprint("of device ", device)
		p, err := c.store.CreateProfile(t.Context(), store.Profile{Name: name, Groups: []arq.Group{g}})
		if err != nil {
			t.Fatal(err)
		}
		made, err := c.store.CreateARQs(t.Context(), []arq.New{{ProfileID: p.ID, ProjectID: "p"}})
		if err != nil {
			t.Fatal(err)
		}
		return crashBind{made[0].UUID, device, guest}
	}
	class := arq.Group{{Key: "resources:CUSTOM_PCI", Value: "1"}}
	function := arq.Group{{Key: "resources:FPGA", Value: "1"}, {Key: "accel:function_id", Value: "d8424dc4a4a3c413f89e433683f9040b"}}
	if err := crashPatch(t.Context(), c.manager, []crashBind{request(crashHeld, "i", class)}); err != nil {
		t.Fatal(err)
	}
	s.patches = [][]crashBind{
		{request(crashPlain, instance, class), request(crashNVMe, instance, class), request(crashMdev, instance, class)},
		{request(crashFPGA, "0b8f8f55-0000-4000-8000-000000000002", function)},
	}
	s.look(t, func(db *sql.DB) {
		if _, err := db.ExecContext(t.Context(), "UPDATE deployables SET bitstream_id = ? WHERE name = ?", oldImage, crashName(crashFPGA)); err != nil {
			t.Fatal(err)
		}
		for table, rows := range dumpRows(t, db) {
			for i, row := range rows {
				s.names[plain(row["uuid"])] = table + " " + strconv.Itoa(i)
			}
		}
	})
	return s
}

// hear is Nova. What it is told must be in the database already: nobody would repeat it.
func (s *crashScene) hear(t *testing.T, r *http.Request) {
	ctx := context.WithoutCancel(r.Context()) // who tells may be killed
	var body nova.Body
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return // cut off: nobody was told
	}
	s.look(t, func(db *sql.DB) {
		for _, e := range body.Events {
			var state string
			if err := db.QueryRowContext(ctx, "SELECT state FROM extended_accelerator_requests WHERE uuid = ?", e.Tag).Scan(&state); err != nil {
				t.Error(err)
			}
			if e.Status != eventOf(state) {
				t.Errorf("Nova was told %q of a request that is %s", e.Status, state)
			}
			s.mu.Lock()
			s.told[e.Tag] = e.Status
			s.mu.Unlock()
		}
	})
}

// eventOf is what Nova has to know of a request, "" when nothing.
func eventOf(state string) string {
	switch arq.State(state) {
	case arq.Bound:
		return nova.StatusCompleted
	case arq.BindFailed:
		return nova.StatusFailed
	}
	return ""
}

// agent does what an agent does, as the kernel would let it.
func (s *crashScene) agent(w http.ResponseWriter, r *http.Request) {
	var step crashStep
	if err := json.NewDecoder(r.Body).Decode(&step); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch exists := s.mdevs[step.Handle]; r.PathValue("what") {
	case "create":
		if exists {
			w.WriteHeader(http.StatusConflict)
		}
		s.mdevs[step.Handle] = true
	case "remove":
		if !exists {
			w.WriteHeader(http.StatusNotFound)
		}
		delete(s.mdevs, step.Handle)
	case "program":
		s.loaded = step.Image
	}
}

// look opens the database for a moment: a connection that stays would keep the file from being recovered.
func (s *crashScene) look(t *testing.T, f func(*sql.DB)) {
	t.Helper()
	db, err := sql.Open("sqlite", s.file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Error(err)
		return
	}
	f(db)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// crashed is how a child ended.
type crashed struct {
	killed bool
	points int // write points of one that was not killed
	took   time.Duration
}

// run lets a child do the job. When after is positive it is killed that long after it began.
func (s *crashScene) run(t *testing.T, job crashJob, after time.Duration) crashed {
	t.Helper()
	server := httptest.NewServer(s.services)
	defer server.Close() // waits for what is being answered to a child that is gone
	job.File, job.URL = s.file, server.URL
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), crashVariable+"="+string(text), "GORACE=atexit_sleep_ms=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Scan() // the child begins
	began := time.Now()
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	lines.Scan()
	end := crashed{took: time.Since(began)}
	end.points, _ = strconv.Atoi(lines.Text())
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		end.killed = true
	case err != nil:
		t.Fatalf("child: %v: %s", err, stderr.String())
	}
	return end
}
