package reconcile

import (
	"context"
	"errors"
	"fmt"
)

// ManagedStore is what [ApplyManaged] needs of the persisted inventory; an
// agent reads and writes it through remotable objects.
type ManagedStore interface {
	// Inventory reads what host has.
	Inventory(ctx context.Context, host string) (Inventory, error)
	// UpdateAttachInfo makes one in-place update. ErrStale: something expected
	// is no longer true, or the handle is gone; nothing is written then.
	UpdateAttachInfo(ctx context.Context, u InfoUpdate) error
}

// ManagedResult is what [ApplyManaged] did.
type ManagedResult struct {
	Report  []Device // to be sent: persisted bytes where they mean the same
	Missing []string // PCI addresses of held handles that were not discovered
	Updated []string // PCI addresses whose attach_info was rewritten
}

// maxUpdates bounds the attempts to update one handle.
const maxUpdates = 2

// ApplyManaged brings the metadata of a host's PCI handles to what was
// discovered, before the report. It decides everything first and writes
// nothing while there is a conflict. An update that comes too late is decided
// again from a fresh read and tried once more.
//
// Errors: *[ManagedConflictError] and *[InvalidInfoError], all of them joined,
// when the report must be withheld because of the configuration or of invalid
// data: an agent that starts stops then. [ErrStale] when a handle changed twice
// (the next report tries again); others as the store returns them.
func ApplyManaged(ctx context.Context, store ManagedStore, host string, discovered []Device) (ManagedResult, error) {
	var done ManagedResult
	attempts := map[string]int{}
	for {
		stored, err := store.Inventory(ctx, host)
		if err != nil {
			return done, fmt.Errorf("read the inventory of host %s: %w", host, err)
		}
		plan := Managed(stored, discovered)
		if err := plan.Err(); err != nil {
			return done, err
		}
		done.Report, done.Missing = plan.Report, plan.Missing
		stale, err := update(ctx, store, plan.Updates, attempts, &done)
		if err != nil {
			return done, err
		}
		if !stale {
			return done, nil
		}
	}
}

// update makes the updates until one comes too late. A handle that was tried
// as often as allowed is not tried again.
func update(ctx context.Context, store ManagedStore, updates []InfoUpdate, attempts map[string]int, done *ManagedResult) (stale bool, err error) {
	for _, u := range updates {
		if attempts[u.Handle.UUID] >= maxUpdates {
			return false, fmt.Errorf("update attach handle %s of PCI address %s: %w", u.Handle.UUID, handleName(u.Handle), ErrStale)
		}
		attempts[u.Handle.UUID]++
		err := store.UpdateAttachInfo(ctx, u)
		if errors.Is(err, ErrStale) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("update attach handle %s of PCI address %s: %w", u.Handle.UUID, handleName(u.Handle), err)
		}
		done.Updated = append(done.Updated, handleName(u.Handle))
	}
	return false, nil
}
