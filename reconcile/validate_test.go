package reconcile_test

import (
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/reconcile"
)

// umlauts is a text of n characters in twice as many bytes: limits are counted in characters.
func umlauts(n int) string { return strings.Repeat("ü", n) }

// TestFieldsOfAReport refuses what the schema, a database or Placement would not take, by the field's name, and takes
// what just fits.
func TestFieldsOfAReport(t *testing.T) {
	t.Parallel()
	const text = 65535 // bytes of a TEXT column of MySQL
	deployable := func(f func(*reconcile.Deployable)) mutation {
		return func(d *device) { f(&d.Deployables[0]) }
	}
	board := func(n int) mutation {
		return func(d *device) { s := strings.Repeat("x", n); d.StdBoardInfo = &s }
	}
	handle := func(f func(*reconcile.Handle)) mutation {
		return deployable(func(p *reconcile.Deployable) { f(&p.Handles[0]) })
	}
	padded := func(n int) string { // an attach_info of n characters
		const head, tail = `{"bus": "00", "device": "00", "domain": "0000", "function": "0", "x": "`, `"}`
		return head + umlauts(n-len(head)-len(tail)) + tail
	}
	for title, test := range map[string]struct {
		change mutation
		field  string // "" is taken
	}{
		"type":                    {typ("TOASTER"), "type"},
		"device_state":            {state("broken"), "device_state"},
		"cpid_type":               {func(d *device) { d.ControlPath.Type = "CI" }, "cpid_type"},
		"vendor fits":             {func(d *device) { d.Vendor = umlauts(255) }, ""},
		"vendor":                  {func(d *device) { d.Vendor = umlauts(256) }, "vendor"},
		"model":                   {func(d *device) { d.Model = umlauts(256) }, "model"},
		"cpid_info fits":          {path(padded(255)), ""},
		"cpid_info":               {path(padded(256)), "cpid_info"},
		"cpid_info, very long":    {path(padded(70000)), "cpid_info"},
		"std_board_info fits":     {board(text), ""},
		"std_board_info":          {board(text + 1), "std_board_info"},
		"vendor_board_info":       {func(d *device) { s := umlauts(text/2 + 1); d.VendorBoardInfo = &s }, "vendor_board_info"},
		"no deployable name":      {name(""), "name"},
		"deployable name fits":    {name(umlauts(200)), ""},
		"deployable name":         {name(umlauts(201)), "name"},
		"driver_name fits":        {deployable(func(p *reconcile.Deployable) { s := umlauts(100); p.DriverName = &s }), ""},
		"driver_name":             {deployable(func(p *reconcile.Deployable) { s := umlauts(101); p.DriverName = &s }), "driver_name"},
		"num_accelerators":        {num(-1), "num_accelerators"},
		"num_accelerators fits":   {num(1<<31 - 1), ""},
		"num_accelerators, large": {num(1 << 31), "num_accelerators"},
		"attribute value fits":    {attribute("note", strings.Repeat("x", text)), ""},
		"attribute value":         {attribute("note", strings.Repeat("x", text+1)), "attribute note"},
		"attribute key":           {attribute(strings.Repeat("k", text+1), "x"), "attribute key"},
		"class":                   {attribute("rc", "not a class"), "attribute rc"},
		"class, lower case":       {attribute("rc", "CUSTOM_pci"), "attribute rc"},
		"class, long":             {attribute("rc", "CUSTOM_"+strings.Repeat("X", 249)), "attribute rc"},
		"trait":                   {attribute("trait9", "a b"), "attribute trait9"},
		"attach_type":             {handle(func(h *reconcile.Handle) { h.Type = "USB" }), "attach_type"},
		"attach_info fits":        {info(padded(255)), ""},
		"attach_info":             {info(padded(256)), "attach_info"},
		"attach_info, no JSON":    {info("{"), "attach_info"},
		"attach_info, a list":     {info("[]"), "attach_info"},
		"attach_info, null":       {info("null"), "attach_info"},
		"managed":                 {more(`"managed": 0`), "attach_info"},
		"managed null":            {more(`"managed": null`), "attach_info"},
		"stateful":                {more(`"stateful": "yes"`), "attach_info"},
		"numa_node":               {more(`"numa_node": -1`), "attach_info"},
		"zero byte":               {func(d *device) { d.Model = "a\x00b" }, "model"},
		"no UTF-8":                {func(d *device) { d.Model = "a\xffb" }, "model"},
		"half a surrogate":        {name("a\xed\xa0\x80"), "name"},
		"zero byte in a board":    {func(d *device) { s := "\x00"; d.StdBoardInfo = &s }, "std_board_info"},
		"zero byte in a value":    {attribute("note", "\x00"), "attribute note"},
		"zero byte in a driver":   {deployable(func(p *reconcile.Deployable) { s := "\x00"; p.DriverName = &s }), "driver_name"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			bad, good := reported(0, test.change), reported(1)
			p := reconcile.Diff(reconcile.Inventory{Host: host}, []device{bad, good}, reconcile.Tree{Root: "root"})
			if test.field == "" {
				if len(p.Problems) > 0 || len(p.Devices) != 2 {
					t.Fatalf("problems %v", p.Problems)
				}
				return
			}
			if len(p.Devices) != 1 || len(p.Problems) != 1 {
				t.Fatalf("%d devices planned, problems %v", len(p.Devices), p.Problems)
			}
			q := p.Problems[0]
			if q.Reason != reconcile.ReasonInvalid || q.Host != host || q.Device == "" || q.Field != test.field || q.Detail == "" {
				t.Errorf("problem %+v", q)
			}
			if n := len(q.String()); n > 3000 {
				t.Errorf("a line of %d bytes", n)
			}
		})
	}
}
