package store

import (
	"context"
	"slices"

	"github.com/go-cyborg/cyborg/arq"
)

// MetadataHandle is an attach handle whose text has keys that Cyborg 17.0.0
// does not know.
type MetadataHandle struct {
	UUID string `db:"uuid"`
	Host string `db:"hostname"`
	Info string `db:"attach_info"`
	// Keys are those of managed, stateful and numa_node that it has.
	Keys []string `db:"-"`
}

// MetadataHandles returns the attach handles whose text carries managed,
// stateful or numa_node, in id order.
func (s *Store) MetadataHandles(ctx context.Context) (out []MetadataHandle, err error) {
	var rows []MetadataHandle
	err = s.read(ctx, "MetadataHandles", func(t *tx) error {
		rows = nil
		// LIKE only narrows the rows down: what a key is, the parser says.
		return t.all(ctx, &rows, "SELECT h.uuid, d.hostname, h.attach_info FROM attach_handles h JOIN deployables p ON p.id = h.deployable_id"+
			" JOIN devices d ON d.id = p.device_id WHERE h.attach_info LIKE '%managed%' OR h.attach_info LIKE '%stateful%'"+
			" OR h.attach_info LIKE '%numa_node%' ORDER BY h.id")
	})
	for _, r := range rows {
		info, err := arq.ParseHandleInfo(r.Info)
		if err != nil {
			continue
		}
		for _, key := range []string{arq.KeyManaged, arq.KeyStateful, arq.KeyNUMANode} {
			if slices.Contains(info.Keys(), key) {
				r.Keys = append(r.Keys, key)
			}
		}
		if r.Keys != nil {
			out = append(out, r)
		}
	}
	return out, err
}

// WithdrawnDeployable is a deployable that is not on offer.
type WithdrawnDeployable struct {
	UUID string `db:"uuid"`
	Name string `db:"name"`
	Host string `db:"hostname"`
}

// WithdrawnDeployables returns the deployables that are not on offer, in id
// order: new ones, ones that are being changed, missing ones that a guest
// holds, NVMe devices that are not clean.
func (s *Store) WithdrawnDeployables(ctx context.Context) (out []WithdrawnDeployable, err error) {
	err = s.read(ctx, "WithdrawnDeployables", func(t *tx) error {
		out = nil
		return t.all(ctx, &out, "SELECT p.uuid, p.name, d.hostname FROM deployables p JOIN devices d ON d.id = p.device_id"+
			" WHERE p.rp_uuid IS NULL ORDER BY p.id")
	})
	return out, err
}
