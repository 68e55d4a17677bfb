package cyborg

import (
	"fmt"
	"slices"
)

// Keys of the expected dict of AttachHandle.update_attach_info. The contract is the whole set: a missing or an
// unknown key is refused, so that a peer which forgets one cannot switch its check off.
const (
	keyDeployableID   = "deployable_id"
	keyDeployableName = "deployable_name"
	keyControlpathID  = "controlpath_id"
	keyCpidInfo       = "cpid_info"
	keyDeviceID       = "device_id"
	keyHostname       = "hostname"
	keyAttachType     = "attach_type"
	keyAttachInfo     = "attach_info"
	keyInUse          = "in_use"
	keyReferenced     = "referenced"
)

// Dict is the expectation as the expected argument of AttachHandle.update_attach_info.
func (x HandleExpectation) Dict() map[string]any {
	return map[string]any{
		keyDeployableID: x.DeployableID, keyDeployableName: x.DeployableName,
		keyControlpathID: x.ControlpathID, keyCpidInfo: x.CpidInfo,
		keyDeviceID: x.DeviceID, keyHostname: x.Hostname,
		keyAttachType: x.AttachType, keyAttachInfo: x.AttachInfo,
		keyInUse: x.InUse, keyReferenced: x.Referenced,
	}
}

// Differs names the first value of x, by its key, that differs in now; "" when nothing does.
func (x HandleExpectation) Differs(now HandleExpectation) string {
	want, have := x.Dict(), now.Dict()
	for _, key := range expectationKeys(want) {
		if want[key] != have[key] {
			return key
		}
	}
	return ""
}

func expectationKeys(d map[string]any) []string {
	keys := make([]string, 0, len(d))
	for k := range d {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// expectationOf reads the expected dict of a peer. Errors: *InvalidArgumentError.
func expectationOf(dict map[string]any) (HandleExpectation, error) {
	r := dictReader{dict: dict, left: len(dict)}
	x := HandleExpectation{
		DeployableID: take[int64](&r, keyDeployableID), DeployableName: take[string](&r, keyDeployableName),
		ControlpathID: take[int64](&r, keyControlpathID), CpidInfo: take[string](&r, keyCpidInfo),
		DeviceID: take[int64](&r, keyDeviceID), Hostname: take[string](&r, keyHostname),
		AttachType: take[string](&r, keyAttachType), AttachInfo: take[string](&r, keyAttachInfo),
		InUse: take[bool](&r, keyInUse), Referenced: take[bool](&r, keyReferenced),
	}
	if r.err == "" && r.left > 0 {
		r.err = "has keys that the contract does not know"
	}
	if r.err != "" {
		return HandleExpectation{}, &InvalidArgumentError{
			Method: "AttachHandle.update_attach_info", Argument: "expected", Reason: r.err,
		}
	}
	return x, nil
}

type dictReader struct {
	dict map[string]any
	left int
	err  string // the first fault
}

func take[T any](r *dictReader, key string) T {
	raw, ok := r.dict[key]
	v, fits := raw.(T)
	switch {
	case r.err != "":
	case !ok:
		r.err = fmt.Sprintf("%s is missing", key)
	case !fits:
		r.err = fmt.Sprintf("%s must be %T, not %T", key, v, raw)
	}
	r.left--
	return v
}
