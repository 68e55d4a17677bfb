package pci

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Keys of an entry.
const (
	keyVendor          = "vendor_id"
	keyProduct         = "product_id"
	keyAddress         = "address"
	keyDevname         = "devname"
	keyPhysicalNetwork = "physical_network"
	keyManaged         = "managed"
)

// entryDecoder turns one JSON object into a rule. It refuses whatever it does
// not understand, also where the schema let it pass.
type entryDecoder struct {
	entry map[string]any
	rule  Rule
	errs  []*EntryError
}

func (d *entryDecoder) fail(pointer, reason, message string) {
	d.errs = append(d.errs, &EntryError{Pointer: pointer, Reason: reason, Message: message})
}

// violation records a break of the schema, once for each place and keyword.
func (d *entryDecoder) violation(pointer, keyword string) {
	if !d.violated(pointer, keyword) {
		v := Violation{Pointer: pointer, Keyword: keyword}
		d.fail(pointer, reasonSchema+keyword, v.message(d.entry))
	}
}

// violated tells whether the schema was broken at a place, by any keyword if
// none is given.
func (d *entryDecoder) violated(pointer, keyword string) bool {
	return slices.ContainsFunc(d.errs, func(e *EntryError) bool {
		return e.Pointer == pointer && (keyword == "" || e.Reason == reasonSchema+keyword)
	})
}

func (d *entryDecoder) members() {
	_, hasAddress := d.entry[keyAddress]
	_, hasDevname := d.entry[keyDevname]
	if hasAddress && hasDevname {
		d.violation("", "not")
	}
	for _, key := range slices.Sorted(maps.Keys(d.entry)) {
		value := d.entry[key]
		if _, object := value.(map[string]any); object || !d.violated("/"+escapePointer(key), "") {
			d.member(key, value)
		}
	}
}

// member reads one member.
func (d *entryDecoder) member(key string, value any) {
	text, isText := value.(string)
	switch key {
	case keyVendor, keyProduct:
		if id, ok := d.id("/"+key, value); !ok {
			return
		} else if key == keyVendor {
			d.rule.vendor = id
		} else {
			d.rule.product = id
		}
	case keyAddress:
		d.address(value)
	case keyDevname:
		if !isText {
			d.violation("/"+key, "type")
		} else if text == "" {
			d.violation("/"+key, "minLength")
		}
		d.rule.devname = text
	case keyPhysicalNetwork:
		if !isText && value != nil {
			d.violation("/"+key, "type")
		}
	case keyManaged:
		d.managed(value)
	default:
		d.violation("", "additionalProperties")
	}
}

// managed reads the JSON booleans and the two texts that mean them.
func (d *entryDecoder) managed(value any) {
	switch value {
	case true, "true":
		d.rule.Managed = new(true)
	case false, "false":
		d.rule.Managed = new(false)
	default:
		d.violation("/"+keyManaged, "enum")
	}
}

// id reads a vendor or product id: "*", which gives "", or a hexadecimal
// number up to ffff.
func (d *entryDecoder) id(pointer string, value any) (string, bool) {
	text, ok := value.(string)
	if !ok {
		d.violation(pointer, "type")
		return "", false
	}
	if text = trimSpace(text); text == "*" {
		return "", true
	}
	v, reason := parseHex(text, 0xffff)
	if reason != "" {
		d.violation(pointer, "pattern")
	}
	return fmt.Sprintf("%04x", v), reason == ""
}

func (d *entryDecoder) address(value any) {
	switch v := value.(type) {
	case string:
		d.globAddress(v)
	case map[string]any:
		d.regexAddress(v)
	default:
		d.violation("/"+keyAddress, "type")
	}
}

// parseHex reads hexadecimal digits with an optional 0x and any number of
// leading zeros; the reason is "" on success.
func parseHex(text string, limit uint64) (v uint64, reason string) {
	digits := text
	if len(text) > 1 && (text[:2] == "0x" || text[:2] == "0X") {
		digits = text[2:]
	}
	if digits == "" || !allHex(digits) {
		return 0, reasonNotHex
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return 0, ""
	}
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || v > limit {
		return 0, reasonTooLarge
	}
	return v, ""
}

// trimSpace trims what Python's str.strip trims.
func trimSpace(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f })
}
