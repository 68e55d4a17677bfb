package inventory_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/inventory"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// reported is a device with everything set.
func reported() *cyborg.DriverDevice {
	return &cyborg.DriverDevice{
		Vendor: ovo.Of("10de"), Model: ovo.Of("25b6"), Type: ovo.Of(cyborg.GPU), Stub: ovo.Of(true),
		StdBoardInfo: ovo.NullOf("{}"), VendorBoardInfo: ovo.NullFrom[string](nil), DeviceState: ovo.NullOf(cyborg.Cleaning),
		ControlpathID: ovo.Of(&cyborg.DriverControlPathID{CpidType: ovo.Of("PCI"), CpidInfo: ovo.Of("c")}),
		DeployableList: ovo.Of([]*cyborg.DriverDeployable{{
			Name: ovo.Of("n"), NumAccelerators: ovo.Of[int64](2), DriverName: ovo.NullOf("d"),
			AttributeList:    ovo.NullOf([]*cyborg.DriverAttribute{{Key: ovo.Of("rc"), Value: ovo.Of("FPGA")}}),
			AttachHandleList: ovo.NullOf([]*cyborg.DriverAttachHandle{{AttachType: ovo.Of("PCI"), AttachInfo: ovo.Of("i"), InUse: ovo.Of(true)}}),
		}}),
	}
}

