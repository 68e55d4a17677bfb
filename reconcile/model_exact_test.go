package reconcile_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-cyborg/cyborg/reconcile"
)

// exact checks, when a report has been carried out without a fault, that the
// provider of every deployable on offer has the inventory that row and report
// ask for: no reservation stays that nothing explains. A device that the report
// left alone, in whole or in part, is not looked at.
func (w *world) exact(report []reconcile.Device, res reconcile.Result) error {
	inv, _ := w.store.Inventory(context.Background(), host)
	rows, reports := map[string]int{}, map[string][]*reconcile.Device{}
	for i := range inv.Devices {
		rows[address0(inv.Devices[i].ControlPath.Info)]++
	}
	for i := range report {
		at := address0(report[i].ControlPath.Info)
		reports[at] = append(reports[at], &report[i])
	}
	for i := range inv.Devices {
		d := &inv.Devices[i]
		at := address0(d.ControlPath.Info)
		if rows[at] > 1 || len(reports[at]) != 1 || reports[at][0].Stub || slices.ContainsFunc(res.Problems, func(p reconcile.Problem) bool {
			return p.Device == d.ControlPath.Info && p.Reason != reconcile.ReasonMissing
		}) {
			continue
		}
		for k := range d.Deployables {
			p := &d.Deployables[k]
			q := slices.IndexFunc(reports[at][0].Deployables, func(q reconcile.Deployable) bool { return q.Name == p.Name })
			if p.Offer == "" || q < 0 {
				continue
			}
			if err := w.asAsked(d, p, &reports[at][0].Deployables[q]); err != nil {
				return err
			}
		}
	}
	return nil
}

// asAsked checks one provider. One that the report leaves without units may
// keep a reserved one for what is allocated from it; where there are more
// handles than units nothing tells a handle that came back.
func (w *world) asAsked(d *reconcile.Device, p, q *reconcile.Deployable) error {
	if q.NumAccelerators < len(q.Handles) {
		return nil
	}
	retained := max(0, len(p.Handles)-q.NumAccelerators)
	total, reserved := reconcile.DesiredReserved(d, p, true, retained)
	inventories, _, err := w.placement.Inventories(p.Offer)
	if err != nil {
		return err
	}
	v, ok := inventories[p.Class()]
	if ok == (total > 0) && len(inventories) <= 1 && v.Total == total && v.Reserved == reserved && (!ok || v.MaxUnit == total) {
		return nil
	}
	if total == 0 && v.Total == 1 && v.Reserved == 1 {
		return nil
	}
	return fmt.Errorf("%s of %d units with %d handles, %d reported, holds %v, want %d with %d reserved", p.Name, p.NumAccelerators, len(p.Handles), len(q.Handles), inventories, total, reserved)
}
