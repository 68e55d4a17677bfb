package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// driver is a driver under test's control.
type driver struct {
	needs   agent.Needs
	initErr error

	mu       sync.Mutex
	discover func() ([]*cyborg.DriverDevice, error)
	asked    int
}

func (*driver) Name() string { return "test_driver" }

func (d *driver) InitHost(context.Context, agent.Caps) (agent.Needs, error) {
	return d.needs, d.initErr
}

func (d *driver) Discover(context.Context) ([]*cyborg.DriverDevice, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	return d.discover()
}

// finds changes what the host has.
func (d *driver) finds(discover func() ([]*cyborg.DriverDevice, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.discover = discover
}

// cpid and the texts of one device.
const (
	cpid      = `{"bus": "25", "device": "00", "domain": "0000", "function": "4"}`
	managed   = `{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": true}`
	unmanaged = `{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": false}`
)

// device is what a driver reports of the one device.
func device(info string) func() ([]*cyborg.DriverDevice, error) {
	return func() ([]*cyborg.DriverDevice, error) {
		return []*cyborg.DriverDevice{{
			Vendor: ovo.Of("10de"), Model: ovo.Of("25b6"), Type: ovo.Of(cyborg.GPU),
			StdBoardInfo: ovo.NullOf("{}"), VendorBoardInfo: ovo.NullOf("-"),
			ControlpathID: ovo.Of(&cyborg.DriverControlPathID{CpidType: ovo.Of("PCI"), CpidInfo: ovo.Of(cpid)}),
			DeployableList: ovo.Of([]*cyborg.DriverDeployable{{
				Name: ovo.Of("h_0000:25:00.4"), NumAccelerators: ovo.Of[int64](1),
				AttachHandleList: ovo.NullOf([]*cyborg.DriverAttachHandle{{AttachType: ovo.Of("PCI"), AttachInfo: ovo.Of(info)}}),
			}}),
		}}, nil
	}
}

// conductor keeps reports; it is also the persisted state, one device with one handle.
type conductor struct {
	minor    int
	reportFn func() error

	mu        sync.Mutex
	reports   []string // attach_info as reported
	stubs     []string // cpid_info of reported stubs
	reads     int
	readErr   error
	info      string // stored attach_info; "" for no device
	cpid      string
	inUse     bool
	named     bool
	updates   []cyborg.AttachInfoUpdate
	updateErr error
}

func (c *conductor) SupportsObjectIndirection() bool { return c.minor >= 1 }
func (c *conductor) Cap() rpc.Version                { return rpc.Version{Major: 1, Minor: c.minor} }

func (c *conductor) ReportData(_ context.Context, _ string, devices []*cyborg.DriverDevice) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range devices {
		if d.Stub.Value() {
			c.stubs = append(c.stubs, d.ControlpathID.Value().CpidInfo.Value())
		}
		for _, dep := range d.DeployableList.Value() {
			for _, h := range dep.AttachHandleList.Value() {
				c.reports = append(c.reports, d.ControlpathID.Value().CpidInfo.Value()+" "+h.AttachInfo.Value())
			}
		}
	}
	if c.reportFn != nil {
		return c.reportFn()
	}
	return nil
}

func (c *conductor) Devices(context.Context, string) (*cyborg.DeviceList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	if c.info == "" {
		return ovo.ListOf[cyborg.DeviceList]([]*cyborg.Device{}), c.readErr
	}
	return ovo.ListOf[cyborg.DeviceList]([]*cyborg.Device{{
		ID: ovo.Of[int64](1), Hostname: ovo.Of("h"), Type: ovo.Of(cyborg.GPU), Vendor: ovo.Of("10de"), Model: ovo.Of("25b6"),
	}}), c.readErr
}

func (c *conductor) ControlpathIDs(context.Context, string) (*cyborg.ControlpathIDList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	return ovo.ListOf[cyborg.ControlpathIDList]([]*cyborg.ControlpathID{{
		ID: ovo.Of[int64](2), DeviceID: ovo.Of[int64](1), CpidType: ovo.Of(cyborg.ControlpathPCI), CpidInfo: ovo.Of(c.cpid),
	}}), c.readErr
}

func (c *conductor) Deployables(context.Context, string) (*cyborg.DeployableList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	return ovo.ListOf[cyborg.DeployableList]([]*cyborg.Deployable{{
		ID: ovo.Of[int64](3), DeviceID: ovo.Of[int64](1), Name: ovo.Of("h_0000:25:00.4"),
	}}), c.readErr
}

func (c *conductor) AttachHandles(context.Context, string) (handles, referenced *cyborg.AttachHandleList, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads += 2
	h := &cyborg.AttachHandle{
		ID: ovo.Of[int64](4), UUID: ovo.Of("handle"), DeployableID: ovo.Of[int64](3),
		AttachType: ovo.Of(cyborg.AttachPCI), AttachInfo: ovo.Of(c.info), InUse: ovo.Of(c.inUse),
	}
	named := []*cyborg.AttachHandle{}
	if c.named {
		named = append(named, h)
	}
	return ovo.ListOf[cyborg.AttachHandleList]([]*cyborg.AttachHandle{h}), ovo.ListOf[cyborg.AttachHandleList](named), c.readErr
}

func (c *conductor) UpdateAttachInfo(_ context.Context, u cyborg.AttachInfoUpdate) (*cyborg.AttachHandle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, u)
	if c.updateErr != nil {
		return nil, c.updateErr
	}
	c.info = u.AttachInfo
	return &cyborg.AttachHandle{}, nil
}

// change alters what is stored.
func (c *conductor) change(f func(*conductor)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c)
}

// lines keeps log records as text.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(word string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), word)
}

// started makes an agent of one driver and returns its log and what its start says: nil once it is ready.
func started(t *testing.T, d *driver, c *conductor) (log *lines, err error) {
	t.Helper()
	log = &lines{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := agent.New(agent.Config{
		Hostname: "h", Drivers: []agent.Driver{d}, Conductor: c, Inventory: c, Ready: cancel,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return log, a.Run(ctx)
}

var errBroken = errors.New("broken")
