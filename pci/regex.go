package pci

import (
	"fmt"
	"math"
)

// The address fields of a rule may be regular expressions of Python's re
// module (3.14), matched at the start of the field's text. Go's regexp differs
// silently in some constructs and lacks others, so this file and its siblings
// are a parser and a backtracking matcher for Python's syntax.
//
// Subjects consist of lower-case hexadecimal digits only and have one to four
// of them. That makes a character set a 16-bit mask, and makes these
// constructs plain: "." matches everything, "$" and \Z are the end, \w is
// always true, \s never, and the flags a, u, m and s change nothing.

// regexOp is the kind of a node.
type regexOp uint8

const (
	opSet         regexOp = iota // one digit of mask
	opBegin                      // ^ and \A
	opEnd                        // $, \Z and \z
	opBoundary                   // \b, or \B when negate
	opFail                       // never matches
	opGroup                      // subs[0], captured when group > 0
	opBranch                     // one of subs
	opGreedy                     // subs[0], min to max times
	opLazy                       // the same, fewest first
	opPossessive                 // the same, without giving back
	opAtomic                     // subs[0] without giving back
	opLook                       // lookaround of subs[0], behind and negate
	opBackref                    // the text of group again
	opConditional                // subs[0] if group matched, else subs[1]
)

// regexNode is a node of the syntax tree.
type regexNode struct {
	op     regexOp
	negate bool
	behind bool
	mask   uint16
	group  int
	min    uint64
	max    uint64 // repeatInfinite when unbounded
	back   int    // of a lookbehind: its width in digits
	subs   []regexSeq
}

// regexSeq is a concatenation.
type regexSeq []regexNode

const (
	// repeatInfinite is Python's MAXREPEAT: counts must be below it.
	repeatInfinite = math.MaxUint32
	// widthLimit stands for every width beyond what a lookbehind may have.
	widthLimit = 1 << 33
	maskAll    = 0xffff
	// maxNesting bounds the depth of groups; Python's own bound is its stack.
	maxNesting = 500
)

// regex is a parsed pattern.
type regex struct {
	body   regexSeq
	groups int // number of capturing groups
}

// regexError says why Python would refuse a pattern.
type regexError struct {
	msg string
	pos int // in code points
}

func (e *regexError) Error() string { return fmt.Sprintf("%s at position %d", e.msg, e.pos) }

// width gives the least and greatest number of digits that a sequence matches,
// both capped at widthLimit. groups holds the widths of the closed groups.
func (s regexSeq) width(groups []regexWidth) regexWidth {
	var total regexWidth
	for i := range s {
		total = total.plus(s[i].width(groups))
	}
	return total
}

type regexWidth struct{ lo, hi uint64 }

func (w regexWidth) plus(v regexWidth) regexWidth {
	return regexWidth{min(w.lo+v.lo, widthLimit), min(w.hi+v.hi, widthLimit)}
}

func (w regexWidth) or(v regexWidth) regexWidth {
	return regexWidth{min(w.lo, v.lo), max(w.hi, v.hi)}
}

// times cannot overflow: widths are at most 2^33, counts at most 2^32, and the
// products are capped before they are added.
func (w regexWidth) times(lo, hi uint64) regexWidth {
	mul := func(a, b uint64) uint64 {
		if a != 0 && b > widthLimit/a {
			return widthLimit
		}
		return a * b
	}
	return regexWidth{mul(w.lo, lo), mul(w.hi, hi)}
}

func (n *regexNode) width(groups []regexWidth) regexWidth {
	switch n.op {
	case opSet:
		return regexWidth{1, 1}
	case opGroup, opAtomic:
		return n.subs[0].width(groups)
	case opBranch:
		w := n.subs[0].width(groups)
		for _, s := range n.subs[1:] {
			w = w.or(s.width(groups))
		}
		return w
	case opGreedy, opLazy, opPossessive:
		w := n.subs[0].width(groups)
		if n.max == repeatInfinite && w.hi > 0 {
			return regexWidth{w.times(n.min, 0).lo, widthLimit}
		}
		return w.times(n.min, n.max)
	case opBackref:
		return groups[n.group]
	case opConditional:
		if len(n.subs) == 1 {
			return regexWidth{0, n.subs[0].width(groups).hi}
		}
		return n.subs[0].width(groups).or(n.subs[1].width(groups))
	}
	return regexWidth{}
}
