package pci

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// entryKeys are the keys of an entry, novaKeys those that only Nova's option
// of the same name has. They are never written.
var (
	entryKeys = []string{keyAddress, keyDevname, keyManaged, keyPhysicalNetwork, keyProduct, keyVendor}
	novaKeys  = []string{
		"device_type", "live_migratable", "numa_policy", "one_time_use",
		"remote_managed", "resource_class", "traits", "trusted",
	}
)

// message says what is wrong with an entry at a place, and what to write.
func (v Violation) message(entry map[string]any) string {
	value := valueAt(entry, v.Pointer)
	switch v.Keyword {
	case "additionalProperties":
		object, _ := value.(map[string]any)
		allowed := entryKeys
		if v.Pointer != "" {
			allowed = fieldNames[:]
		}
		return unknownKeys(object, allowed)
	case "not":
		return "address and devname exclude each other; give one of them"
	}
	want := v.want()
	if want == "" {
		return fmt.Sprintf("%s breaks the schema (%s)", jsonText(value), v.Keyword)
	}
	return fmt.Sprintf("%s is not allowed; use %s", jsonText(value), want)
}

// want describes the values that a member may have.
func (v Violation) want() string {
	switch v.Pointer {
	case "/" + keyVendor, "/" + keyProduct:
		return `a string with a hexadecimal id from 0 to ffff, or "*"`
	case "/" + keyAddress:
		return `a string [[[domain:]bus:]slot][.function], or an object of regular expressions`
	case "/" + keyDevname:
		return "the name of a network interface"
	case "/" + keyPhysicalNetwork:
		return "a string or null"
	case "/" + keyManaged:
		return "true or false (Nova's yes/no and on/off are not accepted here)"
	}
	if strings.HasPrefix(v.Pointer, "/"+keyAddress+"/") {
		return "a string with a regular expression"
	}
	return ""
}

// unknownKeys names the keys of an object that are not allowed, with a hint
// for those that belong elsewhere or look like an allowed one.
func unknownKeys(object map[string]any, allowed []string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if slices.Contains(allowed, key) {
			continue
		}
		part := strconv.Quote(key)
		if slices.Contains(novaKeys, key) {
			part += " (belongs to Nova's option)"
		} else if meant := similarKey(key, allowed); meant != "" {
			part += " (did you mean " + meant + "?)"
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("unknown key %s; allowed are %s", strings.Join(parts, ", "), strings.Join(allowed, ", "))
}

// similarKey gives the allowed key that differs in case and separators only,
// or that the key is a beginning of.
func similarKey(key string, allowed []string) string {
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
	}
	k := fold(key)
	for _, a := range allowed {
		if k == fold(a) || len(k) > 3 && strings.HasPrefix(fold(a), k) {
			return a
		}
	}
	return ""
}

// valueAt gives the value at a JSON pointer of objects.
func valueAt(entry map[string]any, pointer string) any {
	var value any = entry
	for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		object, ok := value.(map[string]any)
		if !ok || pointer == "" {
			return value
		}
		value = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]
	}
	return value
}

// jsonText prints a decoded value.
func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
