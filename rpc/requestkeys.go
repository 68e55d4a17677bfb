package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// contextKey ties a key of the wire to a field of [RequestContext]: exactly one of text, flag, list and derived is set.
type contextKey struct {
	name    string
	text    func(*RequestContext) *string
	flag    func(*RequestContext) *bool
	list    func(*RequestContext, []byte) []byte // appends the raw value
	derived func(*RequestContext) string         // written, but never read
}

// contextKeys are the 21 keys in the order in which Cyborg writes them; the table is never written.
var contextKeys = [...]contextKey{
	{name: "user", text: func(c *RequestContext) *string { return &c.User }},
	{name: "project_id", text: func(c *RequestContext) *string { return &c.ProjectID }},
	{name: "system_scope", text: func(c *RequestContext) *string { return &c.SystemScope }},
	{name: "project", derived: func(c *RequestContext) string { return c.ProjectID }},
	{name: "domain", text: func(c *RequestContext) *string { return &c.Domain }},
	{name: "user_domain", text: func(c *RequestContext) *string { return &c.UserDomain }},
	{name: "project_domain", text: func(c *RequestContext) *string { return &c.ProjectDomain }},
	{name: "is_admin", flag: func(c *RequestContext) *bool { return &c.IsAdmin }},
	{name: "read_only", flag: func(c *RequestContext) *bool { return &c.ReadOnly }},
	{name: "show_deleted", flag: func(c *RequestContext) *bool { return &c.ShowDeleted }},
	{name: "auth_token", text: func(c *RequestContext) *string { return &c.AuthToken }},
	{name: "request_id", text: func(c *RequestContext) *string { return &c.RequestID }},
	{name: "global_request_id", text: func(c *RequestContext) *string { return &c.GlobalRequestID }},
	{name: "resource_uuid", text: func(c *RequestContext) *string { return &c.ResourceUUID }},
	{name: "roles", list: (*RequestContext).appendRoles},
	{name: "user_identity", derived: (*RequestContext).userIdentity},
	{name: "is_admin_project", flag: func(c *RequestContext) *bool { return &c.IsAdminProject }},
	{name: "user_id", derived: func(c *RequestContext) string { return c.User }},
	{name: "user_name", text: func(c *RequestContext) *string { return &c.UserName }},
	{name: "service_catalog", list: (*RequestContext).appendCatalog},
	{name: "project_name", text: func(c *RequestContext) *string { return &c.ProjectName }},
}

// reservedKeys are swallowed by every server, so they never travel on.
var reservedKeys = [...]string{"client_timeout", "msg_id", "reply_q"}

