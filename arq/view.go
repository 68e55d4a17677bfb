package arq

import (
	"fmt"
	"strings"
	"time"
)

// Microversion is the minor number of an API microversion 2.N.
type Microversion int

// The range of microversions that [Request.View] knows. 2.4 shows managed,
// stateful and numa_node in attach_handle_info; below, none of them appears.
const (
	MicroversionMin Microversion = 0
	MicroversionMax Microversion = 4

	versionMetadata Microversion = 4
)

// String gives "2.N".
func (v Microversion) String() string { return fmt.Sprintf("2.%d", int(v)) }

// View is the body of an accelerator request in the REST API, its members in
// the order Cyborg writes them.
type View struct {
	UUID             string  `json:"uuid"`
	State            State   `json:"state"`
	ProfileName      string  `json:"device_profile_name"`
	GroupID          int     `json:"device_profile_group_id"`
	Hostname         *string `json:"hostname"`
	DeviceRPUUID     *string `json:"device_rp_uuid"`
	InstanceUUID     *string `json:"instance_uuid"`
	ProjectID        *string `json:"project_id"`
	AttachHandleType string  `json:"attach_handle_type"`
	AttachHandleUUID *string `json:"attach_handle_uuid"`
	AttachHandleInfo Mapping `json:"attach_handle_info"`
	Links            []Link  `json:"links"`
	CreatedAt        *string `json:"created_at"`
	UpdatedAt        *string `json:"updated_at"`
}

// Link is one element of a links list.
type Link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
}

// Mapping is a JSON object in a fixed order whose values are JSON texts.
type Mapping []member

// MarshalJSON writes the object.
func (m Mapping) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, e := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(asciiJSON(e.key))
		b.WriteByte(':')
		b.WriteString(e.value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// Get returns the JSON text of a key.
func (m Mapping) Get(key string) (value string, ok bool) {
	return HandleInfo{members: m}.Value(key)
}

// View returns the body at a microversion, with self as the href of its link.
// Only a Bound request shows its handle. The request is not changed. A stored
// attach_info with a value that the version cannot show, such as a managed
// that is no JSON boolean at 2.4, gives an *[InfoError].
func (r Request) View(v Microversion, self string) (View, error) {
	view := View{
		UUID:             r.UUID,
		State:            r.State,
		ProfileName:      r.ProfileName,
		GroupID:          r.GroupID,
		Hostname:         nullable(r.Hostname),
		DeviceRPUUID:     nullable(r.DeviceRPUUID),
		InstanceUUID:     nullable(r.InstanceUUID),
		ProjectID:        nullable(r.ProjectID),
		AttachHandleInfo: Mapping{},
		Links:            []Link{{Href: self, Rel: "self"}},
		CreatedAt:        timestamp(r.CreatedAt),
		UpdatedAt:        timestamp(r.UpdatedAt),
	}
	if r.State != Bound || r.Handle == nil {
		return view, nil
	}
	info, err := r.Handle.View(v)
	if err != nil {
		return View{}, err
	}
	view.AttachHandleType = string(r.Handle.Type)
	view.AttachHandleUUID = nullable(r.Handle.UUID)
	view.AttachHandleInfo = info
	return view, nil
}

// View returns attach_handle_info at a microversion: the stored keys with text
// values and, from 2.4, the metadata keys with their JSON types and defaults:
// managed for PCI handles only, stateful and numa_node for every type.
func (h Handle) View(v Microversion) (Mapping, error) {
	m := make(Mapping, 0, len(h.Info.members)+3)
	for _, e := range h.Info.members {
		if e.key == KeyManaged || e.key == KeyStateful || e.key == KeyNUMANode {
			continue
		}
		text, null, err := valueText(e.value)
		if err != nil || null {
			return nil, &InfoError{Text: h.Info.raw, Key: e.key, Value: e.value, Reason: "want a string"}
		}
		m = append(m, member{e.key, asciiJSON(text)})
	}
	if v < versionMetadata {
		return m, nil
	}
	if h.Type == HandlePCI {
		managed, err := h.Info.Managed()
		if err != nil {
			return nil, err
		}
		m = append(m, member{KeyManaged, fmt.Sprint(managed)})
	}
	stateful, err := h.Info.Stateful()
	if err != nil {
		return nil, err
	}
	node, known, err := h.Info.NUMANode()
	if err != nil {
		return nil, err
	}
	numa := "null"
	if known {
		numa = fmt.Sprint(node)
	}
	return append(m, member{KeyStateful, fmt.Sprint(stateful)}, member{KeyNUMANode, numa}), nil
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// timestamp writes seconds and an explicit zone, as the REST API does.
func timestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05-07:00")
	return &s
}
