package pci

import "errors"

// ParseDeviceSpec reads the values of [pci] device_spec in configuration
// order. Each value is one JSON object or a list of objects. check is the JSON
// Schema check; nil leaves it out, and then whatever the rules cannot express
// is refused all the same, with plainer messages. The error is a
// [*ConfigError] that lists everything wrong with all values.
func ParseDeviceSpec(values []OptionValue, check SchemaCheck) (DeviceSpec, error) {
	return DeviceSpec{}, errors.ErrUnsupported
}
