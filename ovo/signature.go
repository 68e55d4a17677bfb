package ovo

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// signature is the Python signature of a remotable method, as its def line states it: "name(self, a, b=None, *args, c: int = 1, **kw) -> str".
type signature struct {
	line    string // as it was read
	name    string
	params  []param // positional ones, self or cls included
	varargs string  // name of *args, "" without
	kwonly  []param
	varkw   string // name of **kw, "" without
	ann     map[string]string
	annKeys []string // annotated names in Python's order; "return" first
}

// param is one parameter. Its default is the repr of a Python value.
type param struct {
	name       string
	hasDefault bool
	def        string
}

// parseSignature reads a def line without "def" and without the colon. Defaults are literals, and what is none is written as Python's repr writes it; so are
// annotations, but the names of builtin classes and dotted names stand for classes.
func parseSignature(line string) (*signature, error) {
	name, rest, ok := strings.Cut(line, "(")
	s := &signature{line: line, name: strings.TrimSpace(name), ann: map[string]string{}}
	if !ok || !isIdentifier(s.name) {
		return nil, fmt.Errorf("signature %q: want name(parameters)", line)
	}
	items, rest, err := splitItems(rest)
	if err != nil {
		return nil, fmt.Errorf("signature %q: %w", line, err)
	}
	if err := s.returns(strings.TrimSpace(rest)); err != nil {
		return nil, fmt.Errorf("signature %q: %w", line, err)
	}
	seen := map[string]bool{}
	var annotated []string
	keyword := false
	for _, item := range items {
		name, err := s.item(item, &keyword)
		if err == nil && name != "" && seen[name] {
			err = fmt.Errorf("two parameters %s", name)
		}
		if err != nil {
			return nil, fmt.Errorf("signature %q: %w", line, err)
		}
		seen[name] = true
		if _, ok := s.ann[name]; ok && name != "return" {
			annotated = append(annotated, name)
		}
	}
	s.order(annotated)
	return s, nil
}

// order puts the annotated names into Python's order: return, positional, *args, keyword-only, **kw.
func (s *signature) order(annotated []string) {
	if _, ok := s.ann["return"]; ok {
		s.annKeys = append(s.annKeys, "return")
	}
	names := make([]string, 0, len(annotated))
	for _, p := range s.params {
		names = append(names, p.name)
	}
	names = append(names, s.varargs)
	for _, p := range s.kwonly {
		names = append(names, p.name)
	}
	for _, n := range append(names, s.varkw) {
		if slices.Contains(annotated, n) {
			s.annKeys = append(s.annKeys, n)
		}
	}
}

func (s *signature) returns(text string) error {
	if text == "" {
		return nil
	}
	ann, ok := strings.CutPrefix(text, "->")
	if ann = strings.TrimSpace(ann); !ok || ann == "" {
		return fmt.Errorf("want -> and a result after the parameters, not %q", text)
	}
	s.ann["return"] = annotationRepr(ann)
	return nil
}

// item reads one item of the parameter list and returns the parameter's name, "" for the markers / and *.
func (s *signature) item(text string, keyword *bool) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "/" && len(s.params) > 0 && !*keyword:
		return "", nil
	case text == "*" && !*keyword:
		*keyword = true
		return "", nil
	case s.varkw != "":
		return "", fmt.Errorf("%q after **%s", text, s.varkw)
	case strings.HasPrefix(text, "**"):
		p, err := s.param(text[2:])
		s.varkw = p.name
		return p.name, noDefault(p, err)
	case strings.HasPrefix(text, "*"):
		if *keyword {
			return "", fmt.Errorf("second * at %q", text)
		}
		*keyword = true
		p, err := s.param(text[1:])
		s.varargs = p.name
		return p.name, noDefault(p, err)
	}
	p, err := s.param(text)
	if *keyword {
		s.kwonly = append(s.kwonly, p)
		return p.name, err
	}
	if n := len(s.params); err == nil && n > 0 && s.params[n-1].hasDefault && !p.hasDefault {
		err = fmt.Errorf("parameter %s without a default follows one with", p.name)
	}
	s.params = append(s.params, p)
	return p.name, err
}

func noDefault(p param, err error) error {
	if err == nil && p.hasDefault {
		return fmt.Errorf("%s cannot have a default", p.name)
	}
	return err
}

