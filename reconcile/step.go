package reconcile

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
)

// Step is one write of a device's plan. The set of steps is closed: the types
// of this package. A step's String is one row of a table for operators.
type Step interface {
	fmt.Stringer
	step()
}

// Row steps, written by [Store.Insert], [Store.Commit] and [Store.Remove].
type (
	// InsertDevice creates the device row and everything below it.
	InsertDevice struct {
		Device *Device `json:"-"`
		Info   string  `json:"cpid_info"`
	}
	// SetBoard writes the descriptive columns of the device.
	SetBoard struct {
		Type            string  `json:"type"`
		Vendor          string  `json:"vendor"`
		Model           string  `json:"model"`
		StdBoardInfo    *string `json:"std_board_info"`
		VendorBoardInfo *string `json:"vendor_board_info"`
	}
	// InsertDeployable creates a deployable with its attributes and handles,
	// its offer NULL.
	InsertDeployable struct {
		Deployable *Deployable `json:"-"`
		Name       string      `json:"name"`
	}
	// SetNumAccelerators changes the number of units.
	SetNumAccelerators struct {
		Deployable int64 `json:"deployable_id"`
		From       int   `json:"from"`
		To         int   `json:"to"`
	}
	// SetDriverName fills in a NULL driver_name.
	SetDriverName struct {
		Deployable int64  `json:"deployable_id"`
		To         string `json:"to"`
	}
	// InsertAttribute creates an attribute.
	InsertAttribute struct {
		Deployable int64  `json:"deployable_id"`
		Key        string `json:"key"`
		Value      string `json:"value"`
	}
	// SetAttribute changes the value of an attribute in place.
	SetAttribute struct {
		Deployable int64  `json:"deployable_id"`
		Attribute  int64  `json:"attribute_id"`
		Key        string `json:"key"`
		From       string `json:"from"`
		To         string `json:"to"`
	}
	// DeleteAttribute deletes an attribute.
	DeleteAttribute struct {
		Deployable int64  `json:"deployable_id"`
		Attribute  int64  `json:"attribute_id"`
		Key        string `json:"key"`
	}
	// InsertHandle creates an attach handle under a new uuid.
	InsertHandle struct {
		Deployable int64          `json:"deployable_id"`
		Type       arq.HandleType `json:"attach_type"`
		Info       string         `json:"attach_info"`
		InUse      bool           `json:"in_use"`
	}
	// SetHandleInfo rewrites a handle's text in place; Free says that it may
	// be done only while nobody holds the handle.
	SetHandleInfo struct {
		Deployable int64  `json:"deployable_id"`
		Handle     int64  `json:"handle_id"`
		From       string `json:"from"`
		To         string `json:"to"`
		Free       bool   `json:"only_free"`
	}
	// SetHandleType changes a handle's attach_type in place, only while nobody
	// holds the handle.
	SetHandleType struct {
		Deployable int64          `json:"deployable_id"`
		Handle     int64          `json:"handle_id"`
		From       arq.HandleType `json:"from"`
		To         arq.HandleType `json:"to"`
	}
	// DeleteHandle deletes a handle, only while nobody holds it.
	DeleteHandle struct {
		Deployable int64  `json:"deployable_id"`
		Handle     int64  `json:"handle_id"`
		Info       string `json:"attach_info"`
	}
	// DeleteDeployable deletes a deployable with attributes and handles, only
	// while nobody holds one of them.
	DeleteDeployable struct {
		Deployable int64  `json:"deployable_id"`
		Name       string `json:"name"`
	}
	// DeleteDevice deletes the whole device, only while nobody holds it.
	DeleteDevice struct {
		Info string `json:"cpid_info"`
	}
)

