package pci

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Highest values of the address fields. The specification of PCI bounds bus,
// slot and function; the domain bound is the conductor's and the hypervisor's.
const (
	maxDomain   = 0xffff
	maxBus      = 0xff
	maxSlot     = 0x1f
	maxFunction = 0x7
)

// ErrWideDomain says that an address lies in a PCI domain above ffff, as the
// kernel numbers the buses behind a volume management device (10000:...).
// Such devices cannot be addressed by an attach handle and are skipped.
var ErrWideDomain = errors.New("pci domain above ffff")

// Address is a complete PCI address. The zero value is 0000:00:00.0. Addresses
// are comparable with == and ordered by [Address.Compare].
type Address struct {
	Domain   uint16
	Bus      uint8
	Slot     uint8 // at most 1f; "device" in attach_info
	Function uint8 // at most 7
}

// AddressError says why a text is not a complete PCI address.
type AddressError struct {
	Text   string
	Reason string // "empty", "incomplete", "width", "not hex", ...
	wide   bool
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("%q is not a complete pci address (%s); want DDDD:BB:SS.F in hexadecimal", e.Text, e.Reason)
}

// Is reports whether target is [ErrWideDomain] and the domain was too wide.
func (e *AddressError) Is(target error) bool { return target == ErrWideDomain && e.wide }

// ParseAddress reads a complete address DDDD:BB:SS.F: exactly 4, 2, 2 and 1
// hexadecimal ASCII digits in either case, slot at most 1f, function at most
// 7. Everything else, white space included, gives an [*AddressError]; one that
// is [ErrWideDomain] when only the domain has more than four digits.
func ParseAddress(s string) (Address, error) {
	domain, rest, ok1 := strings.Cut(s, ":")
	bus, rest, ok2 := strings.Cut(rest, ":")
	slot, function, ok3 := strings.Cut(rest, ".")
	if !ok1 || !ok2 || !ok3 {
		return Address{}, &AddressError{Text: s, Reason: shapeReason(s)}
	}
	a, reason := addressOf([4]string{domain, bus, slot, function}, [4]bool{true, true, true, true})
	if reason == "" {
		return a, nil
	}
	e := &AddressError{Text: s, Reason: reason}
	if len(domain) > 4 && len(domain) <= 8 && allHex(domain) {
		_, rest := addressOf([4]string{"0000", bus, slot, function}, [4]bool{true, true, true, true})
		e.wide = rest == ""
	}
	return Address{}, e
}

// ParseAddressFields reads the four address texts of a stored cpid_info or
// attach_info: hexadecimal digits in either case, leading zeros optional, not
// wider than 4, 2, 2 and 1 digits. Anything else gives an [*AddressError].
func ParseAddressFields(domain, bus, slot, function string) (Address, error) {
	a, reason := addressOf([4]string{domain, bus, slot, function}, [4]bool{})
	if reason != "" {
		return Address{}, &AddressError{Text: domain + ":" + bus + ":" + slot + "." + function, Reason: reason}
	}
	return a, nil
}

// addressOf converts the four field texts; exact demands the full width.
func addressOf(fields [4]string, exact [4]bool) (Address, string) {
	var v [4]uint64
	width := [4]int{4, 2, 2, 1}
	for i, f := range fields {
		switch {
		case f == "":
			return Address{}, "incomplete"
		case !allHex(f):
			return Address{}, digitReason(f)
		case len(f) > width[i], exact[i] && len(f) != width[i]:
			return Address{}, "width"
		}
		v[i], _ = strconv.ParseUint(f, 16, 16) // hexadecimal and at most four digits
	}
	switch {
	case v[2] > maxSlot:
		return Address{}, "slot above 1f"
	case v[3] > maxFunction:
		return Address{}, "function above 7"
	}
	return Address{uint16(v[0]), uint8(v[1]), uint8(v[2]), uint8(v[3])}, ""
}

func shapeReason(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "empty"
	case strings.TrimSpace(s) != s:
		return "surrounding white space"
	case strings.Contains(s, "*"):
		return "wildcards are not allowed"
	default:
		return "incomplete"
	}
}

func digitReason(f string) string {
	switch {
	case strings.ContainsAny(f, "*?"):
		return "wildcards are not allowed"
	case strings.ContainsAny(f, "[](){}^$\\|+"):
		return "patterns are not allowed"
	case strings.ContainsAny(f, " \t\r\n\v\f"):
		return "white space"
	case strings.HasPrefix(f, "0x"), strings.HasPrefix(f, "0X"):
		return "0x is not allowed"
	default:
		return "not hexadecimal"
	}
}

func allHex(s string) bool {
	for i := range len(s) {
		if !isHexDigit(rune(s[i])) {
			return false
		}
	}
	return true
}

func isHexDigit(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
}

// String gives the canonical form: four, two, two and one lower-case digits,
// as the kernel names the function in /sys/bus/pci/devices.
func (a Address) String() string {
	return fmt.Sprintf("%04x:%02x:%02x.%x", a.Domain, a.Bus, a.Slot, a.Function)
}

// fields gives the texts of domain, bus, slot and function in full width.
func (a Address) fields() [4]string {
	return [4]string{
		fmt.Sprintf("%04x", a.Domain), fmt.Sprintf("%02x", a.Bus),
		fmt.Sprintf("%02x", a.Slot), fmt.Sprintf("%x", a.Function),
	}
}

// Compare orders addresses as lspci lists them: by domain, bus, slot, function.
func (a Address) Compare(b Address) int {
	return cmp.Or(
		cmp.Compare(a.Domain, b.Domain),
		cmp.Compare(a.Bus, b.Bus),
		cmp.Compare(a.Slot, b.Slot),
		cmp.Compare(a.Function, b.Function),
	)
}
