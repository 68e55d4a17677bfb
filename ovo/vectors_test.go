package ovo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tally counts the cases of one or more vector files.
type tally struct{ passed, failed, skipped int }

func (c *tally) add(d tally) {
	c.passed += d.passed
	c.failed += d.failed
	c.skipped += d.skipped
}

// record counts a case: an empty problem is a pass.
func (c *tally) record(t *testing.T, name, problem string) {
	t.Helper()
	if problem == "" {
		c.passed++
		return
	}
	c.failed++
	t.Errorf("%s: %s", name, problem)
}

// vectorDir is where the recorded cases are.
func vectorDir() string {
	if dir := os.Getenv("VECTORS_DIR"); dir != "" {
		return filepath.Join(dir, "ovo")
	}
	return filepath.Join("testdata", "vectors", "ovo")
}

// loadVectors reads one file of cases; empty if it is not there.
func loadVectors(t *testing.T, name string) *Dict {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectorDir(), name))
	if errors.Is(err, os.ErrNotExist) {
		return &Dict{}
	}
	if err != nil {
		t.Fatal(err)
	}
	return parseJSON(t, data).(*Dict)
}

// at returns the value at a path of keys, nil if there is none.
func at(v any, path ...string) any {
	for _, key := range path {
		d, ok := v.(*Dict)
		if !ok {
			return nil
		}
		v, _ = d.Get(key)
	}
	return v
}

func text(v any, path ...string) string {
	s, _ := at(v, path...).(string)
	return s
}

func flag(v any, path ...string) bool {
	b, _ := at(v, path...).(bool)
	return b
}

func has(v any, key string) bool {
	d, ok := v.(*Dict)
	if !ok {
		return false
	}
	_, ok = d.Get(key)
	return ok
}

func items(v any) []any {
	list, _ := v.([]any)
	return list
}

// parseJSON reads text into the value model without help from the package under test.
func parseJSON(t *testing.T, data []byte) any {
	t.Helper()
	for word, text := range map[string]string{"NaN": `{"$float": "nan"}`, "Infinity": `{"$float": "inf"}`, "-Infinity": `{"$float": "-inf"}`} {
		if string(data) == word {
			data = []byte(text)
		}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parseNext(dec)
	if err != nil {
		t.Fatalf("parse %.80s: %v", data, err)
	}
	return v
}

func parseNext(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case json.Number:
		return parseNumber(tok.String()), nil
	case json.Delim:
		if tok == '[' {
			return parseArray(dec)
		}
		return parseObject(dec)
	}
	return tok, nil
}

