package inventory

import (
	"fmt"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

// UnsetError says that a reported object lacks a field without which it cannot be stored.
type UnsetError struct {
	Path string // from the device on, for example deployable_list[0].name
}

func (e *UnsetError) Error() string { return fmt.Sprintf("%s is not set", e.Path) }

// Reported turns a device as a driver reports it into a value. A field that must be set and is not is
// *[UnsetError]; board information may be null, but not unset, because an unset field cannot be compared.
func Reported(d *cyborg.DriverDevice) (reconcile.Device, error) {
	var c checker
	out := reconcile.Device{
		Type: string(must(&c, &d.Type, "type")), Vendor: must(&c, &d.Vendor, "vendor"), Model: must(&c, &d.Model, "model"),
		StdBoardInfo:    nullable(&c, &d.StdBoardInfo, "std_board_info"),
		VendorBoardInfo: nullable(&c, &d.VendorBoardInfo, "vendor_board_info"),
		State:           reconcile.DeviceState(d.DeviceState.Value()),
		Stub:            d.Stub.Value(),
	}
	if path := must(&c, &d.ControlpathID, "controlpath_id"); path != nil {
		must(&c, &path.CpidType, "controlpath_id.cpid_type")
		must(&c, &path.CpidInfo, "controlpath_id.cpid_info")
		out.ControlPath = Path(path)
	}
	for i, dep := range d.DeployableList.Value() {
		out.Deployables = append(out.Deployables, deployable(&c, dep, fmt.Sprintf("deployable_list[%d]", i)))
	}
	return out, c.err
}

// Path is a reported control path; the zero value without one.
func Path(p *cyborg.DriverControlPathID) reconcile.ControlPath {
	if p == nil {
		return reconcile.ControlPath{}
	}
	return reconcile.ControlPath{Type: p.CpidType.Value(), Info: p.CpidInfo.Value()}
}

func deployable(c *checker, d *cyborg.DriverDeployable, path string) reconcile.Deployable {
	out := reconcile.Deployable{
		Name:            must(c, &d.Name, path+".name"),
		NumAccelerators: int(must(c, &d.NumAccelerators, path+".num_accelerators")),
		DriverName:      d.DriverName.Ptr(),
	}
	for i, a := range d.AttributeList.Value() {
		at := fmt.Sprintf("%s.attribute_list[%d]", path, i)
		out.Attributes = append(out.Attributes, reconcile.Attribute{
			Key: must(c, &a.Key, at+".key"), Value: must(c, &a.Value, at+".value"),
		})
	}
	for i, h := range d.AttachHandleList.Value() {
		at := fmt.Sprintf("%s.attach_handle_list[%d]", path, i)
		out.Handles = append(out.Handles, reconcile.Handle{
			Type:  arq.HandleType(must(c, &h.AttachType, at+".attach_type")),
			Info:  must(c, &h.AttachInfo, at+".attach_info"),
			InUse: h.InUse.Value(),
		})
	}
	return out
}

// checker keeps the first fault.
type checker struct{ err error }

func (c *checker) unset(path string) {
	if c.err == nil {
		c.err = &UnsetError{Path: path}
	}
}

func must[T any](c *checker, f *ovo.Field[T], path string) T {
	v, ok := f.Get()
	if !ok {
		c.unset(path)
	}
	return v
}

func nullable[T any](c *checker, f *ovo.Null[T], path string) *T {
	if !f.IsSet() {
		c.unset(path)
	}
	return f.Ptr()
}
