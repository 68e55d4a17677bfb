package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/pci"
)

// ManagedPlan is what has to happen before the discovered devices of a host may
// be reported (specification "Support VFIO variant driver managed mode",
// persisted state and reconciliation). It is made by [Managed].
type ManagedPlan struct {
	// Report is what was discovered, with the persisted bytes of cpid_info and
	// attach_info wherever they mean the same, and the new bytes where Updates
	// writes them. It shares no handles with what was discovered.
	Report []Device
	// Updates are in-place changes of free handles, or of metadata that may
	// change on held ones. Nothing may be written while Err is not nil.
	Updates []InfoUpdate
	// Missing are the PCI addresses of held handles that were not discovered.
	// They are no conflict: the conductor retains them.
	Missing []string

	problems []error
}

// InfoUpdate is one in-place change of a stored handle's attach_info.
type InfoUpdate struct {
	Host       string  // in the spelling of the stored rows
	Device     *Device // stored, with everything below as it was read
	Deployable *Deployable
	Handle     *Handle
	To         string // new bytes
	// RequireUnallocated: managed changes, so the handle must be free when the
	// change is written, too.
	RequireUnallocated bool
}

// ManagedConflictError says that the configuration would change the managed
// mode of a device while a guest has it.
type ManagedConflictError struct {
	Host               string
	Address            pci.Address
	Handle             string // uuid
	Stored, Configured bool
}

func (e *ManagedConflictError) Error() string {
	return fmt.Sprintf("host %s, device %s: managed is %t for the guest that has it (attach handle %s), but [pci] device_spec says %t; "+
		"restore the previous configuration or release the allocation", e.Host, e.Address, e.Stored, e.Handle, e.Configured)
}

// InvalidInfoError says that the stored attach_info of a device that is still
// reported is not valid; it is never coerced.
type InvalidInfoError struct {
	Host    string
	Address pci.Address // as discovered
	Handle  string      // uuid; empty when the discovered text is the invalid one
	Err     error       // *arq.InfoError
}

func (e *InvalidInfoError) Error() string {
	if e.Handle == "" {
		return fmt.Sprintf("host %s, device %s: discovered attach handle: %v", e.Host, e.Address, e.Err)
	}
	return fmt.Sprintf("host %s, device %s: stored attach handle %s: %v; correct the row attach_handles.attach_info or release and delete the device",
		e.Host, e.Address, e.Handle, e.Err)
}

// Unwrap gives what is wrong with the text.
func (e *InvalidInfoError) Unwrap() error { return e.Err }

// Err joins every *[ManagedConflictError] and *[InvalidInfoError]; nil when the
// report may go on. With an error nothing is updated and nothing reported.
func (p *ManagedPlan) Err() error { return errors.Join(p.problems...) }

// Managed compares the metadata of stored PCI handles with what was discovered:
// managed, stateful and numa_node, by their effective values. It is pure.
//
// Handles agree when control path (its address), deployable (its name) and PCI
// address agree. Equal values keep the stored bytes, whatever their spelling. A
// managed mode that differs on a held handle is a conflict; on a free one the
// text is rewritten in place. stateful and numa_node are rewritten even on a
// held handle, and leave the managed key as it is. A stored text that is
// invalid is a conflict, never coerced. Stored handles that were not
// discovered are not compared. Keys nobody here knows are left to the report.
func Managed(stored Inventory, discovered []Device) ManagedPlan {
	m := &managed{host: stored.Host, seen: map[int64]bool{}}
	byPath := make(map[key][]*Device, len(stored.Devices))
	for i := range stored.Devices {
		d := &stored.Devices[i]
		k := d.ControlPath.key()
		byPath[k] = append(byPath[k], d)
	}
	m.plan.Report = make([]Device, len(discovered))
	for i := range discovered {
		m.plan.Report[i] = copyDevice(discovered[i])
		if group := byPath[discovered[i].ControlPath.key()]; len(group) > 0 && !discovered[i].Stub {
			m.device(kept(group), &m.plan.Report[i])
		}
	}
	m.missing(stored.Devices)
	return m.plan
}

// managed holds the state of one [Managed].
type managed struct {
	host string
	plan ManagedPlan
	seen map[int64]bool // stored handles that were discovered
}

