package policy

import (
	"fmt"
	"strings"
)

// A rule is: expression = term { "or" term }, term = factor { "and" factor },
// factor = "not" factor | "(" expression ")" | check. Precedence is that of
// oslo.policy's reductions.
type parser struct {
	tokens []string
	at     int
	depth  int
}

// parse reads a rule. A rule that is no sentence of the language is an error;
// whoever ignores it must deny.
func parse(rule string) (check, error) {
	tokens := tokenize(rule)
	if len(tokens) == 0 {
		return constant(true), nil
	}
	p := &parser{tokens: tokens}
	c, err := p.expression()
	if err == nil && p.at < len(tokens) {
		err = fmt.Errorf("%q is not expected", tokens[p.at])
	}
	if err != nil {
		return constant(false), fmt.Errorf("policy rule %q: %w", rule, err)
	}
	return c, nil
}

// tokenize splits at white space; parentheses count only at the ends of a word,
// since %(name)s stands inside.
func tokenize(rule string) []string {
	var out []string
	for word := range strings.FieldsSeq(rule) {
		for strings.HasPrefix(word, "(") {
			out = append(out, "(")
			word = word[1:]
		}
		trimmed := strings.TrimRight(word, ")")
		if trimmed != "" {
			out = append(out, trimmed)
		}
		for range len(word) - len(trimmed) {
			out = append(out, ")")
		}
	}
	return out
}

func (p *parser) expression() (check, error) {
	parts, err := p.list("or", p.term)
	if err != nil || len(parts) == 1 {
		return first(parts), err
	}
	return anyOf(parts), nil
}

func (p *parser) term() (check, error) {
	parts, err := p.list("and", p.factor)
	if err != nil || len(parts) == 1 {
		return first(parts), err
	}
	return allOf(parts), nil
}

func (p *parser) list(operator string, part func() (check, error)) ([]check, error) {
	var parts []check
	for {
		c, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
		if !strings.EqualFold(p.peek(), operator) {
			return parts, nil
		}
		p.at++
	}
}

func (p *parser) factor() (check, error) {
	token := p.peek()
	p.at++
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("more than %d nested parts", maxDepth)
	}
	defer func() { p.depth-- }()
	switch strings.ToLower(token) {
	case "", "and", "or", ")":
		return nil, fmt.Errorf("a check is missing before %q", token)
	case "not":
		c, err := p.factor()
		return negation{c}, err
	case "(":
		c, err := p.expression()
		if err != nil {
			return nil, err
		}
		if p.peek() != ")" {
			return nil, fmt.Errorf("a parenthesis is not closed")
		}
		p.at++
		return c, nil
	}
	return parseCheck(token)
}

func (p *parser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func parseCheck(token string) (check, error) {
	switch token {
	case "@":
		return constant(true), nil
	case "!":
		return constant(false), nil
	}
	kind, match, ok := strings.Cut(token, ":")
	if !ok {
		return nil, fmt.Errorf("%q is not of the form kind:match", token)
	}
	switch kind {
	case "role":
		return roleIs{match}, nil
	case "rule":
		return ruleIs{match}, nil
	case "http", "https":
		return nil, fmt.Errorf("%s: checks are not supported", kind)
	}
	return valueIs{kind, match}, nil
}

func first(parts []check) check {
	if len(parts) == 0 {
		return constant(false)
	}
	return parts[0]
}
