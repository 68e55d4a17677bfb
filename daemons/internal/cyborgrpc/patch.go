package cyborgrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ARQPatches is the patch of several ARQs in the order in which they are carried out: on the wire a JSON
// object by ARQ UUID, whose order counts because an error stops the later ones.
type ARQPatches []ARQPatch

// ARQPatch is the patch of one ARQ.
type ARQPatch struct {
	UUID string
	Ops  []PatchOp
}

// PatchOp is one JSON-patch operation on an ARQ. All operations of one ARQ are OpAdd (bind) or OpRemove
// (unbind).
type PatchOp struct {
	Path  string  `json:"path"`
	Op    string  `json:"op"`
	Value *string `json:"value,omitempty"` // absent when an operation has none
}

// The operations that an ARQ accepts.
const (
	OpAdd    = "add"
	OpRemove = "remove"
)

// Binds says whether the patch binds the ARQ; its first operation decides.
func (p ARQPatch) Binds() bool { return len(p.Ops) > 0 && p.Ops[0].Op == OpAdd }

// MarshalJSON writes the patches as an object in their order.
func (p ARQPatches) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, patch := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(patch.UUID)
		if err != nil {
			return nil, err
		}
		ops, err := json.Marshal(patch.Ops)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(ops)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object and keeps its order. A UUID that occurs twice is refused: Python would drop
// the first patch silently.
func (p *ARQPatches) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("patches of ARQs: not an object")
	}
	patches, seen := ARQPatches{}, map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fmt.Errorf("patches of ARQs: %w", err)
		}
		patch := ARQPatch{UUID: key.(string)} // a key of an object is always a string
		if seen[patch.UUID] {
			return fmt.Errorf("patches of ARQs: %s occurs twice", patch.UUID)
		}
		seen[patch.UUID] = true
		if err := d.Decode(&patch.Ops); err != nil {
			return fmt.Errorf("patch of ARQ %s: %w", patch.UUID, err)
		}
		patches = append(patches, patch)
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("patches of ARQs: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("patches of ARQs: data after the object")
	}
	*p = patches
	return nil
}
