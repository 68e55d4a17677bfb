package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/go-cyborg/cyborg/arq"
)

// Kind says what an engine's error means for the caller.
type Kind string

// The kinds of an [Error].
const (
	// Unavailable: the server cannot be reached or is not ready. Try again later.
	Unavailable Kind = "database not available"
	// Contention: other transactions were in the way at every attempt.
	Contention Kind = "too many conflicting transactions"
	// Denied: user, password or privileges are wrong.
	Denied Kind = "access to the database denied"
	// ReadOnly: the server or the file accepts no writes.
	ReadOnly Kind = "database is read-only"
	// Full: no room left on the database's disk.
	Full Kind = "database disk is full"
	// Schema: a table or column is missing, or the revision is not ours.
	Schema Kind = "database schema does not fit"
	// Duplicate: a value of a unique column exists already.
	Duplicate Kind = "value exists already"
	// Referenced: a foreign key holds the row, or its target is missing.
	Referenced Kind = "row is referred to, or refers to a missing row"
	// Invalid: a value does not fit its column.
	Invalid Kind = "value does not fit its column"
	// Internal: anything else.
	Internal Kind = "database error"
)

// Error is an error of the database engine.
type Error struct {
	// Op is the operation that failed: the name of the Store method.
	Op string
	// Kind is its meaning.
	Kind Kind
	// Err is what the driver said.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %v", e.Op, e.Kind, e.Err) }

// Unwrap returns the driver's error.
func (e *Error) Unwrap() error { return e.Err }

// DuplicateError says that a value which must be unique exists already.
type DuplicateError struct {
	// Resource is the kind of row: "Device Profile" or Device.
	Resource string
	// Key is the unique column: name or uuid.
	Key string
	// Value is the value of Key.
	Value string
}

// Error implements error.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s with %s %s already exists", e.Resource, e.Key, e.Value)
}

func notFound(resource, key, value string) error {
	return &arq.NotFoundError{Resource: resource, Msg: "with " + key + "=" + value}
}

// kindOf reads the number of an engine's error; ok is false for errors that
// are not an engine's. Lost connections count as Unavailable.
func kindOf(err error) (k Kind, ok bool) {
	var my *mysql.MySQLError
	var pg *pq.Error
	var lite *sqlite.Error
	switch {
	case errors.As(err, &my):
		return orDefault(mysqlKinds[my.Number], Internal), true
	case errors.As(err, &pg):
		return postgresKind(string(pg.Code)), true
	case errors.As(err, &lite):
		return sqliteKind(lite.Code()), true
	case lostConnection(err):
		return Unavailable, true
	}
	return "", false
}

// lostConnection recognises what the drivers return when the line broke.
func lostConnection(err error) bool {
	var n net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &n)
}

// mysqlKinds: server error numbers of MySQL, MariaDB and Galera.
var mysqlKinds = map[uint16]Kind{
	1213: Contention, 1205: Contention, 1020: Contention, // deadlock, lock wait, record changed
	1047: Unavailable, 1040: Unavailable, 1053: Unavailable, 1203: Unavailable, 1927: Unavailable, 1317: Unavailable,
	1044: Denied, 1045: Denied, 1698: Denied, 1142: Denied, 1143: Denied, 1227: Denied,
	1290: ReadOnly, 1792: ReadOnly, 1836: ReadOnly,
	1021: Full, 1114: Full, 3675: Full,
	1049: Schema, 1054: Schema, 1146: Schema,
	1062: Duplicate, 1586: Duplicate,
	1451: Referenced, 1452: Referenced, 1216: Referenced, 1217: Referenced,
	1406: Invalid, 1265: Invalid, 1366: Invalid, 1264: Invalid, 1048: Invalid, 1364: Invalid,
}

func postgresKind(code string) Kind {
	switch code {
	case "40001", "40P01", "55P03":
		return Contention
	case "57P01", "57P02", "57P03", "53300":
		return Unavailable
	case "28000", "28P01", "42501":
		return Denied
	case "25006":
		return ReadOnly
	case "53100":
		return Full
	case "3D000", "42P01", "42703", "3F000":
		return Schema
	case "23505":
		return Duplicate
	case "23503", "23001":
		return Referenced
	case "22001", "22P02", "23502", "22003", "22021":
		return Invalid
	}
	if len(code) == 5 && code[:2] == "08" {
		return Unavailable
	}
	return Internal
}

func sqliteKind(code int) Kind {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return Duplicate
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, sqlite3.SQLITE_CONSTRAINT_TRIGGER:
		return Referenced
	case sqlite3.SQLITE_CONSTRAINT_NOTNULL, sqlite3.SQLITE_CONSTRAINT_CHECK:
		return Invalid
	}
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return Contention
	case sqlite3.SQLITE_CANTOPEN:
		return Unavailable
	case sqlite3.SQLITE_READONLY:
		return ReadOnly
	case sqlite3.SQLITE_FULL:
		return Full
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return Schema
	case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH:
		return Invalid
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return Denied
	}
	return Internal
}

// isKind reports whether err is an engine's error of the kind.
func isKind(err error, k Kind) bool {
	got, ok := kindOf(err)
	return ok && got == k
}

// retryable reports whether running the transaction again may help.
func retryable(err error) bool {
	k, ok := kindOf(err)
	return ok && (k == Contention || k == Unavailable)
}

// wrap gives an engine's error its meaning. An ended context is reported as
// such: PostgreSQL's driver answers with a query_canceled of the server.
func wrap(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	k, ok := kindOf(err)
	if ctxErr := ctx.Err(); ctxErr != nil && (ok || errors.Is(err, sql.ErrTxDone)) {
		return fmt.Errorf("%s: %w", op, ctxErr)
	}
	if !ok {
		if errors.Is(err, sql.ErrTxDone) {
			return &Error{op, Unavailable, err}
		}
		return err
	}
	return &Error{op, k, err}
}
