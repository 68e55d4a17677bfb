package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// Objects is the set of all remotable methods of the catalogue. Made by [Local] or [Remote]; a test may fill
// single functions with fakes.
type Objects struct {
	DeviceList        DeviceLists
	ControlpathIDList ControlpathIDLists
	DeployableList    DeployableLists
	AttachHandle      AttachHandles
	AttachHandleList  AttachHandleLists
}

// Local fills the methods with bodies that run against db, as in the conductor. They are as safe for
// concurrent use as db.
func Local(db Store) Objects {
	return Objects{
		DeviceList:        localDeviceLists(db),
		ControlpathIDList: localControlpathIDLists(db),
		DeployableList:    localDeployableLists(db),
		AttachHandle:      localAttachHandles(db),
		AttachHandleList:  localAttachHandleLists(db),
	}
}

// Remote fills the methods with calls through via, as in an agent. It sends nothing. The errors of a call are
// those of via: refusals of its cap, failures of the bodies, time-outs.
func Remote(r *ovo.Registry, via ovo.Indirection) (Objects, error) {
	var o Objects
	err := r.Bind(via, &o.DeviceList, &o.ControlpathIDList, &o.DeployableList, &o.AttachHandle, &o.AttachHandleList)
	return o, err
}

// Dispatcher serves every method of o to remote callers, by class and Python name. more are the method sets of classes
// that r has beside the catalogue.
func (o Objects) Dispatcher(r *ovo.Registry, more ...any) (*ovo.Dispatcher, error) {
	own := []any{o.DeviceList, o.ControlpathIDList, o.DeployableList, o.AttachHandle, o.AttachHandleList}
	return r.Dispatcher(append(own, more...)...)
}
