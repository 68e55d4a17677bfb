package config

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// convert computes the value of an option, once.
func (c *Config) convert(i int) {
	r, d := &c.resolved[i], c.schema.options[i]
	if r.state != unread {
		return
	}
	r.state = reading
	defer func() { r.state = read }()
	if r.err == nil {
		r.value, r.err = c.convertFound(d, r.found)
	}
	if r.err == nil {
		return
	}
	r.value = nil
	e := &ValueError{Option: d.name, Origin: Origin{Place: FromDefault, As: d.name}, Err: r.err}
	if at, ok := errors.AsType[*entryError](r.err); ok {
		e.Origin, e.Value, e.Err = at.origin, at.text, at.err
	} else if len(r.found) > 0 {
		last := r.found[len(r.found)-1]
		e.Origin, e.Value = last.origin, last.text
	}
	if d.Secret {
		e.Value, e.Err = mask, errors.New("the value, which is secret, is not of the option's type or does not expand")
	}
	r.err = e
}

// entryError says which occurrence of a multi-valued option is wrong.
type entryError struct {
	setting
	number int
	err    error
}

func (e *entryError) Error() string { return fmt.Sprintf("entry %d: %v", e.number, e.err) }

func (c *Config) convertFound(d declared, found []setting) (any, error) {
	if len(found) == 0 {
		return c.convertDefault(d)
	}
	if d.Kind != MultiStr {
		return c.convertText(d, found[0].text)
	}
	values := make([]string, len(found))
	for i, s := range found {
		value, err := c.convertText(d, s.text)
		if err != nil {
			return nil, &entryError{setting: s, number: i + 1, err: err}
		}
		values[i], _ = value.(string)
	}
	return values, nil
}

func (c *Config) convertDefault(d declared) (any, error) {
	switch v := d.Default.(type) {
	case nil:
		return nil, nil
	case []string:
		out := make([]string, len(v))
		for i, text := range v {
			expanded, err := c.expand(text, d.name.Group)
			if err != nil {
				return nil, err
			}
			out[i] = expanded
		}
		return out, nil
	default:
		return c.convertText(d, fmt.Sprint(v))
	}
}

// convertText expands and converts one text. Lists are expanded before they are
// split, as oslo.config does.
func (c *Config) convertText(d declared, text string) (any, error) {
	text, err := c.expand(text, d.name.Group)
	if err != nil {
		return nil, err
	}
	value, err := d.parse(text)
	if err == nil && d.Validate != nil && value != nil {
		err = d.Validate(text)
	}
	return value, err
}

func (d declared) parse(text string) (any, error) {
	switch d.Kind {
	case Bool:
		return parseBool(text)
	case Int, Port:
		return d.parseInt(text)
	case Float:
		return d.parseFloat(text)
	case List:
		return d.parseList(text)
	case Dict:
		return d.parseDict(text)
	case HostAddr:
		return parseHostAddress(text)
	case URI:
		return d.parseURI(text)
	default:
		return d.parseString(text)
	}
}

func parseBool(text string) (any, error) {
	switch strings.ToLower(text) {
	case "true", "1", "on", "yes":
		return true, nil
	case "false", "0", "off", "no":
		return false, nil
	}
	return nil, fmt.Errorf("unexpected boolean value %q; allowed are true, 1, on, yes, false, 0, off, no", text)
}

func (d declared) parseString(text string) (string, error) {
	if d.Quotes && text != "" && strings.ContainsRune(`"'`, rune(text[0])) {
		if len(text) == 1 || text[len(text)-1] != text[0] {
			return "", fmt.Errorf("non-closed quote: %s", text)
		}
		text = text[1 : len(text)-1]
	}
	if d.MaxLength > 0 && utf8.RuneCountInString(text) > d.MaxLength {
		return "", fmt.Errorf("value %q exceeds maximum length %d", text, d.MaxLength)
	}
	if d.pattern != nil && !d.pattern.MatchString(text) {
		return "", fmt.Errorf("value %q doesn't match regex %q", text, d.Pattern)
	}
	if len(d.Choices) == 0 || slices.ContainsFunc(d.Choices, func(choice string) bool {
		return choice == text || d.IgnoreCase && strings.EqualFold(choice, text)
	}) {
		return text, nil
	}
	return "", fmt.Errorf("valid values are [%s], but found %q", strings.Join(d.Choices, ", "), text)
}

// parseInt follows Python's int(): a sign, decimal digits, single underscores
// between them; leading zeros are allowed. White space alone is unset.
func (d declared) parseInt(text string) (any, error) {
	text = strings.TrimFunc(text, isSpace)
	if text == "" {
		return nil, nil
	}
	digits, ok := plainDigits(text)
	if !ok {
		return nil, fmt.Errorf("%q is not an integer", text)
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return nil, fmt.Errorf("%q is not an integer", text)
	}
	size, _ := new(big.Float).SetInt(n).Float64()
	if err := d.inBounds(size); err != nil {
		return nil, err
	}
	if n.IsInt64() {
		return n.Int64(), nil
	}
	return n, nil
}

