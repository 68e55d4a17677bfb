package pci

import "errors"

// Bounds of the backtracking, far beyond any useful pattern: the steps for all
// subjects of a pattern together, and the depth of the recursion.
const (
	regexSteps           = 500_000
	regexStepsPerSubject = 128
	regexDepth           = 50_000
)

// errRegexTooComplex says that a pattern ran into the bounds. Python would run
// for minutes or exhaust its memory on it.
var errRegexTooComplex = errors.New("pattern is too complex to match in bounded time")

// regexMatcher tries one pattern against many subjects.
type regexMatcher struct {
	re      *regex
	subject []byte // values of the digits, 0 to 15
	begins  []int  // of the groups, -1 when unset
	ends    []int
	steps   int // left for all subjects together
	depth   int
	failed  bool // a bound was hit
}

// newRegexMatcher prepares a matcher for a number of subjects.
func newRegexMatcher(re *regex, subjects uint) *regexMatcher {
	return &regexMatcher{
		re: re, begins: make([]int, re.groups+1), ends: make([]int, re.groups+1),
		steps: regexSteps + regexStepsPerSubject*int(subjects),
	}
}

// match tells whether the pattern matches at the start of the subject, as
// Python's re.match does.
func (m *regexMatcher) match(subject []byte) (bool, error) {
	m.subject = subject
	for i := range m.begins {
		m.begins[i], m.ends[i] = -1, -1
	}
	ok := m.seq(m.re.body, 0, func(int) bool { return true })
	if m.failed {
		return false, errRegexTooComplex
	}
	return ok, nil
}

// enter accounts for one step and one level; every true must be followed by a
// leave.
func (m *regexMatcher) enter() bool {
	m.steps--
	m.depth++
	if m.steps < 0 || m.depth > regexDepth {
		m.failed = true
	}
	if m.failed {
		m.depth--
		return false
	}
	return true
}

func (m *regexMatcher) leave() { m.depth-- }

// seq matches a sequence from pos and then what follows it.
func (m *regexMatcher) seq(s regexSeq, pos int, next func(int) bool) bool {
	if !m.enter() {
		return false
	}
	defer m.leave()
	for i := range s {
		n := &s[i]
		if n.op != opSet {
			rest := s[i+1:]
			if len(rest) == 0 {
				return m.node(n, pos, next)
			}
			return m.node(n, pos, func(p int) bool { return m.seq(rest, p, next) })
		}
		if !m.has(n.mask, pos) {
			return false
		}
		pos++
	}
	return next(pos)
}

func (m *regexMatcher) has(mask uint16, pos int) bool {
	return pos < len(m.subject) && mask&(1<<m.subject[pos]) != 0
}

// node matches any node but opSet.
func (m *regexMatcher) node(n *regexNode, pos int, next func(int) bool) bool {
	switch n.op {
	case opBegin:
		return pos == 0 && next(pos)
	case opEnd:
		return pos == len(m.subject) && next(pos)
	case opBoundary:
		// subjects are not empty and consist of word characters
		return (pos == 0 || pos == len(m.subject)) != n.negate && next(pos)
	case opGroup:
		return m.capture(n, pos, next)
	case opBranch:
		for _, s := range n.subs {
			if m.seq(s, pos, next) {
				return true
			}
		}
		return false
	case opGreedy:
		if mask, ok := n.single(); ok {
			return m.run(n, mask, pos, next)
		}
		return m.greedy(n, 0, -1, pos, next)
	case opLazy:
		return m.lazy(n, 0, -1, pos, next)
	case opPossessive:
		return m.possessive(n, pos, next)
	case opAtomic:
		return m.once(n.subs[0], pos, next)
	case opLook:
		return m.look(n, pos, next)
	case opBackref:
		return m.backref(n.group, pos, next)
	case opConditional:
		return m.conditional(n, pos, next)
	}
	return false // opFail
}

// single tells whether the node repeats exactly one digit of a set.
func (n *regexNode) single() (uint16, bool) {
	body := n.subs[0]
	if len(body) == 1 && body[0].op == opSet {
		return body[0].mask, true
	}
	return 0, false
}

// run is greedy for a set, without recursion.
func (m *regexMatcher) run(n *regexNode, mask uint16, pos int, next func(int) bool) bool {
	end := pos
	for uint64(end-pos) < n.max && m.has(mask, end) {
		end++
	}
	for ; uint64(end-pos) >= n.min; end-- {
		if next(end) {
			return true
		}
		if end == pos {
			break
		}
	}
	return false
}

