package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

type (
	device   = reconcile.Device
	mutation = func(*device)
)

// row is the stored form of vf(n), on offer, changed by the mutations.
func row(n int, ms ...mutation) device {
	d := reported(n)
	id := int64(10 * (n + 1))
	d.ID, d.Status, d.State = id, reconcile.StatusEnabled, reconcile.StateAvailable
	p := &d.Deployables[0]
	p.ID, p.Offer = id+1, reconcile.ProviderUUID(p.Name)
	for i := range p.Attributes {
		p.Attributes[i].ID = id + 2
	}
	p.Handles[0].ID = id + 3
	for _, m := range ms {
		m(&d)
	}
	return d
}

// reported is vf(n) with slices of its own, changed by the mutations.
func reported(n int, ms ...mutation) device {
	d := vf(n)
	for _, m := range ms {
		m(&d)
	}
	return d
}

func info(text string) mutation { return func(d *device) { d.Deployables[0].Handles[0].Info = text } }

func more(extra string) mutation {
	return func(d *device) {
		h := &d.Deployables[0].Handles[0]
		h.Info = strings.TrimSuffix(h.Info, "}") + ", " + extra + "}"
	}
}
func used(d *device)            { d.Deployables[0].Handles[0].InUse = true }
func named(d *device)           { d.Deployables[0].Handles[0].ARQs = []string{"arq"} }
func offOffer(d *device)        { d.Deployables[0].Offer = "" }
func stub(d *device)            { d.Stub = true }
func path(text string) mutation { return func(d *device) { d.ControlPath.Info = text } }
func typ(t string) mutation     { return func(d *device) { d.Type = t } }
func state(s reconcile.DeviceState) mutation {
	return func(d *device) { d.State = s }
}
func num(n int) mutation { return func(d *device) { d.Deployables[0].NumAccelerators = n } }
func name(s string) mutation {
	return func(d *device) { d.Deployables[0].Name = s }
}

func attribute(key, value string) mutation {
	return func(d *device) {
		p := &d.Deployables[0]
		for i := range p.Attributes {
			if p.Attributes[i].Key == key {
				p.Attributes[i].Value = value
				return
			}
		}
		p.Attributes = append(p.Attributes, reconcile.Attribute{Key: key, Value: value})
	}
}

func addHandle(id int64, text string, held bool) mutation {
	return func(d *device) {
		p := &d.Deployables[0]
		p.Handles = append(p.Handles, reconcile.Handle{ID: id, Type: arq.HandlePCI, Info: text, InUse: held})
	}
}

// treeOf shows the providers of stored devices.
func treeOf(have []device) reconcile.Tree {
	t := reconcile.Tree{Root: "root", Providers: []reconcile.Provider{{UUID: "root", Name: host}}}
	for _, d := range have {
		for _, p := range d.Deployables {
			t.Providers = append(t.Providers, reconcile.Provider{UUID: reconcile.ProviderUUID(p.Name), Name: p.Name, Parent: "root"})
		}
	}
	return t
}

// planText is a plan, one line each: verdicts with steps, then problems.
func planText(p reconcile.Plan) []string {
	var lines []string
	for i := range p.Devices {
		lines = append(lines, string(p.Devices[i].Verdict))
		for _, s := range p.Devices[i].Steps {
			text := s.String()
			text = strings.ReplaceAll(text, host+"_0000:00:00.0", "P0")
			text = strings.ReplaceAll(text, host+"_0000:00:00.1", "P1")
			text = strings.ReplaceAll(text, vf(0).ControlPath.Info, "ADDR0")
			text = strings.ReplaceAll(text, vf(1).ControlPath.Info, "ADDR1")
			lines = append(lines, "  "+text)
		}
	}
	for _, q := range p.Problems {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("problem %s %s %s %s", q.Reason, q.Field, q.Stored, q.Reported)))
	}
	if p.Unchanged > 0 {
		lines = append(lines, fmt.Sprintf("unchanged %d", p.Unchanged))
	}
	return lines
}

const sync00 = "  sync provider P0: CUSTOM_PCI total=1 reserved=0 traits=OWNER_CYBORG,CUSTOM_PCI_NVIDIA,CUSTOM_PCI_PRODUCT_ID_25B6"

