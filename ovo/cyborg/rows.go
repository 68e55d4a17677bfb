package cyborg

import "time"

// The row structs are what the remotable bodies get from a store: one struct per table, one field per column,
// nullable columns as pointers. They carry no behaviour; a body turns them into objects, and the db tags are
// the column names of Cyborg's schema, so that a store can scan straight into them.

// DeviceRow is a row of table devices.
type DeviceRow struct {
	ID              int64      `db:"id"`
	UUID            string     `db:"uuid"`
	Type            string     `db:"type"`
	Vendor          string     `db:"vendor"`
	Model           string     `db:"model"`
	StdBoardInfo    *string    `db:"std_board_info"`
	VendorBoardInfo *string    `db:"vendor_board_info"`
	Hostname        string     `db:"hostname"`
	Status          string     `db:"status"`
	DeviceState     *string    `db:"device_state"`
	CreatedAt       *time.Time `db:"created_at"`
	UpdatedAt       *time.Time `db:"updated_at"`
}

// ControlpathIDRow is a row of table controlpath_ids.
type ControlpathIDRow struct {
	ID        int64      `db:"id"`
	UUID      string     `db:"uuid"`
	DeviceID  int64      `db:"device_id"`
	CpidType  string     `db:"cpid_type"`
	CpidInfo  string     `db:"cpid_info"`
	CreatedAt *time.Time `db:"created_at"`
	UpdatedAt *time.Time `db:"updated_at"`
}

// DeployableRow is a row of table deployables.
type DeployableRow struct {
	ID              int64      `db:"id"`
	UUID            string     `db:"uuid"`
	ParentID        *int64     `db:"parent_id"`
	RootID          *int64     `db:"root_id"`
	Name            string     `db:"name"`
	NumAccelerators int64      `db:"num_accelerators"`
	DeviceID        int64      `db:"device_id"`
	DriverName      *string    `db:"driver_name"`
	RPUUID          *string    `db:"rp_uuid"` // nil: not on offer
	BitstreamID     *string    `db:"bitstream_id"`
	CreatedAt       *time.Time `db:"created_at"`
	UpdatedAt       *time.Time `db:"updated_at"`
}

// AttachHandleRow is a row of table attach_handles. A NULL in_use reads as false.
type AttachHandleRow struct {
	ID           int64      `db:"id"`
	UUID         string     `db:"uuid"`
	DeployableID int64      `db:"deployable_id"`
	CpidID       int64      `db:"cpid_id"`
	AttachType   string     `db:"attach_type"`
	AttachInfo   string     `db:"attach_info"` // bytes as stored; never normalised
	InUse        bool       `db:"in_use"`
	CreatedAt    *time.Time `db:"created_at"`
	UpdatedAt    *time.Time `db:"updated_at"`
}
