package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
)

// Bounds of running a transaction again.
const (
	// maxAttempts ends a series of conflicts, or of lost connections: a server
	// that comes back meets all its clients at once, and what was lost before
	// must not count against the conflicts of then.
	maxAttempts = 8
	firstPause  = 5 * time.Millisecond
	maxPause    = 250 * time.Millisecond
	// retryFor ends the attempts early when each of them waits for the
	// server's own lock timeout.
	retryFor = 30 * time.Second
)

var (
	writeOptions = sql.TxOptions{Isolation: sql.LevelReadCommitted}
	readOptions  = sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
)

// tx is one attempt of one transaction.
type tx struct {
	s  *Store
	q  *sqlx.Tx
	op string
	n  int
	// again is set when an earlier attempt ended in COMMIT without an answer:
	// its writes may be there.
	again bool
}

// write runs fn in a transaction at READ COMMITTED and again, from its
// beginning, as long as the engine reports a conflict or a lost connection.
// fn must therefore touch nothing but the transaction and its own results.
func (s *Store) write(ctx context.Context, op string, fn func(*tx) error) error {
	if s.d.oneWriter {
		select {
		case s.writer <- struct{}{}:
			defer func() { <-s.writer }()
		case <-ctx.Done():
			return wrap(ctx, op, sql.ErrTxDone)
		}
	}
	return s.run(ctx, op, &writeOptions, fn)
}

// read runs fn in a read-only transaction that sees one snapshot.
func (s *Store) read(ctx context.Context, op string, fn func(*tx) error) error {
	return s.run(ctx, op, &readOptions, fn)
}

func (s *Store) run(ctx context.Context, op string, opts *sql.TxOptions, fn func(*tx) error) error {
	start := time.Now()
	var unknown bool
	var conflicts, losses int
	for {
		committing, err := s.attempt(ctx, op, opts, unknown, fn)
		if err == nil {
			return nil
		}
		failures := &conflicts
		if isKind(err, Unavailable) {
			failures = &losses
		}
		*failures++
		if !retryable(err) || ctx.Err() != nil || *failures == maxAttempts || time.Since(start) > retryFor {
			return wrap(ctx, op, err)
		}
		unknown = unknown || committing && isKind(err, Unavailable)
		s.log.LogAttrs(ctx, slog.LevelDebug, "running a transaction again",
			slog.String("op", op), slog.Int("failures", *failures), slog.Any("error", err))
		if !pause(ctx, *failures) {
			return wrap(ctx, op, err)
		}
	}
}

// pause sleeps for a random time below a bound that doubles with each failure.
func pause(ctx context.Context, failures int) bool {
	t := time.NewTimer(rand.N(min(firstPause<<failures, maxPause)))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt runs fn once; committing reports whether COMMIT had been sent.
func (s *Store) attempt(ctx context.Context, op string, opts *sql.TxOptions, unknown bool, fn func(*tx) error) (committing bool, err error) {
	t := &tx{s: s, op: op, again: unknown}
	if err := t.point(StageBegin, ""); err != nil {
		return false, err
	}
	if t.q, err = s.db.BeginTxx(ctx, opts); err != nil {
		return false, err
	}
	defer func() { _ = t.q.Rollback() }() // no effect after a commit
	if err := fn(t); err != nil {
		return false, err
	}
	if err := t.point(StageCommit, ""); err != nil {
		return false, err
	}
	if err := t.q.Commit(); err != nil {
		return true, err
	}
	return true, t.point(StageCommitted, "")
}

func (t *tx) point(stage Stage, query string) error {
	if t.s.fault == nil {
		return nil
	}
	p := Point{Op: t.op, Stage: stage, N: t.n, SQL: query}
	t.n++
	return t.s.fault(p)
}

// exec runs a statement and returns how many rows it matched.
func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	query = t.s.d.rebind(query)
	if err := t.point(StageWrite, query); err != nil {
		return 0, err
	}
	res, err := t.q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// all reads every row into dest, a pointer to a slice of structs or scalars.
func (t *tx) all(ctx context.Context, dest any, query string, args ...any) error {
	query = t.s.d.rebind(query)
	if err := t.point(StageRead, query); err != nil {
		return err
	}
	return t.q.SelectContext(ctx, dest, query, args...)
}

// one reads at most one row into dest and reports whether there was one.
func (t *tx) one(ctx context.Context, dest any, query string, args ...any) (bool, error) {
	query = t.s.d.rebind(query)
	if err := t.point(StageRead, query); err != nil {
		return false, err
	}
	err := t.q.GetContext(ctx, dest, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// now is the parameter for created_at and updated_at.
func (t *tx) now() any { return t.s.d.time(t.s.now()) }
