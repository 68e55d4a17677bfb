package pci

// addressPattern is the address property of a rule.
type addressPattern struct {
	fields   [4]fieldSet // domain, bus, slot, function
	concrete *Address    // set when every field names one value
}

func (p *addressPattern) matches(a Address) bool {
	return p.fields[0].has(uint(a.Domain)) && p.fields[1].has(uint(a.Bus)) &&
		p.fields[2].has(uint(a.Slot)) && p.fields[3].has(uint(a.Function))
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
	for v := range limit + 1 {
		if keep(v) {
			s.words[v/64] |= 1 << (v % 64)
		}
	}
	return s
}
