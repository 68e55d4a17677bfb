package reconcile

import "github.com/go-cyborg/cyborg/arq"

// Step is one write of a device's plan. The set of steps is closed.
type Step interface{ step() }

// Row steps, written by [Store.Insert], [Store.Commit] and [Store.Remove].
type (
	// InsertDevice creates the device row and its control path.
	InsertDevice struct{ Device *Device }
	// SetBoard writes the descriptive columns that differ.
	SetBoard struct {
		Type, Vendor, Model           string
		StdBoardInfo, VendorBoardInfo *string
	}
	// InsertDeployable creates a deployable with its attributes and handles,
	// its offer NULL.
	InsertDeployable struct{ Deployable *Deployable }
	// SetNumAccelerators changes the number of units.
	SetNumAccelerators struct {
		Deployable int64
		From, To   int
	}
	// SetDriverName fills in a NULL driver_name.
	SetDriverName struct {
		Deployable int64
		To         string
	}
	// InsertAttribute creates an attribute.
	InsertAttribute struct {
		Deployable int64
		Key, Value string
	}
	// SetAttribute changes the value of an attribute in place.
	SetAttribute struct {
		Deployable, Attribute int64
		Key, From, To         string
	}
	// DeleteAttribute deletes an attribute.
	DeleteAttribute struct {
		Deployable, Attribute int64
		Key                   string
	}
	// InsertHandle creates an attach handle under a new uuid.
	InsertHandle struct {
		Deployable int64
		Type       arq.HandleType
		Info       string
		InUse      bool
	}
	// SetHandleInfo rewrites a handle's text in place; Free says that it may
	// only be done while nobody holds the handle.
	SetHandleInfo struct {
		Deployable, Handle int64
		From, To           string
		Free               bool
	}
	// SetHandleType changes a handle's attach_type in place.
	SetHandleType struct {
		Deployable, Handle int64
		From, To           arq.HandleType
	}
	// DeleteHandle deletes a handle, only while nobody holds it.
	DeleteHandle struct {
		Deployable, Handle int64
		Info               string
	}
	// DeleteDeployable deletes a deployable with attributes and handles, only
	// while nobody holds one of them.
	DeleteDeployable struct {
		Deployable int64
		Name       string
	}
	// DeleteDevice deletes the whole device, only while nobody holds it.
	DeleteDevice struct{}
)

// Offer and provider steps, carried out by [Runner.Apply].
type (
	// Withdraw takes a deployable off offer before Placement is changed.
	Withdraw struct {
		Deployable int64
		Name       string
	}
	// SyncProvider makes Placement hold this for a deployable.
	SyncProvider struct {
		Name            string
		Class           string
		Traits          []string
		OldTraits       []string
		Total, Reserved int
	}
	// Reserve makes a retained provider's inventory unavailable.
	Reserve struct {
		Name            string
		Class           string
		Total, Reserved int
	}
	// DropProvider deletes a deployable's provider.
	DropProvider struct{ Name string }
)

func (InsertDevice) step()       {}
func (SetBoard) step()           {}
func (InsertDeployable) step()   {}
func (SetNumAccelerators) step() {}
func (SetDriverName) step()      {}
func (InsertAttribute) step()    {}
func (SetAttribute) step()       {}
func (DeleteAttribute) step()    {}
func (InsertHandle) step()       {}
func (SetHandleInfo) step()      {}
func (SetHandleType) step()      {}
func (DeleteHandle) step()       {}
func (DeleteDeployable) step()   {}
func (DeleteDevice) step()       {}
func (Withdraw) step()           {}
func (SyncProvider) step()       {}
func (Reserve) step()            {}
func (DropProvider) step()       {}
