package arq

// Settlement is what becomes of an attach handle when its request leaves.
type Settlement string

// The settlements.
const (
	// SettleNothing: the request owned no handle; nothing is touched.
	SettleNothing Settlement = "nothing"
	// SettleFree: the handle is free again.
	SettleFree Settlement = "free"
	// SettleClean: the device goes to pending_cleaning, the handle stays in
	// use without an owner and the deployable is withdrawn until the device
	// has been erased.
	SettleClean Settlement = "clean"
)

// Settle decides what becomes of the handle of a request in state s that
// leaves, from the type and the device_state of the handle's device. Only an
// NVMe device whose request reached Bound may hold a guest's data. A device
// that is already on its way through cleaning, or quarantined, never becomes
// free by a request that leaves.
func Settle(deviceType string, s State, deviceState string) Settlement {
	if deviceType != DeviceTypeNVMe {
		return SettleFree
	}
	switch deviceState {
	case "pending_cleaning", "cleaning", "error":
		return SettleClean
	}
	if s == Bound || s == Deleting {
		return SettleClean
	}
	return SettleFree
}