func parseNumber(s string) any {
	if i, ok := new(big.Int).SetString(s, 10); ok {
		return normInt(i)
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

func parseArray(dec *json.Decoder) (any, error) {
	list := []any{}
	for dec.More() {
		v, err := parseNext(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token()
	return list, err
}

func parseObject(dec *json.Decoder) (any, error) {
	d := &Dict{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseNext(dec)
		if err != nil {
			return nil, err
		}
		if err := d.Set(k, v); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return d, err
}

// errPythonOnly marks a value that a Go program cannot have.
var errPythonOnly = errors.New("python only")

// untag turns the value encoding of the vectors into the value model. Objects are left to object: it gets the content of
// a $new or $obj.
func untag(v any, object func(kind string, content *Dict) (any, error)) (any, error) {
	each := func(list []any) ([]any, error) {
		return eachItem(list, func(e any) (any, error) { return untag(e, object) })
	}
	switch v := v.(type) {
	case []any:
		return each(v)
	case *Dict:
		if v.Len() == 0 {
			return v, nil
		}
		tag, _ := v.keys[0].(string)
		switch content := v.values[0]; tag {
		case "$new", "$obj":
			return object(tag, content.(*Dict))
		case "$tuple":
			list, err := each(items(content))
			return Tuple(list), err
		case "$set", "$frozenset":
			list, err := each(items(content))
			if err != nil {
				return nil, err
			}
			s, err := NewSet(list...)
			if err == nil {
				s.frozen = tag == "$frozenset"
			}
			return s, err
		case "$dict":
			return untagPairs(items(content), object)
		default:
			if tag != "" && tag[0] == '$' {
				return untagScalar(tag, content.(string), v)
			}
		}
		d := &Dict{}
		for k, e := range v.All() {
			e, err := untag(e, object)
			if err != nil {
				return nil, err
			}
			if err := d.Set(k, e); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	return v, nil
}

func untagPairs(pairs []any, object func(string, *Dict) (any, error)) (any, error) {
	d := &Dict{}
	for _, p := range pairs {
		pair, err := eachItem(items(p), func(e any) (any, error) { return untag(e, object) })
		if err != nil {
			return nil, err
		}
		if err := d.Set(pair[0], pair[1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func untagScalar(tag, content string, v *Dict) (any, error) {
	switch tag {
	case "$int":
		return parseNumber(content), nil
	case "$float":
		return strconv.ParseFloat(content, 64)
	case "$ip":
		return netip.ParseAddr(content)
	case "$ipnet":
		return netip.ParsePrefix(content)
	case "$datetime":
		return untagTime(content, text(v, "tzname"))
	case "$str_utf16be_hex":
		if b, err := hex.DecodeString(content); err != nil || len(b) == 0 {
			return nil, fmt.Errorf("bad %s", tag)
		}
	}
	return nil, errPythonOnly
}

// untagTime reads datetime.isoformat(); a zone without a name is Python's own, named after its offset.
func untagTime(s, name string) (any, error) {
	for _, layout := range []string{"2006-01-02T15:04:05.999999Z07:00", "2006-01-02T15:04:05.999999"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if layout[len(layout)-1] == '9' {
			return Naive(t), nil
		}
		_, offset := t.Zone()
		if name == "" {
			name = "UTC"
			if offset != 0 {
				name += string(appendOffset(nil, offset))
			}
		}
		if name == "UTC" {
			return t.UTC(), nil
		}
		return t.In(time.FixedZone(name, offset)), nil
	}
	return nil, fmt.Errorf("bad time %q", s)
}

// same compares values strictly, by type: 1 is not 1.0, a zone has to have the same name, dicts have an order. describe
// turns an object into the content of its $obj; both sides may hold objects or such contents.
func same(a, b any, describe func(Object) *Dict) bool {
	if o, ok := a.(Object); ok {
		a = describe(o)
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && sameItems(a, b, describe)
	case Tuple:
		b, ok := b.(Tuple)
		return ok && sameItems(a, b, describe)
	case *Set:
		b, ok := b.(*Set)
		return ok && sameItems(sortedItems(a), sortedItems(b), describe)
	case *Dict:
		b, ok := b.(*Dict)
		return ok && sameItems(a.keys, b.keys, describe) && sameItems(a.values, b.values, describe)
	case float64:
		b, ok := b.(float64)
		return ok && (math.Float64bits(a) == math.Float64bits(b) || a != a && b != b)
	case *big.Int:
		b, ok := b.(*big.Int)
		return ok && a.Cmp(b) == 0
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.Equal(b) && pyRepr(a) == pyRepr(b) && isNaive(a) == isNaive(b)
	}
	return a == b
}

func sameItems(a, b []any, describe func(Object) *Dict) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool { return same(x, y, describe) })
}

func sortedItems(s *Set) []any {
	list := slices.Clone(s.items)
	slices.SortFunc(list, func(x, y any) int { return bytes.Compare([]byte(pyRepr(x)), []byte(pyRepr(y))) })
	return list
}

// wrongError compares an error with a recorded one: the class always, the text where it is the library's own.
func wrongError(err error, want any) string {
	if err == nil {
		return "want " + text(want, "class") + ", got none"
	}
	if got := pythonClass(err); got != text(want, "class") {
		return fmt.Sprintf("want %s (%s), got %s (%v)", text(want, "class"), text(want, "message"), got, err)
	}
	msg := text(want, "message")
	if strings.Contains(msg, "{") { // may show a set, which has no order
		return ""
	}
	if libraryText.MatchString(msg) && !strings.Contains(err.Error(), msg) {
		return fmt.Sprintf("want %q, got %q", msg, err)
	}
	return ""
}

// libraryText finds messages of the library's own, which operators know.
var libraryText = regexp.MustCompile("^(A (string|list|dict|set|datetime.datetime) is required|Field |Malformed |Value must|" +
	"Version .* is not a valid|Network |Key |Cannot |Unsupported |Invalid target|Object action|.* is not supported)")