func TestReported(t *testing.T) {
	t.Parallel()
	got, err := inventory.Reported(reported())
	if err != nil {
		t.Fatal(err)
	}
	want := reconcile.Device{
		Type: "GPU", Vendor: "10de", Model: "25b6", StdBoardInfo: new("{}"), State: reconcile.StateCleaning, Stub: true,
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: "c"},
		Deployables: []reconcile.Deployable{{
			Name: "n", NumAccelerators: 2, DriverName: new("d"),
			Attributes: []reconcile.Attribute{{Key: "rc", Value: "FPGA"}},
			Handles:    []reconcile.Handle{{Type: arq.HandlePCI, Info: "i", InUse: true}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnset: a field without which the device cannot be stored or compared is named.
func TestUnset(t *testing.T) {
	t.Parallel()
	first := func(d *cyborg.DriverDevice) *cyborg.DriverDeployable { return d.DeployableList.Value()[0] }
	for path, unset := range map[string]func(*cyborg.DriverDevice){
		"vendor":                   func(d *cyborg.DriverDevice) { d.Vendor = ovo.Field[string]{} },
		"model":                    func(d *cyborg.DriverDevice) { d.Model = ovo.Field[string]{} },
		"type":                     func(d *cyborg.DriverDevice) { d.Type = ovo.Field[cyborg.DeviceType]{} },
		"std_board_info":           func(d *cyborg.DriverDevice) { d.StdBoardInfo = ovo.Null[string]{} },
		"vendor_board_info":        func(d *cyborg.DriverDevice) { d.VendorBoardInfo = ovo.Null[string]{} },
		"controlpath_id":           func(d *cyborg.DriverDevice) { d.ControlpathID = ovo.Field[*cyborg.DriverControlPathID]{} },
		"controlpath_id.cpid_info": func(d *cyborg.DriverDevice) { d.ControlpathID.Value().CpidInfo = ovo.Field[string]{} },
		"deployable_list[0].name":  func(d *cyborg.DriverDevice) { first(d).Name = ovo.Field[string]{} },
		"deployable_list[0].attribute_list[0].value": func(d *cyborg.DriverDevice) {
			first(d).AttributeList.Value()[0].Value = ovo.Field[string]{}
		},
		"deployable_list[0].attach_handle_list[0].attach_info": func(d *cyborg.DriverDevice) {
			first(d).AttachHandleList.Value()[0].AttachInfo = ovo.Field[string]{}
		},
	} {
		d := reported()
		unset(d)
		var missing *inventory.UnsetError
		if _, err := inventory.Reported(d); !errors.As(err, &missing) || missing.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := inventory.Reported(&cyborg.DriverDevice{}); err == nil {
		t.Error("an empty object was read")
	}
}

// TestStored joins separate reads; what has lost its parent between them is left out.
func TestStored(t *testing.T) {
	t.Parallel()
	one, two := ovo.Of[int64](1), ovo.Of[int64](2)
	handle := &cyborg.AttachHandle{ID: ovo.Of[int64](30), UUID: ovo.Of("h"), DeployableID: ovo.Of[int64](20), AttachType: ovo.Of(cyborg.AttachPCI), AttachInfo: ovo.Of("i")}
	free := &cyborg.AttachHandle{ID: ovo.Of[int64](31), UUID: ovo.Of("f"), DeployableID: ovo.Of[int64](20), AttachType: ovo.Of(cyborg.AttachPCI), InUse: ovo.Of(true)}
	lost := &cyborg.AttachHandle{ID: ovo.Of[int64](32), DeployableID: ovo.Of[int64](99)}
	got := inventory.Stored("asked", inventory.Lists{
		Devices: ovo.ListOf[cyborg.DeviceList]([]*cyborg.Device{
			{ID: one, UUID: ovo.Of("d"), Hostname: ovo.Of("Stored"), Type: ovo.Of(cyborg.NVME), DeviceState: ovo.NullOf(cyborg.Allocated)},
			{ID: two, UUID: ovo.Of("without control path")},
		}),
		ControlpathIDs: ovo.ListOf[cyborg.ControlpathIDList]([]*cyborg.ControlpathID{{ID: ovo.Of[int64](10), DeviceID: one, CpidType: ovo.Of(cyborg.ControlpathPCI), CpidInfo: ovo.Of("c")}}),
		Deployables: ovo.ListOf[cyborg.DeployableList]([]*cyborg.Deployable{
			{ID: ovo.Of[int64](20), DeviceID: one, Name: ovo.Of("n"), RPUUID: ovo.NullOf("rp")}, {ID: ovo.Of[int64](21), DeviceID: ovo.Of[int64](99)},
		}),
		AttachHandles: ovo.ListOf[cyborg.AttachHandleList]([]*cyborg.AttachHandle{handle, free, lost}),
		Referenced:    ovo.ListOf[cyborg.AttachHandleList]([]*cyborg.AttachHandle{handle}),
	})
	want := reconcile.Inventory{Host: "Stored", Devices: []reconcile.Device{{
		ID: 1, UUID: "d", Type: "NVME", State: reconcile.StateAllocated,
		ControlPath: reconcile.ControlPath{ID: 10, Type: "PCI", Info: "c"},
		Deployables: []reconcile.Deployable{{ID: 20, Name: "n", Offer: "rp", Handles: []reconcile.Handle{
			{ID: 30, UUID: "h", Type: arq.HandlePCI, Info: "i", ARQs: []string{""}}, {ID: 31, UUID: "f", Type: arq.HandlePCI, InUse: true},
		}}},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, h := range got.Devices[0].Deployables[0].Handles {
		if !h.Held() {
			t.Errorf("handle %d does not count as held", i)
		}
	}
}

// TestStub: the conductor can read what freezes a device, also after its way over the bus.
func TestStub(t *testing.T) {
	t.Parallel()
	want := reconcile.Device{
		Type: "GPU", Vendor: "10de", Model: "25b6", StdBoardInfo: new("{}"), Stub: true,
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: "c"},
	}
	stored := want
	stored.ID, stored.UUID, stored.Stub = 1, "d", false
	stored.Deployables = []reconcile.Deployable{{Name: "n"}}
	registry, err := cyborg.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := registry.Append(nil, inventory.Stub(stored))
	if err != nil {
		t.Fatal(err)
	}
	arrived, err := ovo.Decode[cyborg.DriverDevice](registry, raw)
	if err != nil {
		t.Fatal(err)
	}
	got, err := inventory.Reported(arrived)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
}
