package store

import (
	"fmt"
	"slices"
)

// Head is the alembic revision of Cyborg 17.0.0, the only one the services
// run on.
const Head = "b47c8f2d1e3a"

// revision is one link of Cyborg's alembic chain.
type revision struct {
	id    string
	title string
	// mysql brings a MySQL database from the revision before to this one.
	// The other engines are created at Head: the peer cannot migrate them.
	mysql []ddl
}

// SchemaError says that the database is not one this program may use.
type SchemaError struct {
	// Revision is what alembic_version holds; empty for nothing.
	Revision string
	// Reason says what is wrong and what to do.
	Reason string
}

// Error implements error.
func (e *SchemaError) Error() string {
	if e.Revision == "" {
		return "database schema without a revision: " + e.Reason
	}
	return fmt.Sprintf("database schema at revision %s: %s", e.Revision, e.Reason)
}

// position returns the place of a revision in the chain, counted from one: 0
// for no revision, -1 for an unknown one.
func position(id string) int {
	if id == "" {
		return 0
	}
	i := slices.IndexFunc(revisions, func(r revision) bool { return r.id == id })
	if i < 0 {
		return -1
	}
	return i + 1
}

// older explains a revision before Head.
func older(id string) *SchemaError {
	return &SchemaError{id, "older than " + Head + " of this release; back up the database and run cyborg-dbsync upgrade"}
}

// unknown explains a revision that is not in the chain.
func unknown(id string) *SchemaError {
	return &SchemaError{id, "not known to this release: the database belongs to a newer Cyborg or to another service; nothing was changed"}
}
