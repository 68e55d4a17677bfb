package fake

import (
	"context"
	"fmt"
	"regexp"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// Name is the driver's name in [agent] enabled_drivers.
const Name = "fake_driver"

// units is the number of accelerators of the one deployable.
const units = 16

// foreign is what Python replaces in the host name.
var foreign = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// Driver implements [agent.Driver].
type Driver struct{ host string }

var _ agent.Driver = Driver{}

// New makes the driver; host is [DEFAULT] host.
func New(host string) Driver { return Driver{host: host} }

// Name implements [agent.Driver].
func (Driver) Name() string { return Name }

// InitHost implements [agent.Driver]; there is nothing to validate.
func (Driver) InitHost(context.Context, agent.Caps) (agent.Needs, error) { return agent.Needs{}, nil }

// Discover implements [agent.Driver].
func (d Driver) Discover(context.Context) ([]*cyborg.DriverDevice, error) {
	handles := make([]*cyborg.DriverAttachHandle, units)
	for i := range handles {
		n := i + 1
		handles[i] = &cyborg.DriverAttachHandle{
			AttachType: ovo.Of(string(cyborg.AttachTestPCI)),
			AttachInfo: ovo.Of(fmt.Sprintf(`{"domain": "0000", "bus": "0c", "device": "%d", "function": "%d"}`, n/8, n%8)),
			InUse:      ovo.Of(false),
		}
	}
	return []*cyborg.DriverDevice{{
		Vendor: ovo.Of("0xABCD"), Model: ovo.Of("miss model info"), Type: ovo.Of(cyborg.FPGA), Stub: ovo.Of(false),
		StdBoardInfo:    ovo.NullOf(`{"device_id": "0xabcd", "class": "Fake class"}`),
		VendorBoardInfo: ovo.NullOf("fake_vendor_info"),
		ControlpathID: ovo.Of(&cyborg.DriverControlPathID{
			CpidType: ovo.Of("PCI"),
			CpidInfo: ovo.Of(`{"domain":"0000","bus":"0c","device":"00","function":"0"}`),
		}),
		DeployableList: ovo.Of([]*cyborg.DriverDeployable{{
			Name:            ovo.Of(foreign.ReplaceAllString(d.host+"_FakeDevice", "_")),
			NumAccelerators: ovo.Of[int64](units), DriverName: ovo.NullOf("fake"),
			AttributeList: ovo.NullOf([]*cyborg.DriverAttribute{
				{Key: ovo.Of("traits1"), Value: ovo.Of("CUSTOM_FAKE_DEVICE")},
				{Key: ovo.Of("rc"), Value: ovo.Of("FPGA")},
			}),
			AttachHandleList: ovo.NullOf(handles),
		}}),
	}}, nil
}
