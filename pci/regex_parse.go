package pci

import (
	"fmt"
	"strings"
)

// regexFlags are the inline flags that change how a pattern is read.
type regexFlags struct {
	ignoreCase, verbose bool
}

// regexParser is a recursive descent parser of Python's syntax. Methods report
// errors by panicking with a *regexError, which parseRegex recovers: nearly
// every line can fail.
type regexParser struct {
	tokens *regexTokens
	flags  regexFlags // global flags
	ascii  bool       // global flag a was given
	uni    bool       // global flag u was given
	names  map[string]int
	// widths holds each group's width; closed tells which have one yet.
	widths []regexWidth
	closed []bool
	// behind is the number of groups that existed when the outermost open
	// lookbehind began, -1 outside of one.
	behind int
	// conditions are the numbers that conditional groups ask for.
	conditions map[int]int
	depth      int
}

// parseRegex reads a pattern. The error is a *regexError and means that
// Python refuses the pattern too, with one exception: \N{NAME} is known here
// for ASCII characters only.
func parseRegex(pattern string) (re *regex, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*regexError)
			if !ok {
				panic(r)
			}
			re, err = nil, e
		}
	}()
	p := &regexParser{
		names: map[string]int{}, conditions: map[int]int{}, behind: -1,
		widths: make([]regexWidth, 1), closed: make([]bool, 1),
	}
	p.tokens = newRegexTokens(pattern)
	body := p.alternatives(p.flags, true)
	if p.ascii && p.uni {
		p.fail(0, "ASCII and UNICODE flags are incompatible")
	}
	if !p.tokens.atEnd() {
		p.fail(0, "unbalanced parenthesis")
	}
	for group, pos := range p.conditions {
		if group >= len(p.widths) {
			panic(&regexError{fmt.Sprintf("invalid group reference %d", group), pos})
		}
	}
	return &regex{body: body, groups: len(p.widths) - 1}, nil
}

// fail gives up; back is how far before the current position the fault began.
func (p *regexParser) fail(back int, format string, args ...any) {
	panic(&regexError{fmt.Sprintf(format, args...), p.tokens.pos() - back})
}

// alternatives parses a|b|c up to ")" or the end.
func (p *regexParser) alternatives(flags regexFlags, top bool) regexSeq {
	if p.depth++; p.depth > maxNesting {
		p.fail(0, "groups are nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	var branches []regexSeq
	for {
		branches = append(branches, p.sequence(flags, top && branches == nil))
		if !p.tokens.accept("|") {
			break
		}
		if top {
			flags = p.flags
		}
	}
	if len(branches) == 1 {
		return branches[0]
	}
	return regexSeq{{op: opBranch, subs: branches}}
}

// sequence parses a concatenation. Only the first sequence of the pattern may
// begin with global flags.
func (p *regexParser) sequence(flags regexFlags, first bool) regexSeq {
	var s regexSeq
	for {
		token := p.tokens.next()
		if token == "" || token == "|" || token == ")" {
			return s
		}
		p.tokens.get()
		switch {
		case flags.verbose && strings.Contains(regexSpace, token):
		case flags.verbose && token == "#":
			p.skipComment()
		case token[0] == '\\':
			s = append(s, p.escape(token, flags))
		case token == "[":
			s = append(s, p.class(flags))
		case token == ".":
			s = append(s, regexNode{op: opSet, mask: maskAll})
		case token == "^":
			s = append(s, regexNode{op: opBegin})
		case token == "$":
			s = append(s, regexNode{op: opEnd})
		case strings.Contains("*+?{", token):
			s = p.repeat(s, token, flags)
		case token == "(":
			node, global := p.group(flags, first && len(s) == 0)
			if global {
				flags = p.flags
			} else if node != nil {
				s = append(s, *node)
			}
		default:
			s = append(s, literalNode([]rune(token)[0], flags))
		}
	}
}

// skipComment reads to the end of the line, under the flag x.
func (p *regexParser) skipComment() {
	token := p.tokens.get()
	for token != "" && token != "\n" {
		token = p.tokens.get()
	}
}

// regexSpace is what the flag x skips.
const regexSpace = " \t\n\r\v\f"

func literalNode(r rune, flags regexFlags) regexNode {
	var set regexSet
	set.add(r, r)
	return regexNode{op: opSet, mask: set.mask(flags)}
}

// repeat applies a quantifier to the last item, or reads a "{" that is none.
func (p *regexParser) repeat(s regexSeq, token string, flags regexFlags) regexSeq {
	start := p.tokens.pos() - 1
	lo, hi := uint64(0), uint64(repeatInfinite)
	switch token {
	case "?":
		hi = 1
	case "+":
		lo = 1
	case "{":
		var ok bool
		if lo, hi, ok = p.counts(); !ok {
			return append(s, literalNode('{', flags))
		}
	}
	if len(s) == 0 || s[len(s)-1].isAnchor() {
		p.fail(p.tokens.pos()-start, "nothing to repeat")
	}
	item := &s[len(s)-1]
	switch item.op {
	case opGreedy, opLazy, opPossessive:
		p.fail(p.tokens.pos()-start, "multiple repeat")
	}
	op := opGreedy
	if p.tokens.accept("?") {
		op = opLazy
	} else if p.tokens.accept("+") {
		op = opPossessive
	}
	body := regexSeq{*item}
	if item.op == opGroup && item.group == 0 {
		body = item.subs[0]
	}
	*item = regexNode{op: op, min: lo, max: hi, subs: []regexSeq{body}}
	return s
}

func (n *regexNode) isAnchor() bool {
	return n.op == opBegin || n.op == opEnd || n.op == opBoundary
}

// counts reads the rest of {m}, {m,}, {,n} or {m,n}. Anything else is no
// quantifier: nothing is consumed then.
func (p *regexParser) counts() (lo, hi uint64, ok bool) {
	mark := p.tokens.mark()
	if p.tokens.next() == "}" {
		return 0, 0, false
	}
	low := p.tokens.digits()
	high := low
	if p.tokens.accept(",") {
		high = p.tokens.digits()
	}
	if !p.tokens.accept("}") {
		p.tokens.reset(mark)
		return 0, 0, false
	}
	lo, hi = 0, repeatInfinite
	if low != "" {
		lo = p.count(low)
	}
	if high != "" {
		hi = p.count(high)
	}
	if hi < lo {
		p.fail(0, "min repeat greater than max repeat")
	}
	return lo, hi, true
}

func (p *regexParser) count(digits string) uint64 {
	var n uint64
	for _, d := range digits {
		if n = n*10 + uint64(d-'0'); n >= repeatInfinite {
			p.fail(0, "the repetition number is too large")
		}
	}
	return n
}