// appendWire appends the members of the context to a request.
func (c *RequestContext) appendWire(dst []byte) ([]byte, error) {
	var err error
	var value []byte
	for i := range contextKeys {
		k := &contextKeys[i]
		if _, replaced := c.Extra[k.name]; replaced {
			dst, err = c.appendExtra(dst, k.name)
		} else {
			value = k.appendValue(value[:0], c)
			dst, err = wire.AppendContext(dst, k.name, value)
		}
		if err != nil {
			return nil, err
		}
	}
	extra := make([]string, 0, len(c.Extra))
	for name := range c.Extra {
		if findKey(name) == nil && !slices.Contains(reservedKeys[:], name) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	for _, name := range extra {
		if dst, err = c.appendExtra(dst, name); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// appendExtra appends an extra member, which must be JSON: otherwise no server could read the request.
func (c *RequestContext) appendExtra(dst []byte, name string) ([]byte, error) {
	raw := c.Extra[name]
	if raw == nil {
		raw = nullJSON
	}
	r := pyjson.NewReader(raw)
	err := r.Skip()
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", name, err)
	}
	return wire.AppendContext(dst, name, raw)
}

func (k *contextKey) appendValue(dst []byte, c *RequestContext) []byte {
	switch {
	case k.text != nil:
		return appendText(dst, *k.text(c))
	case k.derived != nil:
		return appendText(dst, k.derived(c))
	case k.flag != nil:
		return pyjson.AppendBool(dst, *k.flag(c))
	default:
		return k.list(c, dst)
	}
}

// appendText appends a string, null for the empty one.
func appendText(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	dst, err := pyjson.AppendString(dst, s)
	if err != nil { // not UTF-8
		dst, _ = pyjson.AppendString(dst, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return dst
}

func (c *RequestContext) appendRoles(dst []byte) []byte {
	dst = append(dst, '[')
	for i, role := range c.Roles {
		if i > 0 {
			dst = append(dst, pyjson.ItemSeparator...)
		}
		dst, _ = pyjson.AppendString(dst, strings.ToValidUTF8(role, "\uFFFD"))
	}
	return append(dst, ']')
}

func (c *RequestContext) appendCatalog(dst []byte) []byte {
	dst = append(dst, '[')
	start := len(dst)
	for _, entry := range c.ServiceCatalog {
		if !hasType(entry) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, pyjson.ItemSeparator...)
		}
		dst = append(dst, entry...)
	}
	return append(dst, ']')
}

// hasType reports whether a catalog entry is an object with a string "type".
func hasType(entry []byte) bool {
	members, err := wire.Members(entry)
	if err != nil {
		return false
	}
	for _, m := range members {
		if m.Key == "type" {
			_, ok := wire.Text(m.Value)
			return ok
		}
	}
	return false
}

// userIdentity is what oslo.context prints into log lines.
func (c *RequestContext) userIdentity() string {
	parts := []string{c.User, c.ProjectID, c.Domain, c.UserDomain, c.ProjectDomain}
	for i, p := range parts {
		if p == "" {
			parts[i] = "-"
		}
	}
	return strings.Join(parts, " ")
}

func findKey(name string) *contextKey {
	for i := range contextKeys {
		if contextKeys[i].name == name {
			return &contextKeys[i]
		}
	}
	return nil
}

// decodeContext reads what a server received, as tolerantly as Cyborg's from_dict. It copies what it keeps: a context may
// live longer than a message, and need much less memory.
func decodeContext(members []wire.Member) *RequestContext {
	c := &RequestContext{IsAdminProject: true}
	var texts texts
	for _, m := range members {
		k := findKey(m.Key)
		switch {
		case slices.Contains(reservedKeys[:], m.Key), k != nil && k.derived != nil:
		case k == nil || !k.read(c, m.Value, &texts):
			if c.Extra == nil {
				c.Extra = map[string]json.RawMessage{}
			}
			c.Extra[m.Key] = bytes.Clone(m.Value)
		case c.Extra != nil: // the last of two members with this key counts
			delete(c.Extra, m.Key)
		}
	}
	texts.store()
	if c.RequestID == "" && c.Extra["request_id"] == nil {
		c.RequestID = newRequestID()
	}
	return c
}

// read sets the field and reports whether the value had the right type. A flag of another type counts as Python counts it.
func (k *contextKey) read(c *RequestContext, raw []byte, texts *texts) bool {
	isNull := raw[0] == 'n'
	switch {
	case k.text != nil:
		return texts.add(k.text(c), raw) || isNull
	case k.flag != nil:
		*k.flag(c) = wire.Truthy(raw)
		return raw[0] == 't' || raw[0] == 'f'
	case isNull:
		return true
	default:
		return k.readList(c, raw, texts)
	}
}

func (k *contextKey) readList(c *RequestContext, raw []byte, texts *texts) bool {
	elements := wire.Elements(raw)
	if k.name == "service_catalog" {
		c.ServiceCatalog = nil
		for _, element := range elements {
			c.ServiceCatalog = append(c.ServiceCatalog, bytes.Clone(element))
		}
		return raw[0] == '['
	}
	c.Roles = nil
	if len(elements) > 0 {
		c.Roles = make([]string, len(elements))
	}
	for i, element := range elements {
		if !texts.add(&c.Roles[i], element) {
			c.Roles = c.Roles[:i]
			return false
		}
	}
	return raw[0] == '['
}

// texts decodes the strings of a context into one allocation.
type texts struct {
	all   []byte
	parts []textPart
}

// textPart is a string that ends at end, and where it goes.
type textPart struct {
	to  *string
	end int
}

// add decodes raw, if it is a string; it stands in *to once store is called. If it is none, *to becomes "".
func (t *texts) add(to *string, raw []byte) (ok bool) {
	if t.parts == nil {
		t.all, t.parts = make([]byte, 0, 512), make([]textPart, 0, len(contextKeys))
	}
	t.all, ok = wire.AppendText(t.all, raw)
	t.parts = append(t.parts, textPart{to, len(t.all)})
	return ok
}

func (t *texts) store() {
	all, start := string(t.all), 0
	for _, p := range t.parts {
		*p.to = all[start:p.end]
		start = p.end
	}
}