// Offer and provider steps, carried out by [Runner.Apply]. A deployable whose
// provider is written is claimed first, so its offer is NULL meanwhile.
type (
	// Withdraw takes a deployable off offer.
	Withdraw struct {
		Deployable int64  `json:"deployable_id"`
		Name       string `json:"name"`
	}
	// SyncProvider makes Placement hold this for a deployable and, if Offer is
	// set, puts it on offer afterwards. Deployable is 0 for one that the same
	// plan inserts.
	SyncProvider struct {
		Deployable int64    `json:"deployable_id"`
		Name       string   `json:"name"`
		Class      string   `json:"class"`
		Traits     []string `json:"traits"`
		Total      int      `json:"total"`
		Reserved   int      `json:"reserved"`
		Offer      bool     `json:"offer"`

		accelerators int      // num_accelerators of the report
		retained     int      // held handles that are neither reported nor counted in accelerators
		oldTraits    []string // what the stored row asked for
		sameTraits   bool     // the provider is known to carry Traits
		repeated     bool     // only made sure of: skipped while nobody wrote the provider since
	}
	// Reserve makes the whole inventory of a provider unavailable.
	Reserve struct {
		Deployable int64  `json:"deployable_id"`
		Name       string `json:"name"`
		Class      string `json:"class"`
		Total      int    `json:"total"`
		Reserved   int    `json:"reserved"`

		retained int
	}
	// DropProvider deletes a deployable's provider.
	DropProvider struct {
		Deployable int64  `json:"deployable_id"`
		Name       string `json:"name"`
	}
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

func (s InsertDevice) String() string { return "insert device " + s.Info }
func (s SetBoard) String() string {
	return fmt.Sprintf("set board type=%s vendor=%s model=%s std_board_info=%s vendor_board_info=%s",
		s.Type, s.Vendor, s.Model, orNull(s.StdBoardInfo), orNull(s.VendorBoardInfo))
}
func (s InsertDeployable) String() string { return "insert deployable " + s.Name }
func (s SetNumAccelerators) String() string {
	return fmt.Sprintf("set num_accelerators of deployable %d: %d -> %d", s.Deployable, s.From, s.To)
}

func (s SetDriverName) String() string {
	return fmt.Sprintf("set driver_name of deployable %d: %s", s.Deployable, s.To)
}

func (s InsertAttribute) String() string {
	return fmt.Sprintf("insert attribute of deployable %d: %s=%s", s.Deployable, s.Key, s.Value)
}

func (s SetAttribute) String() string {
	return fmt.Sprintf("set attribute %s of deployable %d: %s -> %s", s.Key, s.Deployable, s.From, s.To)
}

func (s DeleteAttribute) String() string {
	return fmt.Sprintf("delete attribute %s of deployable %d", s.Key, s.Deployable)
}

func (s InsertHandle) String() string {
	return fmt.Sprintf("insert handle of deployable %d: %s %s", s.Deployable, s.Type, s.Info)
}

func (s SetHandleInfo) String() string {
	return fmt.Sprintf("set attach_info of handle %d: %s -> %s", s.Handle, s.From, s.To)
}

func (s SetHandleType) String() string {
	return fmt.Sprintf("set attach_type of handle %d: %s -> %s", s.Handle, s.From, s.To)
}

func (s DeleteHandle) String() string { return fmt.Sprintf("delete handle %d: %s", s.Handle, s.Info) }

func (s DeleteDeployable) String() string {
	return fmt.Sprintf("delete deployable %d: %s", s.Deployable, s.Name)
}
func (s DeleteDevice) String() string { return "delete device " + s.Info }
func (s Withdraw) String() string     { return "withdraw " + s.Name }
func (s SyncProvider) String() string {
	return fmt.Sprintf("sync provider %s: %s total=%d reserved=%d traits=%s", s.Name, s.Class, s.Total, s.Reserved, strings.Join(s.Traits, ","))
}

func (s Reserve) String() string {
	return fmt.Sprintf("reserve provider %s: %s total=%d reserved=%d", s.Name, s.Class, s.Total, s.Reserved)
}
func (s DropProvider) String() string { return "drop provider " + s.Name }

func orNull(s *string) string {
	if s == nil {
		return "NULL"
	}
	return *s
}

// MarshalJSON writes the plan of a device with each step as one object whose
// member "step" names its kind.
func (p DevicePlan) MarshalJSON() ([]byte, error) {
	steps := make([]json.RawMessage, len(p.Steps))
	for i, s := range p.Steps {
		fields, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		kind := strings.TrimPrefix(fmt.Sprintf("%T", s), "reconcile.")
		text := fmt.Sprintf(`{"step":%q`, kind)
		if len(fields) > 2 {
			text += "," + string(fields[1:])
		} else {
			text += "}"
		}
		steps[i] = json.RawMessage(text)
	}
	return json.Marshal(struct {
		Verdict Verdict           `json:"verdict"`
		Device  string            `json:"device"`
		Steps   []json.RawMessage `json:"steps"`
	}{p.Verdict, p.Device(), steps})
}
