package demo

import (
	_ "embed"
	"fmt"

	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

//go:embed host.devs
var hostDevices string

// What the story says about the recorded host.
const (
	recordedSpec    = `{"vendor_id": "10de", "product_id": "2bb5", "managed": false}`
	recordedExclude = "0001:04:00.0" // the physical function, whose virtual functions have the same ids
	recordedIDs     = "10de:2bb5"
	recordedCount   = 25 // 24 virtual functions and the whole card
)

// expandHost writes the recorded host into dir.
func expandHost(dir string) error {
	tree, err := sysfstest.ParseDevices(hostDevices)
	if err != nil {
		return fmt.Errorf("recorded host: %w", err)
	}
	return tree.Expand(dir)
}