var diffTests = []struct {
	name string
	have []device
	want []device
	lost bool // Placement has lost every provider
	plan []string
}{
	{name: "unchanged", have: []device{row(0)}, want: []device{reported(0)}, plan: []string{"unchanged 1"}},
	{name: "new", want: []device{reported(0)}, plan: []string{"add", "  insert device ADDR0", sync00}},
	{
		name: "a new drive is unclean", want: []device{reported(0, typ("NVME"))},
		plan: []string{"add", "  insert device ADDR0", strings.Replace(sync00, "reserved=0", "reserved=1", 1)},
	},
	{
		name: "a drive proven clean", want: []device{reported(0, typ("NVME"), state(reconcile.StateAvailable))},
		plan: []string{"add", "  insert device ADDR0", sync00},
	},
	{name: "gone and free", have: []device{row(0)}, plan: []string{"remove", "  drop provider P0", "  delete device ADDR0"}},
	{
		name: "gone and in use", have: []device{row(0, used)},
		plan: []string{"retain", "  withdraw P0", "  reserve provider P0: CUSTOM_PCI total=1 reserved=1", "problem missing_but_held"},
	},
	{
		name: "gone and referenced", have: []device{row(0, named)},
		plan: []string{"retain", "  withdraw P0", "  reserve provider P0: CUSTOM_PCI total=1 reserved=1", "problem missing_but_held"},
	},
	{
		name: "gone and being cleaned", have: []device{row(0, typ("NVME"), state(reconcile.StateCleaning), offOffer)},
		plan: []string{"retain", "  reserve provider P0: CUSTOM_PCI total=1 reserved=1", "problem missing_but_held"},
	},
	{name: "gone, held, provider lost", have: []device{row(0, used, offOffer)}, lost: true, plan: []string{"retain", "problem missing_but_held"}},
	{name: "back again", have: []device{row(0, used, offOffer)}, want: []device{reported(0)}, plan: []string{"update", sync00}},
	{name: "provider lost", have: []device{row(0)}, want: []device{reported(0)}, lost: true, plan: []string{"update", "  withdraw P0", sync00}},
	{name: "a stub freezes", have: []device{row(0)}, want: []device{reported(0, stub), reported(1, stub)}},
	{name: "a stub among repetitions freezes", have: []device{row(0)}, want: []device{reported(0), reported(0, stub)}, plan: []string{"problem reported_twice"}},
	{name: "reported twice alike", have: []device{row(0)}, want: []device{reported(0), reported(0)}, plan: []string{"unchanged 1"}},
	{
		name: "reported twice, the first counts", want: []device{reported(0), reported(0, num(5))},
		plan: []string{"add", "  insert device ADDR0", sync00, "problem reported_twice"},
	},
	{name: "respelt control path", have: []device{row(0)}, want: []device{reported(0, path(`{"function":"0","domain":"0","bus":"0","device":"0"}`))}, plan: []string{"unchanged 1"}},
	{
		name: "board text", have: []device{row(0)}, want: []device{reported(0, func(d *device) { d.Vendor = "8086" })},
		plan: []string{"update", "  set board type=GPU vendor=8086 model=25b6 std_board_info={\"product_id\": \"25b6\", \"controller\": null} vendor_board_info=NULL"},
	},
	{
		name: "type change on a held device", have: []device{row(0, typ("NVME"), used, state(reconcile.StateAllocated))}, want: []device{reported(0)},
		plan: []string{"problem type_change_while_held type NVME GPU"},
	},
	{
		name: "a drive in the place of something else", have: []device{row(0)}, want: []device{reported(0, typ("NVME"))},
		plan: []string{"remove", "  drop provider P0", "  delete device ADDR0"},
	},
	{
		name: "more units", have: []device{row(0)}, want: []device{reported(0, num(2))},
		plan: []string{"update", "  withdraw P0", strings.Replace(sync00, "total=1", "total=2", 1), "  set num_accelerators of deployable 11: 1 -> 2"},
	},
	{
		name: "another trait", have: []device{row(0)}, want: []device{reported(0, attribute("trait2", "CUSTOM_X"))},
		plan: []string{"update", "  withdraw P0", "  sync provider P0: CUSTOM_PCI total=1 reserved=0 traits=OWNER_CYBORG,CUSTOM_PCI_NVIDIA,CUSTOM_X", "  set attribute trait2 of deployable 11: CUSTOM_PCI_PRODUCT_ID_25B6 -> CUSTOM_X"},
	},
	{
		name: "another class", have: []device{row(0)}, want: []device{reported(0, attribute("rc", "PGPU"))},
		plan: []string{"update", "  withdraw P0", strings.Replace(sync00, "CUSTOM_PCI total", "PGPU total", 1), "  set attribute rc of deployable 11: CUSTOM_PCI -> PGPU"},
	},
	{
		name: "another class while held", have: []device{row(0, used)}, want: []device{reported(0, attribute("rc", "PGPU"))},
		plan: []string{"problem class_change_while_held attribute rc CUSTOM_PCI PGPU", "unchanged 1"},
	},
	{
		name: "an attribute that Placement does not see", have: []device{row(0)}, want: []device{reported(0, attribute("note", "x"))},
		plan: []string{"update", "  insert attribute of deployable 11: note=x"},
	},
	{name: "another driver name is not written", have: []device{row(0)}, want: []device{reported(0, func(d *device) { s := "x"; d.Deployables[0].DriverName = &s })}, plan: []string{"unchanged 1"}},
	{
		name: "a drive in cleaning", have: []device{row(0, typ("NVME"), state(reconcile.StateCleaning), offOffer)}, want: []device{reported(0, typ("NVME"))},
		plan: []string{"update", strings.Replace(sync00, "reserved=0", "reserved=1", 1)},
	},
	{
		name: "a report never moves device_state", have: []device{row(0, typ("NVME"), state(reconcile.StateCleaning), offOffer)}, want: []device{reported(0, typ("NVME"), state(reconcile.StateAvailable))},
		plan: []string{"update", strings.Replace(sync00, "reserved=0", "reserved=1", 1)},
	},

	{name: "respelt handle", have: []device{row(0, used)}, want: []device{reported(0, info(`{"bus":"00","device":"0","domain":"0000","function":"0","managed":true}`))}, plan: []string{"unchanged 1"}},
	{
		name: "managed of a free handle", have: []device{row(0)}, want: []device{reported(0, more(`"managed": false`))},
		plan: []string{"update", `  set attach_info of handle 13: ADDR0 -> {"bus": "00", "device": "00", "domain": "0000", "function": "0", "managed": false}`},
	},
	{
		name: "managed of a held handle", have: []device{row(0, used, more(`"managed": false`))}, want: []device{reported(0)},
		plan: []string{"problem managed_conflict managed false true", "unchanged 1"},
	},
	{
		name: "numa_node of a held handle", have: []device{row(0, used, more(`"managed": false`))}, want: []device{reported(0, more(`"managed": false, "numa_node": 1`))},
		plan: []string{"update", `  set attach_info of handle 13: {"bus": "00", "device": "00", "domain": "0000", "function": "0", "managed": false} -> {"bus": "00", "device": "00", "domain": "0000", "function": "0", "managed": false, "numa_node": 1}`},
	},
	{
		name: "another network of a free handle", have: []device{row(0)}, want: []device{reported(0, more(`"physical_network": "a"`))},
		plan: []string{"update", "  delete handle 13: ADDR0", `  insert handle of deployable 11: PCI {"bus": "00", "device": "00", "domain": "0000", "function": "0", "physical_network": "a"}`},
	},
	{
		name: "another network of a held handle", have: []device{row(0, used)}, want: []device{reported(0, more(`"physical_network": "a"`))},
		plan: []string{`problem handle_change_while_held attach_info ` + vf(0).ControlPath.Info + ` {"bus": "00", "device": "00", "domain": "0000", "function": "0", "physical_network": "a"}`, "unchanged 1"},
	},
	{
		name: "stored managed is no boolean", have: []device{row(0, more(`"managed": "no"`))}, want: []device{reported(0)},
		plan: []string{`problem invalid_attach_info attach_info {"bus": "00", "device": "00", "domain": "0000", "function": "0", "managed": "no"}`, "unchanged 1"},
	},
	{
		name: "a free handle goes", have: []device{row(0, addHandle(99, vf(1).ControlPath.Info, false), num(2))}, want: []device{reported(0)},
		plan: []string{"update", "  withdraw P0", sync00, "  set num_accelerators of deployable 11: 2 -> 1", "  delete handle 99: ADDR1"},
	},
	{
		name: "a held handle goes", have: []device{row(0, addHandle(99, vf(1).ControlPath.Info, true), num(2))}, want: []device{reported(0)},
		plan: []string{"update", "  withdraw P0", strings.Replace(sync00, "total=1 reserved=0", "total=2 reserved=1", 1), "  set num_accelerators of deployable 11: 2 -> 1", "problem missing_but_held"},
	},
	{
		name: "one function in two rows", have: []device{row(0, addHandle(99, `{"bus":"0","device":"0","domain":"0","function":"0"}`, false))}, want: []device{reported(0)},
		plan: []string{"update", "  withdraw P0", sync00, `  delete handle 99: {"bus":"0","device":"0","domain":"0","function":"0"}`},
	},
	{
		name: "one function in two rows, the younger held", have: []device{row(0, addHandle(99, `{"bus":"0","device":"0","domain":"0","function":"0"}`, true))}, want: []device{reported(0)},
		plan: []string{"update", "  withdraw P0", sync00, "  delete handle 13: ADDR0"},
	},

	{
		name: "one device in two rows", have: []device{row(0), row(0, func(d *device) { d.ID, d.Deployables[0].ID = 500, 501 }, path(`{"bus":"0","device":"0","domain":"0","function":"0"}`))}, want: []device{reported(0)},
		plan: []string{"remove", `  delete device {"bus":"0","device":"0","domain":"0","function":"0"}`, "unchanged 1"},
	},
	{
		name: "one device in two held rows", have: []device{row(0, used), row(0, used, func(d *device) { d.ID, d.Deployables[0].ID = 500, 501 }, path(`{"bus":"0","device":"0","domain":"0","function":"0"}`))}, want: []device{reported(0)},
		plan: []string{"problem held_twice"},
	},

	{name: "no class", have: []device{row(0)}, want: []device{reported(0, func(d *device) { d.Deployables[0].Attributes = nil })}, plan: []string{"problem invalid_value attribute rc"}},
	{name: "no trait", want: []device{reported(0, attribute("trait1", "a b"))}, plan: []string{"problem invalid_value attribute trait1  a b"}},
	{name: "unknown type", want: []device{reported(0, typ("TOASTER"))}, plan: []string{"problem invalid_value type  TOASTER"}},
	{
		name: "a control path of no type that there is", have: []device{row(0), row(1, used)},
		want: []device{reported(0, func(d *device) { d.ControlPath.Type = "CI" }), reported(1, func(d *device) { d.ControlPath.Type = "" })},
		plan: []string{"problem invalid_value cpid_type  CI", "problem invalid_value cpid_type"},
	},
	{name: "negative", want: []device{reported(0, num(-1))}, plan: []string{"problem invalid_value num_accelerators  -1"}},
	{
		name: "managed as text", want: []device{reported(0, more(`"managed": "false"`))},
		plan: []string{`problem invalid_value attach_info  {"bus": "00", "device": "00", "domain": "0000", "function": "0", "managed": "false"}`},
	},
	{
		name: "a refused device does not stop others", want: []device{reported(0, num(-1)), reported(1)},
		plan: []string{"add", "  insert device ADDR1", strings.ReplaceAll(sync00, "P0", "P1"), "problem invalid_value num_accelerators  -1"},
	},
	{
		name: "a name is taken within a report", want: []device{reported(0), reported(1, name(strings.ToUpper(vf(0).Deployables[0].Name)))},
		plan: []string{"add", "  insert device ADDR0", sync00, "problem name_taken name"},
	},
	{
		name: "a name is taken by a stored device", have: []device{row(0, used)}, want: []device{reported(1, name(vf(0).Deployables[0].Name))},
		plan: []string{"retain", "  withdraw P0", "  reserve provider P0: CUSTOM_PCI total=1 reserved=1", "problem missing_but_held", "problem name_taken name"},
	},
	{
		name: "another name", have: []device{row(0)}, want: []device{reported(0, name(vf(1).Deployables[0].Name))},
		plan: []string{"update", "  withdraw P0", "  drop provider P0", "  delete deployable 11: P0", "problem function_taken attach_info"},
	},
	{
		name: "another name while held", have: []device{row(0, used)}, want: []device{reported(0, name(vf(1).Deployables[0].Name))},
		plan: []string{"update", "  withdraw P0", "  reserve provider P0: CUSTOM_PCI total=1 reserved=1", "problem function_taken attach_info", "problem missing_but_held"},
	},
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, test := range diffTests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tree := treeOf(test.have)
			if test.lost {
				tree = treeOf(nil)
			}
			for range 3 { // the same every time
				p := reconcile.Diff(reconcile.Inventory{Host: host, Devices: test.have}, test.want, tree)
				if diff := cmp.Diff(test.plan, planText(p)); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	have := []device{row(0)}
	tree := treeOf(have)
	left := "compute-1_left_behind"
	tree.Providers = append(tree.Providers,
		reconcile.Provider{UUID: reconcile.ProviderUUID(left), Name: left, Parent: "root"},
		reconcile.Provider{UUID: "0d6cd4f3-0000-4000-8000-000000000000", Name: "numa0", Parent: "root"})
	p := reconcile.Diff(reconcile.Inventory{Host: host, Devices: have}, []device{reported(0)}, tree)
	if len(p.Problems) != 1 || p.Problems[0].Reason != reconcile.ReasonOrphan || p.Problems[0].Deployable != left {
		t.Errorf("problems %v", p.Problems)
	}
}

func TestDesiredReserved(t *testing.T) {
	t.Parallel()
	tests := []struct {
		typ, status     string
		state           reconcile.DeviceState
		reported        bool
		retained        int
		total, reserved int
		offered         bool
	}{
		{"GPU", "enabled", "available", true, 0, 4, 0, true},
		{"GPU", "enabled", "", true, 1, 5, 1, true},
		{"GPU", "maintaining", "available", true, 0, 4, 4, true},
		{"GPU", "enabled", "available", false, 0, 4, 4, false},
		{"GPU", "enabled", "error", true, 0, 4, 0, true},
		{"NVME", "enabled", "available", true, 0, 4, 0, true},
		{"NVME", "enabled", "allocated", true, 0, 4, 4, true},
		{"NVME", "enabled", "pending_cleaning", true, 0, 4, 4, false},
		{"NVME", "enabled", "cleaning", true, 0, 4, 4, false},
		{"NVME", "enabled", "error", true, 0, 4, 4, false},
		{"NVME", "enabled", "", true, 0, 4, 4, false},
		{"NVME", "maintaining", "available", true, 2, 6, 6, true},
	}
	for _, test := range tests {
		d := &device{Type: test.typ, Status: test.status, State: test.state}
		total, reserved := reconcile.DesiredReserved(d, &reconcile.Deployable{NumAccelerators: 4}, test.reported, test.retained)
		if total != test.total || reserved != test.reserved || reconcile.Offered(d, test.reported) != test.offered {
			t.Errorf("%+v: total %d, reserved %d, offered %t", test, total, reserved, reconcile.Offered(d, test.reported))
		}
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	// Names and uuids that Cyborg 17 was seen to give.
	for name, want := range map[string]string{
		"h4host_A": "5d307dfd-11c5-3e4b-ab6d-8001a70a083a",
		"h4host_B": "4a0d8fcc-705e-3aba-b5d7-7677639a2b28",
	} {
		if got := reconcile.ProviderUUID(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	at := func(host, info string) string {
		return reconcile.DeviceUUID(host, reconcile.ControlPath{Type: "PCI", Info: info})
	}
	const info = `{"bus": "0A", "device": "00", "domain": "0000", "function": "1"}`
	if at("h", info) != at("h", `{"function":"1","domain":"0","bus":"0a","device":"0"}`) {
		t.Error("a respelt control path is another device")
	}
	if at("h", info) == at("i", info) || at("h", info) == at("h", `{"x": 1}`) {
		t.Error("two devices share a uuid")
	}
	if got, want := at("h", info), "a36e18de-9e4a-5bc7-83ef-74d90132fce1"; got != want {
		t.Errorf("uuid %s, want %s: it must never change", got, want)
	}
}
