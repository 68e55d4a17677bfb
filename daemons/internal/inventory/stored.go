package inventory

import (
	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// Lists are the persisted objects of one host as an agent reads them. They are separate reads: an object whose
// parent is missing from its list is left out.
type Lists struct {
	Devices        *cyborg.DeviceList
	ControlpathIDs *cyborg.ControlpathIDList
	Deployables    *cyborg.DeployableList
	AttachHandles  *cyborg.AttachHandleList
	Referenced     *cyborg.AttachHandleList // the attach handles that any ARQ names
}

// Stored joins the lists into the inventory of host, which keeps the spelling of the stored rows. Attributes are not among them and stay empty; an ARQ that
// refers to a handle is known to exist, not which it is, and stands in as an empty UUID.
func Stored(host string, l Lists) reconcile.Inventory {
	handles := handlesOf(l.AttachHandles.All(), l.Referenced.All())
	deployables := map[int64][]reconcile.Deployable{}
	for _, d := range l.Deployables.All() {
		id := d.DeviceID.Value()
		deployables[id] = append(deployables[id], reconcile.Deployable{
			ID: d.ID.Value(), UUID: d.UUID.Value(), Name: d.Name.Value(),
			NumAccelerators: int(d.NumAccelerators.Value()), DriverName: d.DriverName.Ptr(),
			BitstreamID: d.BitstreamID.Ptr(), Offer: d.RPUUID.Value(), UpdatedAt: d.UpdatedAt.Value(),
			Handles: handles[d.ID.Value()],
		})
	}
	paths := map[int64]reconcile.ControlPath{}
	for _, p := range l.ControlpathIDs.All() {
		paths[p.DeviceID.Value()] = reconcile.ControlPath{
			ID: p.ID.Value(), UUID: p.UUID.Value(), Type: string(p.CpidType.Value()), Info: p.CpidInfo.Value(),
		}
	}
	inv := reconcile.Inventory{Host: host}
	for i, d := range l.Devices.All() {
		if i == 0 {
			inv.Host = d.Hostname.Or(host)
		}
		path, ok := paths[d.ID.Value()]
		if !ok {
			continue
		}
		inv.Devices = append(inv.Devices, reconcile.Device{
			ID: d.ID.Value(), UUID: d.UUID.Value(), Type: string(d.Type.Value()),
			Vendor: d.Vendor.Value(), Model: d.Model.Value(),
			StdBoardInfo: d.StdBoardInfo.Ptr(), VendorBoardInfo: d.VendorBoardInfo.Ptr(),
			Status: string(d.Status.Value()), State: reconcile.DeviceState(d.DeviceState.Value()),
			ControlPath: path, Deployables: deployables[d.ID.Value()],
		})
	}
	return inv
}

func handlesOf(all, referenced []*cyborg.AttachHandle) map[int64][]reconcile.Handle {
	named := make(map[int64]bool, len(referenced))
	for _, h := range referenced {
		named[h.ID.Value()] = true
	}
	out := map[int64][]reconcile.Handle{}
	for _, h := range all {
		handle := reconcile.Handle{
			ID: h.ID.Value(), UUID: h.UUID.Value(), Type: arq.HandleType(h.AttachType.Value()),
			Info: h.AttachInfo.Value(), InUse: h.InUse.Value(),
		}
		if named[h.ID.Value()] {
			handle.ARQs = []string{""}
		}
		out[h.DeployableID.Value()] = append(out[h.DeployableID.Value()], handle)
	}
	return out
}
