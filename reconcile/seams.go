package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Store is the database as [Runner.Apply] needs it. Every method is one
// transaction (or one statement); none does anything but SQL, so each may be
// retried as a whole by its implementation.
type Store interface {
	// Inventory reads what host has, in one snapshot. Its Host is the spelling
	// of the stored rows, or host when there are none.
	Inventory(ctx context.Context, host string) (Inventory, error)
	// Insert creates devices with everything below them, every offer NULL,
	// all or nothing, and returns them with their ids. ErrStale: one of them
	// exists; *FieldError: the database refused a value.
	Insert(ctx context.Context, host string, ds []Device) ([]Device, error)
	// Withdraw sets the offers to NULL and claims the rows. ErrStale: a row
	// is gone or newer than seen; nothing is written then.
	Withdraw(ctx context.Context, seen []Version) ([]Claim, error)
	// Commit writes the row steps of one device and returns it as it is then,
	// with the ids of what was inserted. Every deployable that a step changes,
	// or of which it changes an attribute or handle, gets a new updated_at: a
	// plan that was made before must not claim it. ErrStale: the device's structure
	// (ids, texts, offers, updated_at of deployables) is no longer p.Have; ErrHeld: a step would delete or rewrite what is held.
	Commit(ctx context.Context, p DevicePlan) (Device, error)
	// Offer sets rp_uuid where the claim still holds and returns the claims
	// that do not.
	Offer(ctx context.Context, claims []Claim) (lost []Claim, err error)
	// Remove deletes the whole device. ErrHeld: something holds it;
	// ErrStale: it is no longer what d says.
	Remove(ctx context.Context, d *Device) error
}

// Version is a deployable's row as it was read.
type Version struct {
	ID        int64
	UpdatedAt time.Time // zero is NULL
}

// Claim is the right to put a deployable on offer: it holds as long as the
// row's offer is NULL and its updated_at is UpdatedAt.
type Claim struct {
	ID        int64     // of the deployable
	UpdatedAt time.Time // zero is NULL: the claim of a fresh row's inserter
	Offer     string    // provider uuid to be set
}

// Placement is the Placement service as [Runner.Apply] needs it.
type Placement interface {
	// Tree reads every provider below the host's root. *NoRootError when
	// Placement has no provider of that name.
	Tree(ctx context.Context, host string) (Tree, error)
	// Sync creates the provider where needed, then writes traits and
	// inventory, and returns the generation after the last write.
	Sync(ctx context.Context, p ProviderState) (generation int, err error)
	// Reserve writes the inventory only.
	Reserve(ctx context.Context, p ProviderState) (generation int, err error)
	// Drop deletes a provider; nil when it is absent, *InUseError when
	// something is allocated from it. A root, where one is given, asks for a
	// look first: a provider that is not under it is somebody else's and
	// stays, and that is nil too.
	Drop(ctx context.Context, uuid, root string) error
}

// ProviderState is what Placement shall hold for one deployable.
type ProviderState struct {
	UUID, Name string
	Parent     string // uuid of the host's root
	// Generation of the provider as the tree showed it; Known says whether it
	// was there.
	Generation int
	Known      bool
	Class      string
	Traits     []string
	// OldTraits are those that the stored row asked for: they are taken off,
	// every other trait of the provider survives.
	OldTraits []string
	// Total and Reserved of the one inventory; max_unit is Total.
	Total, Reserved int
	// SameTraits says that the traits need no write: only the inventory changed
	// while the deployable was on offer.
	SameTraits bool
	// Refresh is asked after every generation conflict: it returns the state
	// to write now, from the row as it is now. ErrStale stops the write. Nil:
	// write the same state again. A Refresh of what it returns is not used.
	Refresh func(ctx context.Context) (ProviderState, error)
}

// ErrStale says that the database changed since the plan was made: re-read and
// diff again.
var ErrStale = errors.New("inventory changed since it was read")

// ErrHeld says that something which would have been deleted or rewritten is
// held by a guest.
var ErrHeld = errors.New("held by an accelerator request")

// ErrDuplicate says that a row with the same unique key exists.
var ErrDuplicate = errors.New("row exists")

// FieldError says that the database refused a value. Table and Field are empty
// where the engine does not name them.
type FieldError struct {
	Table, Field string
	Err          error
}

// column is what the error names.
func (e *FieldError) column() string {
	return strings.Trim(e.Table+"."+e.Field, ".")
}

func (e *FieldError) Error() string {
	if c := e.column(); c != "" {
		return fmt.Sprintf("database refused %s: %v", c, e.Err)
	}
	return fmt.Sprintf("database refused a value: %v", e.Err)
}

// Unwrap returns the database's error.
func (e *FieldError) Unwrap() error { return e.Err }

// NoRootError says that Placement has no resource provider for a host. It maps
// to Cyborg's PlacementResourceProviderNotFound.
type NoRootError struct{ Host string }

func (e *NoRootError) Error() string {
	return fmt.Sprintf("placement has no resource provider named %q: check that nova-compute of this host runs and that [agent] resource_provider_name is the hypervisor's host name", e.Host)
}

// InUseError says that Placement refused to delete a provider, or to drop its
// resource class, because something is allocated from it.
type InUseError struct {
	UUID       string // of the provider
	Generation int    // of the provider after what was written before the refusal
	Detail     string // Placement's words
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("resource provider %s is in use: %s", e.UUID, e.Detail)
}

// UnknownNameError says that Placement has no resource class, or no trait, of
// a name that only a newer Placement could have: custom ones are made.
type UnknownNameError struct {
	Name   string // "" when Placement's words name none that was asked for
	Detail string // Placement's words
}

// Unknown is the [*UnknownNameError] of Placement's words about a state.
func (s *ProviderState) Unknown(detail string) *UnknownNameError {
	e := &UnknownNameError{Detail: detail}
	for _, name := range append([]string{s.Class}, s.Traits...) {
		if !strings.HasPrefix(name, "CUSTOM_") && slices.Contains(strings.FieldsFunc(detail, notOfName), name) {
			e.Name = name
		}
	}
	return e
}

func notOfName(r rune) bool {
	return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
}

func (e *UnknownNameError) Error() string {
	return "placement does not know what the report asks for: " + e.Detail
}

// ForeignProviderError says that the wanted provider's name or uuid belongs to
// somebody else: another root's child, or a provider with another uuid.
type ForeignProviderError struct {
	UUID, Name string
	Root       string // root it is under; empty when the name belongs to another uuid
}

func (e *ForeignProviderError) Error() string {
	if e.Root == "" {
		return fmt.Sprintf("resource provider name %q belongs to a provider with another uuid than %s", e.Name, e.UUID)
	}
	return fmt.Sprintf("resource provider %s (%s) is under another root, %s", e.UUID, e.Name, e.Root)
}

// TransportError says that Placement could not be reached or answered with a
// server error; nothing is known about what it did.
type TransportError struct {
	Op  string
	Err error
}

func (e *TransportError) Error() string { return fmt.Sprintf("placement: %s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Err }
