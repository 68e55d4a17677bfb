package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/reconcile"
)

// carrier is a device at vf(path) whose deployables have the given functions: "X 1 2" is deployable X with the
// handles of vf(1) and vf(2).
func carrier(path int, deployables ...string) device {
	d := vf(path)
	d.Deployables = nil
	for _, text := range deployables {
		words := strings.Fields(text)
		p := vf(path).Deployables[0]
		p.Name, p.Handles, p.NumAccelerators = words[0], nil, len(words)-1
		for _, function := range words[1:] {
			p.Handles = append(p.Handles, vf(int(function[0] - '0')).Deployables[0].Handles[0])
		}
		d.Deployables = append(d.Deployables, p)
	}
	return d
}

// places says where the functions are: "X 1 2" as above, with * behind a held one and - before a deployable that is
// not on offer.
func (w *world) places(t *testing.T) (out []string) {
	t.Helper()
	for _, d := range w.inventory(t).Devices {
		for _, p := range d.Deployables {
			text := p.Name
			if p.Offer == "" {
				text = "-" + text
			}
			for i := range p.Handles {
				function := "?"
				if strings.Contains(p.Handles[i].Info, "function") {
					function = address0(p.Handles[i].Info)[3:]
				}
				text += " " + function
				if p.Handles[i].Held() {
					text += "*"
				}
			}
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// TestOneRowForOneFunction moves functions about: whatever a report says, no function is in two rows, and one that a
// guest has stays where it is.
func TestOneRowForOneFunction(t *testing.T) {
	t.Parallel()
	taken := []reconcile.ProblemReason{reconcile.ReasonFunctionTaken}
	for _, test := range []struct {
		name          string
		first, second []device
		held          string // deployable of which a handle is bound between the reports
		places        []string
		problems      []reconcile.ProblemReason
	}{
		{"to another deployable", []device{carrier(0, "X 1", "Y 2")}, []device{carrier(0, "X", "Y 2 1")}, "", []string{"X", "Y 2 1"}, nil},
		{"to a new deployable", []device{carrier(0, "X 1")}, []device{carrier(0, "Y 1")}, "", []string{"Y 1"}, nil},
		{"to another device", []device{carrier(0, "X 1")}, []device{carrier(1, "Y 1")}, "", []string{"Y 1"}, nil},
		{"to another device, both stay", []device{carrier(0, "X 1 2"), carrier(1, "Y 3")}, []device{carrier(0, "X 2"), carrier(1, "Y 3 1")}, "", []string{"X 2", "Y 3 1"}, nil},
		{
			"held, to another deployable",
			[]device{carrier(0, "X 1", "Y 2")},
			[]device{carrier(0, "X", "Y 2 1")},
			"X",
			[]string{"X 1*", "Y 2"},
			[]reconcile.ProblemReason{reconcile.ReasonMissing, reconcile.ReasonFunctionTaken},
		},
		{
			"held, to a new deployable",
			[]device{carrier(0, "X 1", "Y 2")},
			[]device{carrier(0, "Y 2", "Z 1")},
			"X",
			[]string{"-X 1*", "Y 2"},
			[]reconcile.ProblemReason{reconcile.ReasonFunctionTaken, reconcile.ReasonMissing},
		},
		{
			"held, to another device",
			[]device{carrier(0, "X 1")},
			[]device{carrier(1, "Y 1")},
			"X",
			[]string{"-X 1*"},
			[]reconcile.ProblemReason{reconcile.ReasonMissing, reconcile.ReasonFunctionTaken},
		},
		{"in two new devices", nil, []device{carrier(0, "X 1"), carrier(1, "Y 1 2")}, "", []string{"X 1"}, taken},
		{"in a stored device and a new one", []device{carrier(0, "X 1")}, []device{carrier(0, "X 1"), carrier(1, "Y 1 2")}, "", []string{"X 1"}, taken},
		{"added to two stored devices", []device{carrier(0, "X 1"), carrier(1, "Y 2")}, []device{carrier(0, "X 1 3"), carrier(1, "Y 2 3")}, "", []string{"X 1 3", "Y 2"}, taken},
		{"twice in one device", nil, []device{carrier(0, "X 1", "Y 1")}, "", nil, []reconcile.ProblemReason{reconcile.ReasonInvalid}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.report(t, test.first...)
			if test.held != "" {
				w.store.Bind(reconcile.ProviderUUID(test.held), "guest")
			}
			for range 2 { // the end of a run, and what the next one says of it
				res := w.report(t, test.second...)
				if diff := cmp.Diff(test.places, w.places(t)); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(test.problems, reasons(res)); diff != "" {
					t.Error(diff, res.Problems)
				}
			}
		})
	}
}

// TestUnreadableControlPath: a stored row whose control path nobody can read any more keeps the function that its
// guest has; the device that is reported in its place is refused by name.
func TestUnreadableControlPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report(t, carrier(0, "X 1"), vf(3))
	w.store.Bind(reconcile.ProviderUUID("X"), "guest")
	w.store.Edit(host, func(d *device) {
		if d.Deployables[0].Name == "X" {
			d.ControlPath.Info = "{not JSON"
		}
	})
	res := w.report(t, carrier(0, "Y 1"), vf(3), vf(4))
	want := []string{"-X 1*", vf(3).Deployables[0].Name + " 3", vf(4).Deployables[0].Name + " 4"}
	slices.Sort(want)
	if diff := cmp.Diff(want, w.places(t)); diff != "" {
		t.Error(diff)
	}
	i := slices.IndexFunc(res.Problems, func(p reconcile.Problem) bool { return p.Reason == reconcile.ReasonFunctionTaken })
	if i < 0 || !strings.Contains(res.Problems[i].String(), "host "+host+", device "+vf(0).ControlPath.Info+", deployable Y") || !strings.Contains(res.Problems[i].Detail, "{not JSON") {
		t.Errorf("problems %v", res.Problems)
	}
}

// TestUnreadableHandle: a held handle whose stored text does not tell its function any more may be any of those that are
// reported, so none of them gets a row; a free one is replaced.
func TestUnreadableHandle(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{not JSON", "{}", "[]", "", `{"bus": "00", "device": "00", "domain": "0000"}`} {
		for held, places := range map[bool][]string{true: {"X ?*", "Y 2"}, false: {"X 1", "Y 2"}} {
			w := newWorld(t)
			w.report(t, carrier(0, "X 1", "Y 2"))
			if held {
				w.store.Bind(reconcile.ProviderUUID("X"), "guest")
			}
			w.store.Edit(host, func(d *device) { d.Deployables[0].Handles[0].Info = text })
			res := w.report(t, carrier(0, "X 1", "Y 2"))
			if diff := cmp.Diff(places, w.places(t)); diff != "" {
				t.Errorf("%q, held %t: %s", text, held, diff)
			}
			if !held {
				continue
			}
			if len(res.Problems) != 1 || res.Problems[0].Reason != reconcile.ReasonInfo || res.Problems[0].Device == "" || res.Problems[0].Field != "attach_info" || res.Problems[0].Stored != text {
				t.Errorf("%q: problems %v", text, res.Problems)
			}
		}
	}
}

// TestMediatedDevicesShareAnAddress: instances of one card are functions of their own.
func TestMediatedDevicesShareAnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := vf(0)
	d.Deployables[0].Handles, d.Deployables[0].NumAccelerators = nil, 2
	for i := range 2 {
		d.Deployables[0].Handles = append(d.Deployables[0].Handles, reconcile.Handle{Type: arq.HandleMDEV, Info: fmt.Sprintf(
			`{"asked_type": "nvidia-223", "bus": "00", "device": "00", "domain": "0000", "function": "0", "vgpu_mark": "nvidia-223_%d"}`, i)})
	}
	if res := w.report(t, d); len(res.Problems) > 0 || len(w.inventory(t).Devices[0].Deployables[0].Handles) != 2 {
		t.Errorf("two mediated devices of one card: %v", res.Problems)
	}
}
