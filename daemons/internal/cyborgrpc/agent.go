package cyborgrpc

import (
	"encoding/json"

	"github.com/go-cyborg/cyborg/daemons/internal/upgradelevels"
	"github.com/go-cyborg/cyborg/rpc"
)

// AgentTopic is the topic of every agent; a call always names the agent's host as its server.
const AgentTopic = "cyborg-agent"

// AgentVersion is the highest version of the agent interface that this code speaks.
const AgentVersion = upgradelevels.AgentVersion

// The methods of the agent, version 1.0.
var (
	FPGAProgram    = rpc.NewMethod[FPGAProgramArgs, Truth]("fpga_program", "1.0")
	CreateVGPUMdev = rpc.NewMethod[MdevArgs, rpc.Null]("create_vgpu_mdev", "1.0")
	RemoveVGPUMdev = rpc.NewMethod[MdevArgs, rpc.Null]("remove_vgpu_mdev", "1.0")
)

// ErrNoMdev is the class of what an agent answers to remove_vgpu_mdev when there is no such mediated device: it opens
// the device's file in sysfs without a look before.
var ErrNoMdev = rpc.Class{Module: builtinsModule, Name: "FileNotFoundError"}

// ErrMdevExists is the class of what an agent answers to create_vgpu_mdev when the kernel has a mediated device of that
// UUID already.
var ErrMdevExists = rpc.Class{Module: builtinsModule, Name: "FileExistsError"}

// FPGAProgramArgs are the arguments of fpga_program.
type FPGAProgramArgs struct {
	ControlpathID ControlpathDict `json:"controlpath_id"`
	BitstreamUUID string          `json:"bitstream_uuid"`
	DriverName    string          `json:"driver_name"`
}

// Truth is a result of which callers look at the truth alone, as Python does: drivers outside the tree answer with
// numbers or nothing where those in it answer with a boolean.
type Truth bool

// UnmarshalJSON reads any JSON value by Python's rules.
func (t *Truth) UnmarshalJSON(raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*t = false
	case bool:
		*t = Truth(v)
	case float64:
		*t = v != 0
	case string:
		*t = v != ""
	case []any:
		*t = len(v) > 0
	case map[string]any:
		*t = len(v) > 0
	}
	return nil
}

// ControlpathDict is a control path as fpga_program takes it: a row whose cpid_info is parsed JSON already,
// not an object.
type ControlpathDict struct {
	ID        int64           `json:"id"`
	UUID      string          `json:"uuid"`
	DeviceID  int64           `json:"device_id"`
	CpidType  string          `json:"cpid_type"`
	CpidInfo  json.RawMessage `json:"cpid_info"`
	CreatedAt *string         `json:"created_at"`
	UpdatedAt *string         `json:"updated_at"`
}

// MdevArgs are the arguments of create_vgpu_mdev and remove_vgpu_mdev.
type MdevArgs struct {
	PCIAddr   string `json:"pci_addr"` // dddd:bb:dd.f
	AskedType string `json:"asked_type"`
	AHUUID    string `json:"ah_uuid"` // of the attach handle; it becomes the mdev's UUID
}
