package reconcile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-cyborg/cyborg/arq"
)

// Limits of the schema in characters, of its TEXT columns in bytes, of its
// integers, and of Placement.
const (
	maxText         = 255
	maxDriverName   = 100
	maxProviderName = 200 // Placement's limit; the column takes 255
	maxTextColumn   = 65535
	maxInteger      = math.MaxInt32
)

// maxShown is how many characters of a refused value a problem shows.
const maxShown = 255

var (
	deviceTypes  = []string{"GPU", "FPGA", "AICHIP", "QAT", "NIC", "SSD", "MDEV", "PCI", "NVME"}
	deviceStates = []DeviceState{StateUnset, StateAvailable, StateAllocated, StatePendingCleaning, StateCleaning, StateError}
)

// refusal is why a reported device is not taken; Host and Device are filled in
// by the caller. ok is true when there is none.
func refusal(d *Device) (p Problem, ok bool) {
	switch {
	case !slices.Contains(deviceTypes, d.Type):
		return invalid("type", d.Type, "want one of "+strings.Join(deviceTypes, ", "))
	case !slices.Contains(deviceStates, d.State):
		return invalid("device_state", string(d.State), "unknown state")
	case d.ControlPath.Type != cpidType:
		return invalid("cpid_type", d.ControlPath.Type, "want "+cpidType)
	}
	for _, f := range [...]struct{ name, value string }{
		{"vendor", d.Vendor}, {"model", d.Model}, {"cpid_info", d.ControlPath.Info},
	} {
		if why := badText(f.value, maxText); why != "" {
			return invalid(f.name, f.value, why)
		}
	}
	for _, f := range [...]struct {
		name  string
		value *string
	}{{"std_board_info", d.StdBoardInfo}, {"vendor_board_info", d.VendorBoardInfo}} {
		if f.value == nil {
			continue
		}
		if why := badColumn(*f.value); why != "" {
			return invalid(f.name, *f.value, why)
		}
	}
	for i := range d.Deployables {
		if p, ok := refusedDeployable(&d.Deployables[i]); !ok {
			p.Deployable = shown(d.Deployables[i].Name)
			return p, false
		}
		for j := range i {
			if strings.EqualFold(d.Deployables[i].Name, d.Deployables[j].Name) {
				return invalid("name", d.Deployables[i].Name, "two deployables of the device have this name")
			}
		}
	}
	return repeatedHandle(d)
}

func invalid(field, value, detail string) (Problem, bool) {
	return Problem{Reason: ReasonInvalid, Field: field, Reported: shown(value), Detail: detail}, false
}

// shown is a value as a problem shows it.
func shown(value string) string {
	if len(value) <= maxShown || utf8.RuneCountInString(value) <= maxShown {
		return value
	}
	return string([]rune(value)[:maxShown]) + "…"
}

func refusedDeployable(d *Deployable) (Problem, bool) {
	switch {
	case d.Name == "":
		return invalid("name", "", "empty")
	case d.NumAccelerators < 0:
		return invalid("num_accelerators", strconv.Itoa(d.NumAccelerators), "negative")
	case d.NumAccelerators > maxInteger:
		return invalid("num_accelerators", strconv.Itoa(d.NumAccelerators), "more than 2147483647")
	}
	if why := badText(d.Name, maxProviderName); why != "" {
		return invalid("name", d.Name, why)
	}
	if d.DriverName != nil {
		if why := badText(*d.DriverName, maxDriverName); why != "" {
			return invalid("driver_name", *d.DriverName, why)
		}
	}
	if p, ok := refusedAttributes(d); !ok {
		return p, false
	}
	for i := range d.Handles {
		if p, ok := refusedHandle(&d.Handles[i]); !ok {
			return p, false
		}
	}
	return Problem{}, true
}

func refusedAttributes(d *Deployable) (Problem, bool) {
	class := d.Class()
	if class == "" {
		return invalid("attribute rc", "", "missing: the driver must name a resource class")
	}
	if !placementName(class) {
		return invalid("attribute rc", class, "no resource class: want A-Z, 0-9 and _, at most 255")
	}
	for i := range d.Attributes {
		a := &d.Attributes[i]
		if why := badColumn(a.Key); why != "" {
			return invalid("attribute key", a.Key, why)
		}
		if why := badColumn(a.Value); why != "" {
			return invalid("attribute "+shown(a.Key), a.Value, why)
		}
		if strings.HasPrefix(a.Key, prefixTrait) && !placementName(a.Value) {
			return invalid("attribute "+shown(a.Key), a.Value, "no trait: want A-Z, 0-9 and _, at most 255")
		}
	}
	return Problem{}, true
}

func refusedHandle(h *Handle) (Problem, bool) {
	field, value, why := "attach_info", h.Info, badText(h.Info, maxText)
	switch {
	case !h.Type.Valid():
		field, value, why = "attach_type", string(h.Type), fmt.Sprint("want one of ", arq.HandleTypes())
	case why == "":
		info, err := arq.ParseHandleInfo(h.Info)
		if err == nil {
			err = checkMetadata(h.Type, info)
		}
		if err == nil {
			return Problem{}, true
		}
		why = err.Error()
	}
	p, ok := invalid(field, value, why)
	p.Handle = shown(h.Info)
	return p, ok
}

// checkMetadata refuses metadata of the wrong JSON type.
func checkMetadata(t arq.HandleType, info arq.HandleInfo) error {
	if t == arq.HandlePCI {
		if _, err := info.Managed(); err != nil {
			return err
		}
	}
	if _, err := info.Stateful(); err != nil {
		return err
	}
	_, _, err := info.NUMANode()
	return err
}

// repeatedHandle refuses a function that is reported twice.
func repeatedHandle(d *Device) (Problem, bool) {
	n := 0
	for i := range d.Deployables {
		n += len(d.Deployables[i].Handles)
	}
	if n < 2 {
		return Problem{}, true
	}
	seen := make(map[key]struct{}, n)
	for i := range d.Deployables {
		p := &d.Deployables[i]
		for j := range p.Handles {
			k := handleKeyOf(&p.Handles[j])
			if _, ok := seen[k]; ok {
				return Problem{
					Reason: ReasonInvalid, Deployable: p.Name, Handle: handleName(&p.Handles[j]),
					Field: "attach_info", Detail: "reported twice",
				}, false
			}
			seen[k] = struct{}{}
		}
	}
	return Problem{}, true
}

// badText says why a column of limit characters does not take a text.
func badText(s string, limit int) string {
	if len(s) > limit && utf8.RuneCountInString(s) > limit {
		return "longer than " + strconv.Itoa(limit) + " characters"
	}
	return unstorable(s)
}

// badColumn says why a TEXT column does not take a text.
func badColumn(s string) string {
	if len(s) > maxTextColumn {
		return "longer than " + strconv.Itoa(maxTextColumn) + " bytes"
	}
	return unstorable(s)
}

// unstorable says why not every database takes a text.
func unstorable(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "not UTF-8"
	case strings.IndexByte(s, 0) >= 0:
		return "holds a zero byte"
	}
	return ""
}

// placementName reports whether s is spelt like a trait or resource class.
func placementName(s string) bool {
	if s == "" || len(s) > maxText {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
