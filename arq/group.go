package arq

// Property is one entry of a device profile's group.
type Property struct {
	Key   string // resources:RC, trait:T or accel:NAME
	Value string
	Null  bool // the value is JSON null (accel keys only)
}

// Group is one group of a device profile, in stored order: the first
// resources key decides the class of a request at bind.
type Group []Property

// Program is what a group wants loaded onto an FPGA before the bind.
type Program struct {
	BitstreamID string // accel:bitstream_id
	FunctionID  string // accel:function_id
}

// Needed reports whether a deployable that carries current has to be
// programmed first.
func (p Program) Needed(current string) bool {
	return p.FunctionID != "" || p.BitstreamID != "" && p.BitstreamID != current
}
