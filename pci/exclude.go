package pci

import (
	"errors"
	"fmt"
	"slices"
)

// ExcludeList is the value of [pci] exclude_list: complete addresses that are
// never reported. It excludes exactly these functions: excluding a physical
// function leaves its virtual functions eligible, and the other way round.
// It includes nothing. The zero value excludes nothing.
type ExcludeList struct {
	addresses []Address // sorted, without duplicates
}

// ParseExcludeList reads the elements of the option as the configuration
// parser split them. Each must be a complete address as for [ParseAddress]:
// wildcards, patterns, short forms and surrounding white space are refused.
// Duplicates and addresses that the host does not have are fine. place is
// where the option stands, for messages: "cyborg.conf:12", empty when unknown.
// The error is a [*ConfigError] that lists all bad elements.
func ParseExcludeList(elements []string, place string) (ExcludeList, error) {
	var list ExcludeList
	var bad []*EntryError
	for i, text := range elements {
		a, err := ParseAddress(text)
		if err != nil {
			bad = append(bad, excludeError(i, text, place, err))
			continue
		}
		list.addresses = append(list.addresses, a)
	}
	if bad != nil {
		return ExcludeList{}, &ConfigError{Entries: bad}
	}
	slices.SortFunc(list.addresses, Address.Compare)
	list.addresses = slices.Compact(list.addresses)
	return list, nil
}

func excludeError(i int, text, place string, err error) *EntryError {
	reason := err.Error()
	if e, ok := errors.AsType[*AddressError](err); ok {
		reason = e.Reason
	}
	return &EntryError{
		Location: Location{Option: OptionExcludeList, Value: i, Element: -1, Place: place},
		Reason:   "exclude",
		Message:  fmt.Sprintf("not a complete pci address (%s); write DDDD:BB:SS.F in hexadecimal", reason),
		Entry:    fmt.Sprintf("%q", text),
	}
}

// Contains reports whether the address is excluded.
func (l ExcludeList) Contains(a Address) bool {
	_, found := slices.BinarySearchFunc(l.addresses, a, Address.Compare)
	return found
}

// Addresses gives the excluded addresses in ascending order.
func (l ExcludeList) Addresses() []Address { return slices.Clone(l.addresses) }
