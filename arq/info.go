package arq

// HandleInfo is the JSON text of an attach handle (attach_info) or of a
// control path (cpid_info, which has the same form): the original bytes and,
// beside them, the parsed members in their order with their JSON types.
// The zero value is an empty object.
type HandleInfo struct {
	raw     string
	members []member
}

type member struct {
	key   string
	value string // JSON text, a part of raw where possible
}

// String returns the original bytes.
func (h HandleInfo) String() string { return h.raw }
