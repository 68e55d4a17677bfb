package reconcile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-cyborg/cyborg/arq"
)

// Limits of the schema in characters, and of Placement.
const (
	maxText         = 255
	maxDriverName   = 100
	maxProviderName = 200 // Placement's limit; the column takes 255
)

var (
	deviceTypes  = []string{"GPU", "FPGA", "AICHIP", "QAT", "NIC", "SSD", "MDEV", "PCI", "NVME"}
	deviceStates = []DeviceState{StateUnset, StateAvailable, StateAllocated, StatePendingCleaning, StateCleaning, StateError}
)

// refusal is why a reported device is not taken; Host and Device are filled in
// by the caller. ok is true when there is none.
func refusal(d *Device) (p Problem, ok bool) {
	invalid := func(field, value, detail string) (Problem, bool) {
		return Problem{Reason: ReasonInvalid, Field: field, Reported: value, Detail: detail}, false
	}
	switch {
	case !slices.Contains(deviceTypes, d.Type):
		return invalid("type", d.Type, "want one of "+strings.Join(deviceTypes, ", "))
	case !slices.Contains(deviceStates, d.State):
		return invalid("device_state", string(d.State), "unknown state")
	case d.ControlPath.Type != "PCI":
		return invalid("cpid_type", d.ControlPath.Type, "want PCI")
	}
	for _, f := range [...]struct{ name, value string }{
		{"vendor", d.Vendor}, {"model", d.Model}, {"cpid_info", d.ControlPath.Info},
	} {
		if tooLong(f.value, maxText) {
			return invalid(f.name, f.value, "longer than 255 characters")
		}
	}
	for i := range d.Deployables {
		if p, ok := refusedDeployable(&d.Deployables[i]); !ok {
			p.Deployable = d.Deployables[i].Name
			return p, false
		}
		for j := range i {
			if strings.EqualFold(d.Deployables[i].Name, d.Deployables[j].Name) {
				p, ok := invalid("name", d.Deployables[i].Name, "two deployables of the device have this name")
				return p, ok
			}
		}
	}
	return repeatedHandle(d)
}

func refusedDeployable(d *Deployable) (Problem, bool) {
	invalid := func(field, value, detail string) (Problem, bool) {
		return Problem{Reason: ReasonInvalid, Field: field, Reported: value, Detail: detail}, false
	}
	switch {
	case d.Name == "":
		return invalid("name", "", "empty")
	case tooLong(d.Name, maxProviderName):
		return invalid("name", d.Name, "longer than 200 characters, the most Placement takes")
	case d.DriverName != nil && tooLong(*d.DriverName, maxDriverName):
		return invalid("driver_name", *d.DriverName, "longer than 100 characters")
	case d.NumAccelerators < 0:
		return invalid("num_accelerators", strconv.Itoa(d.NumAccelerators), "negative")
	}
	class := d.Class()
	if class == "" {
		return invalid("attribute rc", "", "missing: the driver must name a resource class")
	}
	if !placementName(class) {
		return invalid("attribute rc", class, "no resource class: want A-Z, 0-9 and _")
	}
	for i := range d.Attributes {
		a := &d.Attributes[i]
		if strings.HasPrefix(a.Key, prefixTrait) && !placementName(a.Value) {
			return invalid("attribute "+a.Key, a.Value, "no trait: want A-Z, 0-9 and _")
		}
	}
	for i := range d.Handles {
		if p, ok := refusedHandle(&d.Handles[i]); !ok {
			return p, false
		}
	}
	return Problem{}, true
}

func refusedHandle(h *Handle) (Problem, bool) {
	p := Problem{Reason: ReasonInvalid, Handle: h.Info, Reported: h.Info}
	switch {
	case !h.Type.Valid():
		p.Field, p.Reported = "attach_type", string(h.Type)
		p.Detail = fmt.Sprint("want one of ", arq.HandleTypes())
		return p, false
	case tooLong(h.Info, maxText):
		p.Field, p.Detail = "attach_info", "longer than 255 characters"
		return p, false
	}
	info, err := arq.ParseHandleInfo(h.Info)
	if err == nil {
		err = checkMetadata(h.Type, info)
	}
	if err != nil {
		p.Field, p.Detail = "attach_info", err.Error()
		return p, false
	}
	return Problem{}, true
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

func tooLong(s string, limit int) bool {
	return len(s) > limit && utf8.RuneCountInString(s) > limit
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
