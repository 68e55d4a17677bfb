package reconcile

// functionRow is a stored row of a function, somewhere on the host.
type functionRow struct {
	device     int // index of the stored device
	deployable *Deployable
}

// rowsOf finds the stored rows of a function. Rows of free doubles do not
// count: they go before anything else. The index is made when the first new
// handle asks for it; an unchanged report never does.
func (d *differ) rowsOf(k key) []functionRow {
	if d.functions == nil {
		d.functions = map[key][]functionRow{}
		for j := range d.have.Devices {
			if d.twin[j] == twinDrop {
				continue
			}
			for n := range d.have.Devices[j].Deployables {
				p := &d.have.Devices[j].Deployables[n]
				for i := range p.Handles {
					h := handleKeyOf(&p.Handles[i])
					d.functions[h] = append(d.functions[h], functionRow{j, p})
				}
			}
		}
	}
	return d.functions[k]
}

// newFunctions claims the functions of new handles for the device of a number, as
// in [differ.owner]. ok is false when one of them has a row already, or is
// another device's of this report: no function may have two rows, they could
// be handed to two guests. A row that goes with this report is in the way
// until it has gone: Placement may know somebody who has it.
func (d *differ) newFunctions(number int, q *Deployable, created []*Handle) (p Problem, ok bool) {
	ok = true
	for _, h := range created {
		k := handleKeyOf(h)
		owner := d.give(k, number)
		if !ok {
			continue // it keeps its claim on the others
		}
		p = Problem{Reason: ReasonFunctionTaken, Deployable: q.Name, Handle: handleName(h), Field: "attach_info"}
		if rows := d.rowsOf(k); len(rows) > 0 {
			p.Detail = "is an attach handle of device " + d.info(rows[0].device) + ", deployable " + rows[0].deployable.Name
			ok = false
		} else if owner != number {
			p.Detail = "is reported by device " + d.info(owner) + " too"
			ok = false
		}
	}
	return p, ok
}

// everyFunction is [differ.newFunctions] for all of a device that has no rows.
func (d *differ) everyFunction(number int, w *Device) (p Problem, ok bool) {
	ok = true
	for i := range w.Deployables {
		q := &w.Deployables[i]
		created := make([]*Handle, len(q.Handles))
		for n := range q.Handles {
			created[n] = &q.Handles[n]
		}
		if q, free := d.newFunctions(number, q, created); ok && !free {
			p, ok = q, false
		}
	}
	return p, ok
}

// give lets the device of a number have a function unless another one got it
// before, and says whose it is.
func (d *differ) give(k key, number int) (owner int) {
	if other, ok := d.given[k]; ok {
		return other
	}
	d.given[k] = number
	return number
}
