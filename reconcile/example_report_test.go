package reconcile_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// A card is reported, bound by a guest, and then missing from a report.
func ExampleRunner() {
	ctx := context.Background()
	db, service := &reconciletest.Store{}, &reconciletest.Placement{}
	_, _ = service.CreateProvider("", "compute-1", "") // nova-compute's
	runner := &reconcile.Runner{Store: db, Placement: service}

	card := reconcile.Device{
		Type: "GPU", Vendor: "10de", Model: "25b6",
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: `{"bus": "25", "device": "00", "domain": "0000", "function": "4"}`},
		Deployables: []reconcile.Deployable{{
			Name: "compute-1_0000:25:00.4", NumAccelerators: 1,
			Attributes: []reconcile.Attribute{{Key: "rc", Value: "CUSTOM_PCI"}, {Key: "trait0", Value: "OWNER_CYBORG"}},
			Handles:    []reconcile.Handle{{Type: arq.HandlePCI, Info: `{"bus": "25", "device": "00", "domain": "0000", "function": "4"}`}},
		}},
	}
	provider := reconcile.ProviderUUID("compute-1_0000:25:00.4")
	show := func(res reconcile.Result, err error) {
		inventories, _, _ := service.Inventories(provider)
		fmt.Println(res.Devices, res.Problems, err)
		fmt.Println("total", inventories["CUSTOM_PCI"].Total, "reserved", inventories["CUSTOM_PCI"].Reserved)
	}
	show(runner.Run(ctx, "compute-1", []reconcile.Device{card}))
	db.Bind(provider, "an accelerator request")
	show(runner.Run(ctx, "compute-1", nil))
	// Output:
	// [{{"bus": "25", "device": "00", "domain": "0000", "function": "4"} add <nil>}] [] <nil>
	// total 1 reserved 0
	// [{{"bus": "25", "device": "00", "domain": "0000", "function": "4"} retain <nil>}] [missing_but_held: host compute-1, device {"bus": "25", "device": "00", "domain": "0000", "function": "4"}] <nil>
	// total 1 reserved 1
}

func ExampleDiff() {
	stored := reconcile.Inventory{Host: "compute-1", Devices: []reconcile.Device{{
		ID: 1, Type: "GPU", State: reconcile.StateAvailable,
		ControlPath: reconcile.ControlPath{Type: "PCI", Info: `{"bus": "25", "device": "00", "domain": "0000", "function": "4"}`},
		Deployables: []reconcile.Deployable{{ID: 2, Name: "compute-1_0000:25:00.4", NumAccelerators: 1}},
	}}}
	plan := reconcile.Diff(stored, nil, reconcile.Tree{})
	for _, d := range plan.Devices {
		fmt.Println(d.Verdict, d.Steps)
	}
	// Output: remove [drop provider compute-1_0000:25:00.4 delete device {"bus": "25", "device": "00", "domain": "0000", "function": "4"}]
}

func ExampleManaged() {
	const text = `{"bus": "25", "device": "00", "domain": "0000", "function": "4"}`
	device := func(info string) reconcile.Device {
		return reconcile.Device{
			ControlPath: reconcile.ControlPath{Type: "PCI", Info: text},
			Deployables: []reconcile.Deployable{{
				Name:    "compute-1_0000:25:00.4",
				Handles: []reconcile.Handle{{UUID: "ah", Type: arq.HandlePCI, Info: info}},
			}},
		}
	}
	stored := reconcile.Inventory{Host: "compute-1", Devices: []reconcile.Device{device(text)}}
	discovered := []reconcile.Device{device(`{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": false}`)}

	free := reconcile.Managed(stored, discovered)
	fmt.Println(free.Updates[0].To, free.Err())

	stored.Devices[0].Deployables[0].Handles[0].InUse = true
	held := reconcile.Managed(stored, discovered)
	fmt.Println(held.Err())
	// Output:
	// {"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": false} <nil>
	// host compute-1, device 0000:25:00.4: managed is true for the guest that has it (attach handle ah), but [pci] device_spec says false; restore the previous configuration or release the allocation
}

func ExampleDesiredReserved() {
	total, reserved := reconcile.DesiredReserved(
		&reconcile.Device{Type: "GPU", Status: reconcile.StatusMaintaining}, &reconcile.Deployable{NumAccelerators: 16}, true, 0)
	fmt.Println(total, reserved)
	// Output: 16 16
}