// param reads "name[: annotation][= default]".
func (s *signature) param(text string) (param, error) {
	head, def, hasDefault := cutOutside(text, '=')
	name, ann, annotated := cutOutside(head, ':')
	p := param{name: strings.TrimSpace(name), hasDefault: hasDefault, def: strings.TrimSpace(def)}
	if !isIdentifier(p.name) {
		return p, fmt.Errorf("%q is no parameter", text)
	}
	if hasDefault && p.def == "" {
		return p, fmt.Errorf("parameter %s has an empty default", p.name)
	}
	if v, err := parseLiteral(p.def); hasDefault && err == nil {
		p.def = pyRepr(v) // "x" and 'x' are one default, and fingerprints print its repr
	}
	if annotated {
		ann = strings.TrimSpace(ann)
		if ann == "" {
			return p, fmt.Errorf("parameter %s has an empty annotation", p.name)
		}
		s.ann[p.name] = annotationRepr(ann)
	}
	return p, nil
}

func isIdentifier(s string) bool {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return false
		}
	}
	return s != ""
}

// splitItems splits a parameter list at its commas and returns what follows the closing parenthesis.
func splitItems(text string) (items []string, rest string, err error) {
	end := scanOutside(text, ')')
	if end < 0 {
		return nil, "", fmt.Errorf("the parameter list does not end")
	}
	rest = text[end+1:]
	text = text[:end]
	for strings.TrimSpace(text) != "" {
		i := scanOutside(text, ',')
		if i < 0 {
			i = len(text)
		}
		items = append(items, text[:i])
		text = text[min(i+1, len(text)):]
	}
	return items, rest, nil
}

// cutOutside is strings.Cut at the first sep outside brackets and quotes.
func cutOutside(text string, sep byte) (before, after string, found bool) {
	i := scanOutside(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// scanOutside returns the place of the first stop outside brackets and quotes, -1 if there is none.
func scanOutside(text string, stop byte) int {
	depth := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			switch c {
			case '\\':
				i++
			case quote:
				quote = 0
			}
		case c == stop && depth == 0:
			return i
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0 && depth > 0:
			depth--
		}
	}
	return -1
}

// annotationRepr is the repr of an annotation, which for a class differs from its name.
func annotationRepr(text string) string {
	switch text {
	case "int", "str", "float", "bool", "bytes", "list", "dict", "set", "frozenset", "tuple", "object", "type", "complex", "bytearray":
		return "<class '" + text + "'>"
	case "None", "True", "False", "Ellipsis":
		return text
	}
	if text[0] == '\'' || text[0] == '"' {
		if v, err := parseLiteral(text); err == nil {
			return pyRepr(v)
		}
		return text
	}
	module, _, dotted := strings.Cut(text, ".")
	if dotted && module != "typing" && !slices.ContainsFunc(strings.Split(text, "."), func(p string) bool { return !isIdentifier(p) }) {
		return "<class '" + text + "'>"
	}
	return text
}

// spec is the text of the signature in a fingerprint.
func (s *signature) spec() string {
	var b strings.Builder
	full := len(s.kwonly) > 0 || len(s.ann) > 0
	keywords := "keywords"
	if full {
		b.WriteString("Full")
		keywords = "varkw"
	}
	fmt.Fprintf(&b, "ArgSpec(args=%s, varargs=%s, %s=%s, defaults=%s",
		nameList(s.params), nameOrNone(s.varargs), keywords, nameOrNone(s.varkw), defaultTuple(s.params))
	if full {
		fmt.Fprintf(&b, ", kwonlyargs=%s, kwonlydefaults=%s, annotations=%s", nameList(s.kwonly), defaultDict(s.kwonly), s.annotations())
	}
	b.WriteByte(')')
	return b.String()
}

func nameList(params []param) string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = pyReprString(p.name)
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func nameOrNone(name string) string {
	if name == "" {
		return "None"
	}
	return pyReprString(name)
}

func defaultTuple(params []param) string {
	var defs []string
	for _, p := range params {
		if p.hasDefault {
			defs = append(defs, p.def)
		}
	}
	switch len(defs) {
	case 0:
		return "None"
	case 1:
		return "(" + defs[0] + ",)"
	}
	return "(" + strings.Join(defs, ", ") + ")"
}

func defaultDict(params []param) string {
	var defs []string
	for _, p := range params {
		if p.hasDefault {
			defs = append(defs, pyReprString(p.name)+": "+p.def)
		}
	}
	if defs == nil {
		return "None"
	}
	return "{" + strings.Join(defs, ", ") + "}"
}

func (s *signature) annotations() string {
	items := make([]string, len(s.annKeys))
	for i, k := range s.annKeys {
		items[i] = pyReprString(k) + ": " + s.ann[k]
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// isClassMethod tells a class method, whose first parameter is cls, from an instance method.
func (s *signature) isClassMethod() bool { return len(s.params) == 0 || s.params[0].name == "cls" }

// arguments returns the positional parameters that a caller fills: without self, or without cls and context.
func (s *signature) arguments() []param {
	skip := 1
	if s.isClassMethod() {
		skip = 2
	}
	return s.params[min(skip, len(s.params)):]
}
