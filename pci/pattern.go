package pci

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// addressPattern is the address property of a rule. The zero value matches
// every address.
type addressPattern struct {
	fields   [4]fieldSet // domain, bus, slot, function
	concrete *Address    // set when every field names one value
}

// The address fields in their order: keys of an address object, highest
// values, full widths in digits. They are never written.
var (
	fieldNames  = [4]string{"domain", "bus", "slot", "function"}
	fieldLimits = [4]uint{maxDomain, maxBus, maxSlot, maxFunction}
	fieldWidths = [4]int{4, 2, 2, 1}
)

func (p *addressPattern) matches(a Address) bool {
	return p.fields[0].has(uint(a.Domain)) && p.fields[1].has(uint(a.Bus)) &&
		p.fields[2].has(uint(a.Slot)) && p.fields[3].has(uint(a.Function))
}

// matchesAll reports whether no field is restricted.
func (p *addressPattern) matchesAll() bool {
	return !slices.ContainsFunc(p.fields[:], func(s fieldSet) bool { return s.words != nil })
}

// fieldSet is the set of values that an address field may have, computed when
// the rule is parsed: address fields are so narrow that every value can be
// tried. The zero value has every value.
type fieldSet struct {
	words []uint64 // a bit for each value; nil has all
}

func (s fieldSet) has(v uint) bool {
	return s.words == nil || s.words[v/64]&(1<<(v%64)) != 0
}

// newFieldSet gives the values up to limit for which keep holds.
func newFieldSet(limit uint, keep func(uint) bool) fieldSet {
	s := fieldSet{words: make([]uint64, limit/64+1)}
	all := true
	for v := range limit + 1 {
		if keep(v) {
			s.words[v/64] |= 1 << (v % 64)
		} else {
			all = false
		}
	}
	if all {
		return fieldSet{}
	}
	return s
}

// globAddress reads [[[domain]:]bus]:]slot[.function], where an empty field or
// "*" is any value. Fields are right-aligned: "01" is a slot. The order of the
// checks is the peer's, which decides what an error names.
func (d *entryDecoder) globAddress(text string) {
	pointer := "/" + keyAddress
	left, function, _ := strings.Cut(text, ".")
	parts := strings.Split(left, ":")
	if len(parts) > 3 || strings.ContainsAny(function, ".:") {
		d.violation(pointer, "pattern")
		return
	}
	var fields [4]string
	copy(fields[3-len(parts):], parts)
	fields[3] = function
	values, concrete := [4]uint64{}, true
	for _, i := range []int{3, 0, 1, 2} {
		field := trimSpace(fields[i])
		blankFunction := i == 3 && field == "" && function != "" // the peer refuses it, unlike other blank fields
		if (field == "" || field == "*") && !blankFunction {
			concrete = false
			continue
		}
		v, reason := parseHex(field, uint64(fieldLimits[i]))
		if reason != "" {
			d.fail(pointer, reason, globMessage(i, field, reason))
			return
		}
		values[i] = v
		d.rule.address.fields[i] = newFieldSet(fieldLimits[i], func(u uint) bool { return uint64(u) == v })
	}
	if concrete {
		d.rule.address.concrete = &Address{
			uint16(values[0]), uint8(values[1]), uint8(values[2]), uint8(values[3]),
		}
	}
}

func globMessage(i int, field, reason string) string {
	if reason == reasonTooLarge {
		return fmt.Sprintf("%s %q is above %x", fieldNames[i], field, fieldLimits[i])
	}
	return fmt.Sprintf("%s %q is neither hexadecimal nor \"*\" (patterns go into an address object)", fieldNames[i], field)
}

// regexAddress reads an object of patterns; an absent key is any value.
func (d *entryDecoder) regexAddress(object map[string]any) {
	pointer := "/" + keyAddress
	var bad []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		i := slices.Index(fieldNames[:], key)
		pattern, ok := object[key].(string)
		switch {
		case i < 0:
			d.violation(pointer, "additionalProperties")
		case !ok:
			d.violation(pointer+"/"+key, "type")
		default:
			set, err := compileFieldRegex(pattern, fieldLimits[i], fieldWidths[i])
			if err != nil {
				bad = append(bad, fmt.Sprintf("%s %q: %v", key, pattern, err))
			}
			d.rule.address.fields[i] = set
		}
	}
	if bad != nil {
		d.fail(pointer, reasonRegex, "not a regular expression of python: "+strings.Join(bad, "; "))
	}
	d.rule.address.concrete = concreteObject(object)
}

// concreteObject gives the address that an object spells out, digit by digit.
func concreteObject(object map[string]any) *Address {
	var fields [4]string
	for i, key := range fieldNames {
		fields[i], _ = object[key].(string)
	}
	text := fields[0] + ":" + fields[1] + ":" + fields[2] + "." + fields[3]
	a, err := ParseAddress(text)
	if err != nil || a.String() != text {
		return nil
	}
	return &a
}

// compileFieldRegex gives the values of an address field, printed in width
// digits, at whose start the pattern matches.
func compileFieldRegex(pattern string, limit uint, width int) (fieldSet, error) {
	re, err := parseRegex(pattern)
	if err != nil {
		return fieldSet{}, err
	}
	m := newRegexMatcher(re, limit+1)
	subject := make([]byte, width)
	var bound error
	set := newFieldSet(limit, func(v uint) bool {
		for i := range subject {
			subject[width-1-i] = byte(v >> (4 * i) & 0xf)
		}
		ok, err := m.match(subject)
		bound = cmp.Or(bound, err)
		return ok
	})
	return set, bound
}
