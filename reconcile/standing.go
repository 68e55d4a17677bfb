package reconcile

// origin says where a problem came up.
type origin int

const (
	comparing origin = iota // [Diff] found it
	reading                 // the device could not be read
	applying                // the plan could not be carried out
)

// standing compares a host's problems with those of the run before. fresh are
// new. An old one is solved when it is gone and this run looked at its device:
// one of a device that a stub keeps from being compared, or that the run did
// not get done with, stays in now, unless it has become another problem. The
// first planned problems of the result are the plan's.
func standing(before map[Problem]origin, res *Result, plan *Plan, planned int) (now map[Problem]origin, fresh, solved []Problem) {
	now = make(map[Problem]origin, len(res.Problems))
	type place struct {
		device string
		origin origin
	}
	other := map[place]bool{} // where a fresh problem came up
	for i, p := range res.Problems {
		from := comparing
		switch {
		case i >= planned:
			from = applying
		case i >= planned-len(plan.refused):
			from = reading
		}
		if _, twice := now[p]; !twice {
			if _, known := before[p]; !known {
				fresh = append(fresh, p)
				other[place{p.Device, from}] = true
			}
		}
		now[p] = from
	}
	failed := map[string]bool{} // devices
	for _, o := range res.Devices {
		if o.Err != nil {
			failed[o.Device] = true
		}
	}
	for p, from := range before {
		_, still := now[p]
		switch {
		case still, from != comparing && other[place{p.Device, from}]:
		case plan.frozen[p.Device], from == applying && failed[p.Device]:
			now[p] = from
		default:
			solved = append(solved, p)
		}
	}
	return now, fresh, solved
}

// report logs what changed in a host's problems since the last run.
func (r *Runner) report(res *Result, plan *Plan, planned int) {
	r.mu.Lock()
	now, fresh, solved := standing(r.problems[res.Host], res, plan, planned)
	if r.problems == nil {
		r.problems = map[string]map[Problem]origin{}
	}
	r.problems[res.Host] = now
	r.mu.Unlock()
	if r.Log == nil {
		return
	}
	for _, p := range fresh {
		r.Log.Warn("inventory problem", "host", p.Host, "reason", string(p.Reason), "device", p.Device, "problem", p.String())
	}
	for _, p := range solved {
		r.Log.Info("inventory problem solved", "host", p.Host, "reason", string(p.Reason), "device", p.Device)
	}
}