// plainDigits removes the underscores that Python allows between digits.
func plainDigits(text string) (string, bool) {
	if strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") || strings.Contains(text, "__") {
		return "", false
	}
	for i, r := range text {
		digit := '0' <= r && r <= '9' || r == '_' && '0' <= text[i-1] && text[i-1] <= '9'
		if !digit && !(i == 0 && (r == '+' || r == '-')) {
			return "", false
		}
	}
	return strings.ReplaceAll(text, "_", ""), true
}

func (d declared) parseFloat(text string) (any, error) {
	text = strings.TrimFunc(text, isSpace)
	if text == "" {
		return nil, nil
	}
	// Go reads hexadecimal numbers and Python does not; underscores are Python's
	// only between digits.
	plain := strings.ReplaceAll(text, "_", "")
	v, err := strconv.ParseFloat(plain, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) ||
		strings.ContainsAny(text, "xXpP") || plain != text && !underscoresBetweenDigits(text) {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	return v, d.inBounds(v)
}

func underscoresBetweenDigits(text string) bool {
	digit := func(i int) bool { return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9' }
	for i := range len(text) {
		if text[i] == '_' && (!digit(i-1) || !digit(i+1)) {
			return false
		}
	}
	return true
}

// portMax is the largest port number.
const portMax = 65535

func (d declared) inBounds(v float64) error {
	low, high := d.Min, d.Max
	if d.Kind == Port {
		low, high = cmpOr(low, 0), cmpOr(high, portMax)
	}
	if low != nil && v < *low {
		return fmt.Errorf("should be greater than or equal to %s", strconv.FormatFloat(*low, 'f', -1, 64))
	}
	if high != nil && v > *high {
		return fmt.Errorf("should be less than or equal to %s", strconv.FormatFloat(*high, 'f', -1, 64))
	}
	return nil
}

func cmpOr(bound *float64, fallback float64) *float64 {
	if bound != nil {
		return bound
	}
	return &fallback
}

// parseList splits at commas; quotes mean nothing. Trailing commas are dropped,
// empty items in the middle are kept.
func (d declared) parseList(text string) (any, error) {
	s := strings.TrimRight(strings.TrimFunc(text, isSpace), ",")
	s, err := d.unbound(s, "[", "]")
	if err != nil || s == "" {
		return []string{}, err
	}
	return d.join(strings.Split(s, ","), func(part string) (string, error) {
		return d.parseString(strings.TrimFunc(part, isSpace))
	})
}

// join converts the parts; a part that its type refuses takes the next one in,
// comma included, since a comma may belong to the item (oslo.config's rule).
func (d declared) join(parts []string, item func(string) (string, error)) ([]string, error) {
	out := []string{}
	for len(parts) > 0 {
		part := parts[0]
		parts = parts[1:]
		for {
			value, err := item(part)
			if err == nil {
				out = append(out, value)
				break
			}
			if len(parts) == 0 {
				return nil, err
			}
			part += "," + parts[0]
			parts = parts[1:]
		}
	}
	return out, nil
}

// parseDict reads name:value pairs; the first colon separates.
func (d declared) parseDict(text string) (any, error) {
	s, err := d.unbound(strings.TrimFunc(text, isSpace), "{", "}")
	out := map[string]string{}
	if err != nil || s == "" {
		return out, err
	}
	_, err = d.join(strings.Split(s, ","), func(part string) (string, error) {
		key, value, ok := strings.Cut(part, ":")
		if !ok {
			return "", errors.New(`value should be NAME:VALUE pairs separated by ","`)
		}
		return strings.TrimFunc(key, isSpace), d.addPair(out, strings.TrimFunc(key, isSpace), strings.TrimFunc(value, isSpace))
	})
	return out, err
}

func (d declared) addPair(out map[string]string, key, value string) error {
	if key == "" {
		return errors.New("key name should not be empty")
	}
	if _, twice := out[key]; twice {
		return fmt.Errorf("duplicate key %s", key)
	}
	out[key] = value
	return nil
}

func (d declared) unbound(s, left, right string) (string, error) {
	if !d.Bounds {
		return s, nil
	}
	if !strings.HasPrefix(s, left) {
		return "", fmt.Errorf("value should start with %q", left)
	}
	if !strings.HasSuffix(s, right) {
		return "", fmt.Errorf("value should end with %q", right)
	}
	return s[1:max(1, len(s)-1)], nil
}

func clampInt(value any) int64 {
	switch v := value.(type) {
	case int64:
		return v
	case *big.Int:
		if v.Sign() < 0 {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	return 0
}
