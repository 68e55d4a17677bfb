package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/pci"
)

// ManagedPlan is what has to happen before a host's discovered devices may be
// reported (specification "Support VFIO variant driver managed mode",
// Persisted state and reconciliation).
type ManagedPlan struct {
	// Report is what was discovered, with the persisted bytes of cpid_info and
	// attach_info wherever they mean the same, and the new bytes where Updates
	// writes them.
	Report []Device
	// Updates are in-place changes of free handles, or of metadata that may
	// change on held ones. Nothing may be written while Err is not nil.
	Updates []InfoUpdate

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
	Handle  string      // uuid
	Err     error       // *arq.InfoError
}

func (e *InvalidInfoError) Error() string {
	return fmt.Sprintf("host %s, device %s: stored attach handle %s: %v; correct the row attach_handles.attach_info or release and delete the device",
		e.Host, e.Address, e.Handle, e.Err)
}

// Unwrap gives what is wrong with the text.
func (e *InvalidInfoError) Unwrap() error { return e.Err }

// Err joins every *[ManagedConflictError] and *[InvalidInfoError]; nil when the
// report may go on. With an error nothing is updated and nothing reported.
func (p ManagedPlan) Err() error { return errors.Join(p.problems...) }

// Managed compares what a host discovered with what it has stored. A discovered
// handle is a stored one when control path, deployable name and PCI address
// agree, whatever the spelling. Devices that are stored and not discovered are
// not looked at: the report that leaves them out decides. have and discovered
// stay as they are.
func Managed(have Inventory, discovered []Device) ManagedPlan {
	m := managed{host: have.Host, stored: map[string]*Device{}}
	for i := range have.Devices {
		d := &have.Devices[i]
		if key := d.ControlPath.key(); m.stored[key] == nil {
			m.stored[key] = d
		}
	}
	for i := range discovered {
		m.device(discovered[i])
	}
	return m.plan
}

type managed struct {
	host   string
	stored map[string]*Device
	plan   ManagedPlan
}

func (m *managed) device(d Device) {
	old := m.stored[d.ControlPath.key()]
	if old != nil {
		d.ControlPath.Info = old.ControlPath.Info
		d.Deployables = slices.Clone(d.Deployables)
		for i := range d.Deployables {
			m.deployable(old, &d.Deployables[i])
		}
	}
	m.plan.Report = append(m.plan.Report, d)
}

func (m *managed) deployable(device *Device, d *Deployable) {
	at := slices.IndexFunc(device.Deployables, func(s Deployable) bool { return s.Name == d.Name })
	if at < 0 {
		return
	}
	old := &device.Deployables[at]
	d.Handles = slices.Clone(d.Handles)
	for i := range d.Handles {
		m.handle(device, old, &d.Handles[i])
	}
}

// handle finds the stored handle of a discovered one and decides. A stored text
// without a readable address cannot be told from the discovered handle's own;
// while none of the deployable's handles is a match, it is taken for it.
func (m *managed) handle(device *Device, d *Deployable, h *Handle) {
	if h.Type != arq.HandlePCI && h.Type != arq.HandleTestPCI {
		return
	}
	want, address, err := readInfo(h.Info)
	if err != nil {
		m.plan.problems = append(m.plan.problems, &InvalidInfoError{Host: m.host, Err: err})
		return
	}
	var unreadable error
	var broken *Handle
	for i := range d.Handles {
		old := &d.Handles[i]
		if old.Type != h.Type {
			continue
		}
		info, at, err := readInfo(old.Info)
		switch {
		case err != nil:
			unreadable, broken = err, old
		case at == address:
			m.decide(InfoUpdate{Host: m.host, Device: device, Deployable: d, Handle: old}, h, address, info, want)
			return
		}
	}
	if broken != nil {
		m.invalid(broken, address, unreadable)
	}
}

func readInfo(text string) (arq.HandleInfo, pci.Address, error) {
	info, err := arq.ParseHandleInfo(text)
	if err != nil {
		return info, pci.Address{}, err
	}
	address, err := info.Address()
	return info, address, err
}

func (m *managed) invalid(h *Handle, address pci.Address, err error) {
	m.plan.problems = append(m.plan.problems, &InvalidInfoError{Host: m.host, Address: address, Handle: h.UUID, Err: err})
}

// decide is the decision table for one matched handle.
func (m *managed) decide(u InfoUpdate, h *Handle, address pci.Address, have, want arq.HandleInfo) {
	stored, err := have.Managed()
	if err == nil {
		err = checkMetadata(h.Type, have)
	}
	configured, wantErr := want.Managed()
	if err = errors.Join(err, wantErr); err != nil {
		m.invalid(u.Handle, address, err)
		return
	}
	switch metadata := changedMetadata(have, want); {
	case stored != configured && u.Handle.Held():
		m.plan.problems = append(m.plan.problems, &ManagedConflictError{
			Host: m.host, Address: address, Handle: u.Handle.UUID, Stored: stored, Configured: configured,
		})
	case stored != configured:
		u.To, u.RequireUnallocated = h.Info, true
		m.plan.Updates = append(m.plan.Updates, u)
	case otherKeysDiffer(have, want): // the report replaces such a handle, as it always did
	case metadata != nil:
		u.To = have.Compose(metadata)
		m.plan.Updates = append(m.plan.Updates, u)
		h.Info = u.To
	default:
		h.Info = u.Handle.Info
	}
}

// changedMetadata gives the members of stateful and numa_node to write into
// have, nil when both mean the same.
func changedMetadata(have, want arq.HandleInfo) map[string]string {
	set := map[string]string{}
	oldState, _ := have.Stateful()
	if state, _ := want.Stateful(); state != oldState {
		set[arq.KeyStateful], _ = want.Value(arq.KeyStateful)
	}
	oldNode, oldKnown, _ := have.NUMANode()
	if node, known, _ := want.NUMANode(); node != oldNode || known != oldKnown {
		set[arq.KeyNUMANode], _ = want.Value(arq.KeyNUMANode)
	}
	if len(set) == 0 {
		return nil
	}
	return set
}

// otherKeysDiffer compares what is neither address nor metadata.
func otherKeysDiffer(have, want arq.HandleInfo) bool {
	drop := map[string]string{
		arq.KeyManaged: "", arq.KeyStateful: "", arq.KeyNUMANode: "",
		"domain": "", "bus": "", "device": "", "function": "",
	}
	return have.Compose(drop) != want.Compose(drop)
}