// greedy matches a repetition after count rounds. last is where the previous
// optional round began: a round that matched nothing is the last one.
func (m *regexMatcher) greedy(n *regexNode, count uint64, last, pos int, next func(int) bool) bool {
	if count < n.min {
		return m.seq(n.subs[0], pos, func(p int) bool { return m.greedy(n, count+1, last, p, next) })
	}
	if count < n.max && pos != last &&
		m.seq(n.subs[0], pos, func(p int) bool { return m.greedy(n, count+1, pos, p, next) }) {
		return true
	}
	return next(pos)
}

func (m *regexMatcher) lazy(n *regexNode, count uint64, last, pos int, next func(int) bool) bool {
	if count < n.min {
		return m.seq(n.subs[0], pos, func(p int) bool { return m.lazy(n, count+1, last, p, next) })
	}
	if next(pos) {
		return true
	}
	return count < n.max && pos != last &&
		m.seq(n.subs[0], pos, func(p int) bool { return m.lazy(n, count+1, pos, p, next) })
}

func (m *regexMatcher) possessive(n *regexNode, pos int, next func(int) bool) bool {
	begins, ends := m.save()
	last := -1
	for count := uint64(0); count < n.max && (count < n.min || pos != last); count++ {
		from := pos
		if !m.first(n.subs[0], from, &pos) {
			if count < n.min {
				m.restore(begins, ends)
				return false
			}
			break
		}
		if count >= n.min {
			last = from
		}
	}
	if next(pos) {
		return true
	}
	m.restore(begins, ends)
	return false
}

// once matches a sequence in its first way only, and then what follows.
func (m *regexMatcher) once(s regexSeq, pos int, next func(int) bool) bool {
	begins, ends := m.save()
	if m.first(s, pos, &pos) && next(pos) {
		return true
	}
	m.restore(begins, ends)
	return false
}

// first finds the first way in which a sequence matches, and where it ends.
func (m *regexMatcher) first(s regexSeq, pos int, end *int) bool {
	return m.seq(s, pos, func(p int) bool { *end = p; return true })
}

func (m *regexMatcher) look(n *regexNode, pos int, next func(int) bool) bool {
	from := pos
	if n.behind {
		from -= n.back
	}
	begins, ends := m.save()
	end := 0
	found := from >= 0 && m.first(n.subs[0], from, &end)
	if n.negate {
		m.restore(begins, ends)
	}
	if found != n.negate && !m.failed && next(pos) {
		return true
	}
	m.restore(begins, ends)
	return false
}

func (m *regexMatcher) capture(n *regexNode, pos int, next func(int) bool) bool {
	if n.group == 0 {
		return m.seq(n.subs[0], pos, next)
	}
	begin, end := m.begins[n.group], m.ends[n.group]
	m.begins[n.group] = pos
	ok := m.seq(n.subs[0], pos, func(p int) bool {
		before := m.ends[n.group]
		m.ends[n.group] = p
		if next(p) {
			return true
		}
		m.ends[n.group] = before
		return false
	})
	if !ok {
		m.begins[n.group], m.ends[n.group] = begin, end
	}
	return ok
}

// set tells whether a group has matched. In a second round an open group still
// has its old end, which counts if the round begins there, as in Python.
func (m *regexMatcher) set(group int) bool {
	return m.begins[group] >= 0 && m.ends[group] >= m.begins[group]
}

func (m *regexMatcher) backref(group, pos int, next func(int) bool) bool {
	if !m.set(group) {
		return false
	}
	for _, digit := range m.subject[m.begins[group]:m.ends[group]] {
		if !m.has(1<<digit, pos) {
			return false
		}
		pos++
	}
	return next(pos)
}

func (m *regexMatcher) conditional(n *regexNode, pos int, next func(int) bool) bool {
	switch {
	case m.set(n.group):
		return m.seq(n.subs[0], pos, next)
	case len(n.subs) == 2:
		return m.seq(n.subs[1], pos, next)
	}
	return next(pos)
}

func (m *regexMatcher) save() (begins, ends []int) {
	if m.re.groups == 0 {
		return nil, nil
	}
	return append([]int(nil), m.begins...), append([]int(nil), m.ends...)
}

func (m *regexMatcher) restore(begins, ends []int) {
	copy(m.begins, begins)
	copy(m.ends, ends)
}
