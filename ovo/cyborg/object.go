package cyborg

import (
	"time"

	"github.com/go-cyborg/cyborg/ovo"
)

// Object holds the fields that every Cyborg object has. They come last on the wire, as inherited fields do.
type Object struct {
	ovo.Base
	CreatedAt ovo.Null[time.Time] `ovo:"created_at"` // set by the store at INSERT; null before
	UpdatedAt ovo.Null[time.Time] `ovo:"updated_at"` // set by the store at each UPDATE; null before the first
}

// storedTimes are the base fields as loaded from a row.
func storedTimes(created, updated *time.Time) Object {
	return Object{CreatedAt: ovo.NullStored(created), UpdatedAt: ovo.NullStored(updated)}
}
