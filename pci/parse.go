package pci

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Reasons of an [EntryError] that do not come from the JSON Schema.
const (
	reasonNotJSON   = "not_json"
	reasonNotObject = "not_object"
	reasonNotEntry  = "not_list_or_object"
	reasonNotHex    = "not_hex"
	reasonTooLarge  = "too_large"
	reasonRegex     = "regex"
	reasonSchema    = "schema:"
)

// ParseDeviceSpec reads the values of [pci] device_spec in configuration
// order. Each value is one JSON object or a list of objects, an empty list
// included. check is the JSON Schema check of package pci/specschema; nil
// leaves it out, and whatever a rule cannot express is refused all the same. The error is a [*ConfigError] that lists
// everything wrong with all values; no rule is returned with it.
func ParseDeviceSpec(values []OptionValue, check SchemaCheck) (DeviceSpec, error) {
	p := specParser{check: check}
	counts := map[string]int{}
	for _, v := range values {
		option := cmp.Or(v.Option, OptionDeviceSpec)
		p.value(Location{Option: option, Value: counts[option], Element: -1, Place: v.Place}, v.Text)
		counts[option]++
	}
	if p.errs != nil {
		return DeviceSpec{}, &ConfigError{Entries: p.errs}
	}
	p.spec.Warnings = append(p.spec.Warnings, p.unusedWarning()...)
	return p.spec, nil
}

type specParser struct {
	check  SchemaCheck
	spec   DeviceSpec
	errs   []*EntryError
	unused []Location // of rules with physical_network
}

// value reads one option value.
func (p *specParser) value(where Location, text string) {
	doc, err := decodeJSON(text)
	if err != nil {
		p.errs = append(p.errs, &EntryError{
			Location: where, Reason: reasonNotJSON, Entry: text,
			Message: fmt.Sprintf("not valid json: %v", err),
		})
		return
	}
	switch doc := doc.(type) {
	case map[string]any:
		p.entry(where, text, doc)
	case []any:
		p.list(where, text, doc)
	default:
		p.errs = append(p.errs, &EntryError{
			Location: where, Reason: reasonNotEntry, Entry: text,
			Message: "want a json object or a list of objects",
		})
	}
}

func (p *specParser) list(where Location, text string, elements []any) {
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil || len(raw) != len(elements) {
		raw = slices.Repeat([]json.RawMessage{json.RawMessage(text)}, len(elements))
	}
	for i, element := range elements {
		where.Element = i
		if object, ok := element.(map[string]any); ok {
			p.entry(where, string(raw[i]), object)
			continue
		}
		p.errs = append(p.errs, &EntryError{
			Location: where, Reason: reasonNotObject, Entry: string(raw[i]),
			Message: "want a json object",
		})
	}
}

// entry reads one rule: first against the schema, then every member that the
// schema found nothing wrong with.
func (p *specParser) entry(where Location, text string, object map[string]any) {
	d := entryDecoder{entry: object, rule: Rule{Location: where}}
	if p.check != nil {
		for _, v := range p.check(object) {
			d.violation(v.Pointer, v.Keyword)
		}
	}
	d.members()
	for _, e := range d.errs {
		e.Location, e.Entry = where, text
	}
	slices.SortStableFunc(d.errs, func(a, b *EntryError) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Reason, b.Reason))
	})
	p.errs = append(p.errs, d.errs...)
	p.spec.Rules = append(p.spec.Rules, d.rule)
	p.warn(where, text, object, &d.rule)
}

func (p *specParser) warn(where Location, text string, object map[string]any, r *Rule) {
	if r.matchesAll() {
		p.spec.Warnings = append(p.spec.Warnings, Warning{
			WarnMatchesAll, where.String(), "the rule restricts nothing and matches every pci device of the host",
		})
	}
	for _, pointer := range duplicateKeys(text) {
		p.spec.Warnings = append(p.spec.Warnings, Warning{
			WarnDuplicateKey, where.String(), fmt.Sprintf("the key %s is given more than once; the last one counts", pointer),
		})
	}
	if _, ok := object[keyPhysicalNetwork]; ok {
		p.unused = append(p.unused, where)
	}
}

// unusedWarning tells once, not for every rule, that physical_network is idle.
func (p *specParser) unusedWarning() []Warning {
	if p.unused == nil {
		return nil
	}
	message := keyPhysicalNetwork + " is accepted and has no effect here"
	if more := len(p.unused) - 1; more > 0 {
		message += fmt.Sprintf(" (and in %d more entries)", more)
	}
	return []Warning{{WarnUnusedKey, p.unused[0].String(), message}}
}

// decodeJSON reads exactly one JSON document, keeping numbers as written.
func decodeJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var doc any
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the value is empty")
	}
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the json document")
	}
	return doc, nil
}

// duplicateKeys gives the JSON pointers of the keys that stand more than once
// in one object. text is valid JSON.
func duplicateKeys(text string) []string {
	var out []string
	var walk func(dec *json.Decoder, at string)
	walk = func(dec *json.Decoder, at string) {
		token, err := dec.Token()
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for i := 0; token == json.Delim('{') && dec.More(); i++ {
			key, _ := dec.Token()
			pointer := at + "/" + escapePointer(fmt.Sprint(key))
			if seen[pointer] && !slices.Contains(out, pointer) {
				out = append(out, pointer)
			}
			seen[pointer] = true
			walk(dec, pointer)
		}
		for i := 0; token == json.Delim('[') && dec.More(); i++ {
			walk(dec, fmt.Sprintf("%s/%d", at, i))
		}
		if token == json.Delim('{') || token == json.Delim('[') {
			_, _ = dec.Token() // the closing delimiter
		}
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	walk(dec, "")
	return out
}

// escapePointer escapes a key for a JSON pointer (RFC 6901).
func escapePointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
