package pci

import (
	"strconv"
	"strings"
	"unicode"
)

// group parses what follows "(". It gives nil for a comment, and global when
// it was a group of global flags.
func (p *regexParser) group(flags regexFlags, mayBeGlobal bool) (node *regexNode, global bool) {
	start := p.tokens.pos() - 1
	if !p.tokens.accept("?") {
		return p.capturing("", flags, start), false
	}
	switch kind := p.tokens.get(); kind {
	case "":
		p.fail(0, "unexpected end of pattern")
	case "P":
		return p.python(flags, start), false
	case ":":
		return &regexNode{op: opGroup, subs: []regexSeq{p.closing(flags, start)}}, false
	case "#":
		for token := p.tokens.get(); token != ")"; token = p.tokens.get() {
			if token == "" {
				p.fail(p.tokens.pos()-start, "missing ), unterminated comment")
			}
		}
		return nil, false
	case "=", "!", "<":
		return p.lookaround(kind, flags, start), false
	case "(":
		return p.conditional(flags, start), false
	case ">":
		return &regexNode{op: opAtomic, subs: []regexSeq{p.closing(flags, start)}}, false
	default:
		if !strings.Contains("iLmsxau-", kind) {
			p.fail(len(kind)+1, "unknown extension ?%s", kind)
		}
		return p.flagGroup(kind, flags, start, mayBeGlobal)
	}
	return nil, false
}

// closing parses the content of a group and its ")".
func (p *regexParser) closing(flags regexFlags, start int) regexSeq {
	body := p.alternatives(flags, false)
	p.close(start)
	return body
}

func (p *regexParser) close(start int) {
	if !p.tokens.accept(")") {
		p.fail(p.tokens.pos()-start, "missing ), unterminated subpattern")
	}
}

func (p *regexParser) capturing(name string, flags regexFlags, start int) *regexNode {
	id := len(p.widths)
	p.widths = append(p.widths, regexWidth{})
	p.closed = append(p.closed, false)
	if name != "" {
		if _, taken := p.names[name]; taken {
			p.fail(len(name)+1, "redefinition of group name %q", name)
		}
		p.names[name] = id
	}
	body := p.closing(flags, start)
	p.widths[id] = body.width(p.widths)
	p.closed[id] = true
	return &regexNode{op: opGroup, group: id, subs: []regexSeq{body}}
}

// python parses (?P<name>...) and (?P=name).
func (p *regexParser) python(flags regexFlags, start int) *regexNode {
	switch kind := p.tokens.get(); kind {
	case "<":
		name := p.until(">", "group name")
		p.checkName(name)
		return p.capturing(name, flags, start)
	case "=":
		name := p.until(")", "group name")
		p.checkName(name)
		id, ok := p.names[name]
		if !ok {
			p.fail(len(name)+1, "unknown group name %q", name)
		}
		return p.reference(id)
	case "":
		p.fail(0, "unexpected end of pattern")
	default:
		p.fail(len(kind)+2, "unknown extension ?P%s", kind)
	}
	return nil
}

func (p *regexParser) checkName(name string) {
	for i, r := range name {
		start := r == '_' || unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_ID_Start)
		inside := unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Other_ID_Continue)
		if !start && (i == 0 || !inside) {
			p.fail(len(name)+1, "bad character in group name %q", name)
		}
	}
}

// reference gives a node for the text of an existing group.
func (p *regexParser) reference(id int) *regexNode {
	if !p.closed[id] {
		p.fail(0, "cannot refer to an open group")
	}
	p.checkBehind(id)
	return &regexNode{op: opBackref, group: id}
}

// checkBehind refuses references inside a lookbehind to its own groups.
func (p *regexParser) checkBehind(id int) {
	if p.behind < 0 {
		return
	}
	if id >= len(p.closed) || !p.closed[id] {
		p.fail(0, "cannot refer to an open group")
	}
	if id >= p.behind {
		p.fail(0, "cannot refer to group defined in the same lookbehind subpattern")
	}
}

