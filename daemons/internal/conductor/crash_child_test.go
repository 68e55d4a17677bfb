package conductor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/glance"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/rpc"
)

// crashVariable makes the test binary a conductor that does one [crashJob] and may be killed in it.
const crashVariable = "CONDUCTOR_TEST_CHILD"

// crashJob is what the child does: a report, or the patches.
type crashJob struct {
	File    string // of the database
	URL     string // of the scene's services
	Patches [][]crashBind
	// Point is the write point at which the child kills itself; negative never.
	Point int
	// Workers write to Placement at once; 0 means the conductor's default. With one the write points have an order.
	Workers int
}

// crashBind is one request of a patch.
type crashBind struct {
	ARQ      string
	Device   int // see [crashName]
	Instance string
}

// writePoints counts the points around everything that a process leaves behind: statements that write, commits, and
// requests to other services before they are sent and after their answer.
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

// crashChild is the child's main function. It says that it begins, does its job, and says how many write points it had.
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
	cfg, err := crashConfig(db, job.URL, &http.Client{Transport: points})
	if err != nil {
		return err
	}
	cfg.PlacementWorkers = job.Workers
	manager, err := conductor.New(cfg)
	if err != nil {
		return err
	}
	fmt.Println("begins")
	if job.Patches == nil {
		err = crashReport(ctx, manager, crashAfter())
	}
	for _, patch := range job.Patches {
		err = errors.Join(err, crashPatch(ctx, manager, patch))
	}
	err = errors.Join(err, manager.Close(ctx), db.Close())
	fmt.Println(points.n.Load())
	return err
}

// crashConfig is a conductor on a scene's services, in whichever process.
func crashConfig(db *store.Store, url string, client *http.Client) (conductor.Config, error) {
	registry, err := cyborg.NewRegistry()
	if err != nil {
		return conductor.Config{}, err
	}
	dispatcher, err := cyborg.Local(db).Dispatcher(registry)
	providers := placement.NewNoAuth(url+"/placement", client, placement.Config{})
	return conductor.Config{
		Store: db, Placement: providers, Providers: providers, Registry: registry, Dispatcher: dispatcher, Images: crashImages{},
		Notifier: nova.New(&gophercloud.ServiceClient{ProviderClient: &gophercloud.ProviderClient{HTTPClient: *client}, Endpoint: url + "/nova/"}),
		Agents:   crashAgents{url + "/agent/", client},
	}, err
}

func crashReport(ctx context.Context, m *conductor.Manager, report []*cyborg.DriverDevice) error {
	return conductor.ReportData(ctx, m, cyborgrpc.ReportDataArgs{Hostname: hostname, Devices: crashReported(report)})
}

func crashReported(report []*cyborg.DriverDevice) (out []cyborgrpc.ReportedDevice) {
	for _, d := range report {
		out = append(out, cyborgrpc.ReportedDevice{Device: d})
	}
	return out
}

func crashPatch(ctx context.Context, m *conductor.Manager, binds []crashBind) error {
	args := cyborgrpc.ARQApplyPatchArgs{ValidFields: map[string]cyborgrpc.ARQFields{}}
	for _, b := range binds {
		provider, host, guest := reconcile.ProviderUUID(crashName(b.Device)), hostname, b.Instance
		args.Patches = append(args.Patches, patches([]string{b.ARQ}, cyborgrpc.OpAdd)...)
		args.ValidFields[b.ARQ] = cyborgrpc.ARQFields{Hostname: &host, DeviceRPUUID: &provider, InstanceUUID: &guest}
	}
	return conductor.ApplyPatch(ctx, m, args)
}

// crashImage is the one image there is, under every name.
const crashImage = "b5f0e0a0-0000-0000-0000-000000000001"

type crashImages struct{}

func (crashImages) ByID(context.Context, string) (glance.Image, error) {
	return glance.Image{ID: crashImage}, nil
}

func (crashImages) ByFunction(context.Context, string) (glance.Image, error) {
	return glance.Image{ID: crashImage}, nil
}

// crashAgents calls the scene's agent.
type crashAgents struct {
	url    string
	client *http.Client
}

// crashStep is what an agent is asked to do.
type crashStep struct{ Handle, Device, Image string }

func (a crashAgents) call(ctx context.Context, what string, step crashStep) error {
	text, err := json.Marshal(step)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+what, bytes.NewReader(text))
	if err != nil {
		return err
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound: // as Cyborg 17's agent answers
		return &rpc.RemoteError{Class: cyborgrpc.ErrNoMdev, Message: "[Errno 2] No such file or directory"}
	}
	return fmt.Errorf("%s: %s", what, resp.Status)
}

func (a crashAgents) CreateVGPUMdev(ctx context.Context, _ string, args cyborgrpc.MdevArgs) error {
	return a.call(ctx, "create", crashStep{Handle: args.AHUUID})
}

func (a crashAgents) RemoveVGPUMdev(ctx context.Context, _ string, args cyborgrpc.MdevArgs) error {
	return a.call(ctx, "remove", crashStep{Handle: args.AHUUID})
}

func (a crashAgents) FPGAProgram(ctx context.Context, _ string, args cyborgrpc.FPGAProgramArgs) (bool, error) {
	err := a.call(ctx, "program", crashStep{Device: string(args.ControlpathID.CpidInfo), Image: args.BitstreamUUID})
	return err == nil, err
}