// kept is the row of several for one control path that counts, as in [Diff].
func kept(group []*Device) *Device {
	keep := group[0]
	for _, d := range group[1:] {
		if d.Held() && !keep.Held() || d.Held() == keep.Held() && d.ID < keep.ID {
			keep = d
		}
	}
	return keep
}

func (m *managed) device(have, report *Device) {
	report.ControlPath.Info = have.ControlPath.Info
	for i := range report.Deployables {
		for k := range have.Deployables {
			if have.Deployables[k].Name == report.Deployables[i].Name {
				m.deployable(have, &have.Deployables[k], &report.Deployables[i])
			}
		}
	}
}

// deployable pairs the handles by address. A stored text without a readable
// one cannot be told from the discovered handles, so it is taken for one.
func (m *managed) deployable(d *Device, have, report *Deployable) {
	byAddress := map[pci.Address]*Handle{}
	for i := range have.Handles {
		h := &have.Handles[i]
		if h.Type != arq.HandlePCI {
			continue
		}
		_, address, err := readInfo(h)
		if err != nil {
			m.seen[h.ID] = true
			m.invalid(h, firstAddress(report), err)
			continue
		}
		if other := byAddress[address]; other == nil || h.Held() && !other.Held() {
			byAddress[address] = h
		}
	}
	for i := range report.Handles {
		q := &report.Handles[i]
		if q.Type != arq.HandlePCI {
			continue
		}
		want, address, err := readInfo(q)
		if err == nil {
			err = checkMetadata(q.Type, want)
		}
		if err != nil {
			m.plan.problems = append(m.plan.problems, &InvalidInfoError{Host: m.host, Address: address, Err: err})
			continue
		}
		if h := byAddress[address]; h != nil {
			m.seen[h.ID] = true
			m.handle(InfoUpdate{Host: m.host, Device: d, Deployable: have, Handle: h}, q, address, want)
		}
	}
}

func readInfo(h *Handle) (arq.HandleInfo, pci.Address, error) {
	info, err := arq.ParseHandleInfo(h.Info)
	if err != nil {
		return info, pci.Address{}, err
	}
	address, err := info.Address()
	return info, address, err
}

// firstAddress is the address to name when the stored text has none.
func firstAddress(p *Deployable) pci.Address {
	for i := range p.Handles {
		if _, address, err := readInfo(&p.Handles[i]); err == nil {
			return address
		}
	}
	return pci.Address{}
}

func (m *managed) invalid(h *Handle, address pci.Address, err error) {
	m.plan.problems = append(m.plan.problems, &InvalidInfoError{Host: m.host, Address: address, Handle: h.UUID, Err: err})
}

// handle is the decision table for one matched handle; q gets the text that the
// database holds, or will hold.
func (m *managed) handle(u InfoUpdate, q *Handle, address pci.Address, want arq.HandleInfo) {
	h := u.Handle
	have, err := parseStored(h)
	if err != nil {
		m.invalid(h, address, err)
		return
	}
	stored, _ := have.Managed() // checked by parseStored
	configured, _ := want.Managed()
	switch {
	case stored != configured && h.Held():
		m.plan.problems = append(m.plan.problems, &ManagedConflictError{
			Host: m.host, Address: address, Handle: h.UUID, Stored: stored, Configured: configured,
		})
	case stored != configured:
		u.RequireUnallocated = true
		m.update(u, q, q.Info)
	case otherKeys(h.Type, have) != otherKeys(h.Type, want): // the report replaces such a handle, as it always did
	case !sameMetadata(have, want):
		m.update(u, q, refreshed(have, want))
	default:
		q.Info = h.Info
	}
}

func (m *managed) update(u InfoUpdate, q *Handle, to string) {
	u.To, q.Info = to, to
	m.plan.Updates = append(m.plan.Updates, u)
}

// missing lists the held PCI handles that were not discovered.
func (m *managed) missing(stored []Device) {
	for i := range stored {
		for k := range stored[i].Deployables {
			p := &stored[i].Deployables[k]
			for n := range p.Handles {
				if h := &p.Handles[n]; h.Type == arq.HandlePCI && h.Held() && !m.seen[h.ID] {
					m.plan.Missing = append(m.plan.Missing, handleName(h))
				}
			}
		}
	}
}

func copyDevice(d Device) Device {
	d.Deployables = slices.Clone(d.Deployables)
	for i := range d.Deployables {
		d.Deployables[i].Handles = slices.Clone(d.Deployables[i].Handles)
	}
	return d
}
