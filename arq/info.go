package arq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-cyborg/cyborg/pci"
)

// Keys of an attach_info that have a meaning beyond the device's address.
const (
	KeyManaged  = "managed"   // boolean, PCI only; absent is true
	KeyStateful = "stateful"  // boolean; absent is false
	KeyNUMANode = "numa_node" // integer from 0; absent and null are unknown
)

// HandleInfo is the JSON text of an attach handle (attach_info) or of a
// control path (cpid_info, which has the same form): the original bytes and,
// beside them, the parsed members in their order with their JSON types.
// Unknown keys are kept. The zero value is an empty object. A HandleInfo is
// immutable and safe for concurrent use.
type HandleInfo struct {
	raw     string
	members []member
}

type member struct {
	key   string
	value string // JSON text, a part of raw where possible
}

// InfoError says that a text is no valid attach_info.
type InfoError struct {
	Text   string // the whole text
	Key    string // the offending key; empty when the text is no JSON object
	Value  string // its JSON text; empty when the key is missing
	Reason string
}

func (e *InfoError) Error() string {
	switch {
	case e.Key == "":
		return fmt.Sprintf("invalid attach_info %s: %s", e.Text, e.Reason)
	case e.Value == "":
		return fmt.Sprintf("invalid attach_info %s: %s %s", e.Text, e.Key, e.Reason)
	}
	return fmt.Sprintf("invalid attach_info %s: %s is %s, %s", e.Text, e.Key, e.Value, e.Reason)
}

// ParseHandleInfo reads the text of an attach_info or cpid_info column. It
// accepts any JSON object; of a repeated key the last value counts, as in
// Python. Anything else gives an *[InfoError].
func ParseHandleInfo(text string) (HandleInfo, error) {
	if m, ok := scanFlat(text); ok {
		return HandleInfo{raw: text, members: m}, nil
	}
	m, err := decodeObject(text)
	if err != nil {
		return HandleInfo{}, &InfoError{Text: text, Reason: err.Error()}
	}
	return HandleInfo{raw: text, members: m}, nil
}

// decodeObject is the general reader behind [ParseHandleInfo].
func decodeObject(text string) ([]member, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var members []member
	at := map[string]int{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, errors.New("not valid JSON")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errors.New("not valid JSON")
		}
		k := key.(string) // encoding/json lets nothing else be a key
		if i, ok := at[k]; ok {
			members[i].value = string(value)
			continue
		}
		at[k] = len(members)
		members = append(members, member{k, string(value)})
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("not valid JSON")
	}
	if strings.TrimLeft(text[dec.InputOffset():], " \t\r\n") != "" {
		return nil, errors.New("text after the JSON object")
	}
	return members, nil
}

// String returns the original bytes; "{}" for the zero value.
func (h HandleInfo) String() string {
	if h.raw == "" {
		return "{}"
	}
	return h.raw
}

// Keys lists the keys in the order of the text.
func (h HandleInfo) Keys() []string {
	keys := make([]string, len(h.members))
	for i, m := range h.members {
		keys[i] = m.key
	}
	return keys
}

// Value returns the JSON text of a key.
func (h HandleInfo) Value(key string) (json string, ok bool) {
	for _, m := range h.members {
		if m.key == key {
			return m.value, true
		}
	}
	return "", false
}

// Text returns the value of a key that must hold a string. A missing key and
// any other type give an *[InfoError].
func (h HandleInfo) Text(key string) (string, error) {
	v, ok := h.Value(key)
	if !ok {
		return "", &InfoError{Text: h.raw, Key: key, Reason: "is missing"}
	}
	if len(v) < 2 || v[0] != '"' {
		return "", &InfoError{Text: h.raw, Key: key, Value: v, Reason: "want a string"}
	}
	if !strings.ContainsRune(v, '\\') {
		return v[1 : len(v)-1], nil
	}
	var s string
	if err := json.Unmarshal([]byte(v), &s); err != nil {
		return "", &InfoError{Text: h.raw, Key: key, Value: v, Reason: "want a string"}
	}
	return s, nil
}

// Address returns the PCI address: the strings domain, bus, device (the slot)
// and function, leading zeros optional. Anything else gives an *[InfoError].
func (h HandleInfo) Address() (pci.Address, error) {
	var v [4]string
	for i, key := range [4]string{"domain", "bus", "device", "function"} {
		var err error
		if v[i], err = h.Text(key); err != nil {
			return pci.Address{}, err
		}
	}
	a, err := pci.ParseAddressFields(v[0], v[1], v[2], v[3])
	if err != nil {
		return pci.Address{}, &InfoError{Text: h.raw, Key: "address", Value: strings.Join(v[:], " "), Reason: err.Error()}
	}
	return a, nil
}

// Managed returns the effective managed mode: absent is true, otherwise the
// JSON boolean. Any other stored value is an *[InfoError], never coerced.
func (h HandleInfo) Managed() (bool, error) { return h.boolean(KeyManaged, true) }

// Stateful tells whether the device keeps workload data; absent is false. A
// value that is no JSON boolean is an *[InfoError].
func (h HandleInfo) Stateful() (bool, error) { return h.boolean(KeyStateful, false) }

func (h HandleInfo) boolean(key string, absent bool) (bool, error) {
	switch v, ok := h.Value(key); {
	case !ok:
		return absent, nil
	case v == "true", v == "false":
		return v == "true", nil
	default:
		return false, &InfoError{Text: h.raw, Key: key, Value: v, Reason: "want true or false"}
	}
}

// NUMANode returns the host NUMA node; known is false when the key is absent
// or null. Anything but an integer from 0 is an *[InfoError].
func (h HandleInfo) NUMANode() (node int, known bool, err error) {
	v, ok := h.Value(KeyNUMANode)
	if !ok || v == "null" {
		return 0, false, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, false, &InfoError{Text: h.raw, Key: KeyNUMANode, Value: v, Reason: "want an integer from 0 or null"}
	}
	return n, true, nil
}

// Compose writes an object in the form of Python's json.dumps with sorted
// keys (`{"bus": "25", "device": "00"}`): the members of h, changed by set
// (key to JSON text; empty removes the key).
func (h HandleInfo) Compose(set map[string]string) string {
	all := make(map[string]string, len(h.members)+len(set))
	for _, m := range h.members {
		all[m.key] = m.value
	}
	for k, v := range set {
		all[k] = v
		if v == "" {
			delete(all, k)
		}
	}
	keys := make([]string, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(asciiJSON(k))
		b.WriteString(": ")
		b.WriteString(all[k])
	}
	b.WriteByte('}')
	return b.String()
}

// asciiJSON quotes s as Python does by default: everything but printable
// ASCII as escapes.
func asciiJSON(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	quoted := strings.TrimSuffix(buf.String(), "\n")
	if isPrintable(quoted) {
		return quoted
	}
	var b strings.Builder
	for _, r := range quoted {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x7f {
			return false
		}
	}
	return true
}