// lookaround parses (?=...), (?!...), (?<=...) and (?<!...).
func (p *regexParser) lookaround(kind string, flags regexFlags, start int) *regexNode {
	n := regexNode{op: opLook, behind: kind == "<"}
	if n.behind {
		switch kind = p.tokens.get(); kind {
		case "=", "!":
		case "":
			p.fail(0, "unexpected end of pattern")
		default:
			p.fail(len(kind)+2, "unknown extension ?<%s", kind)
		}
		if p.behind < 0 {
			p.behind = len(p.widths)
			defer func() { p.behind = -1 }()
		}
	}
	n.negate = kind == "!"
	body := p.closing(flags, start)
	if n.negate && len(body) == 0 {
		return &regexNode{op: opFail}
	}
	n.subs = []regexSeq{body}
	if n.behind {
		w := body.width(p.widths)
		if w.lo >= repeatInfinite {
			p.fail(0, "looks too much behind")
		}
		if w.lo != w.hi {
			p.fail(0, "look-behind requires fixed-width pattern")
		}
		n.back = int(w.lo)
	}
	return &n
}

// conditional parses (?(group)yes|no).
func (p *regexParser) conditional(flags regexFlags, start int) *regexNode {
	name := p.until(")", "group name")
	id, known := p.names[name]
	if isDecimal(name) {
		n, err := strconv.ParseInt(name, 10, 32)
		switch {
		case err != nil:
			p.fail(len(name)+1, "invalid group reference %s", name)
		case n == 0:
			p.fail(len(name)+1, "bad group number")
		}
		id = int(n)
		if _, seen := p.conditions[id]; !seen {
			p.conditions[id] = p.tokens.pos() - len(name) - 1
		}
	} else {
		p.checkName(name)
		if !known {
			p.fail(len(name)+1, "unknown group name %q", name)
		}
	}
	p.checkBehind(id)
	n := &regexNode{op: opConditional, group: id, subs: []regexSeq{p.sequence(flags, false)}}
	if p.tokens.accept("|") {
		n.subs = append(n.subs, p.sequence(flags, false))
		if p.tokens.next() == "|" {
			p.fail(0, "conditional backref with more than two branches")
		}
	}
	p.close(start)
	return n
}

func isDecimal(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// flagGroup parses (?flags), (?flags:...) and (?flags-flags:...).
func (p *regexParser) flagGroup(first string, flags regexFlags, start int, mayBeGlobal bool) (*regexNode, bool) {
	on, off, end := "", "", first
	if first != "-" {
		on, end = p.flagLetters(first, ")-:", "missing -, : or )")
	}
	if strings.Contains(on, "L") {
		p.fail(0, "bad inline flags: cannot use 'L' flag with a str pattern")
	}
	if strings.Contains(on, "a") && strings.Contains(on, "u") {
		p.fail(0, "bad inline flags: flags 'a', 'u' and 'L' are incompatible")
	}
	if end == ")" {
		if !mayBeGlobal {
			p.fail(p.tokens.pos()-start, "global flags not at the start of the expression")
		}
		p.flags = p.flags.with(on, "")
		p.ascii = p.ascii || strings.Contains(on, "a")
		p.uni = p.uni || strings.Contains(on, "u")
		return nil, true
	}
	if end == "-" {
		next := p.tokens.get()
		if next == "" || !strings.Contains(regexFlagLetters, next) {
			p.fail(len(next), "missing flag")
		}
		off, _ = p.flagLetters(next, ":", "missing :")
		if strings.ContainsAny(off, "auL") {
			p.fail(0, "bad inline flags: cannot turn off flags 'a', 'u' and 'L'")
		}
	}
	if off != "" && strings.ContainsAny(on, off) {
		p.fail(1, "bad inline flags: flag turned on and off")
	}
	return &regexNode{op: opGroup, subs: []regexSeq{p.closing(flags.with(on, off), start)}}, false
}

const regexFlagLetters = "iLmsxau"

// flagLetters reads flag letters up to one of the ends, which it gives too.
func (p *regexParser) flagLetters(first, ends, missing string) (letters, end string) {
	letters = first
	for {
		token := p.tokens.get()
		switch {
		case token != "" && strings.Contains(ends, token):
			return letters, token
		case token == "" || !strings.Contains(regexFlagLetters, token):
			p.fail(len(token), "%s", missing)
		}
		letters += token
	}
}

func (f regexFlags) with(on, off string) regexFlags {
	f.ignoreCase = (f.ignoreCase || strings.Contains(on, "i")) && !strings.Contains(off, "i")
	f.verbose = (f.verbose || strings.Contains(on, "x")) && !strings.Contains(off, "x")
	return f
}
