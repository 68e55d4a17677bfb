package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/reconcile"
)

var (
	_ reconcile.Store = (*Store)(nil)
	_ cyborg.Store    = (*Store)(nil)
)

// Store is a database in use. Make one with [Open] or [Connect]; it is safe
// for concurrent use and holds connections until [Store.Close].
type Store struct {
	db     *sqlx.DB
	d      dialect
	now    func() time.Time
	log    *slog.Logger
	fault  func(Point) error
	writer chan struct{} // one token: the writer of an engine that has only one
	// asFound: see Config.Existing.
	asFound bool
}

// Open connects to the database and refuses it when its schema is not the one
// of revision [Head]. Errors are those of [Connect] and [*SchemaError].
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := Connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = s.CheckSchema(ctx)
	if err == nil {
		err = s.keepLog(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// keepLog lets readers of a SQLite file go on beside its writer. The mode is
// written into the file, so it waits until the file is known to be Cyborg's.
func (s *Store) keepLog(ctx context.Context) error {
	if s.d.name != "sqlite" || s.asFound {
		return nil
	}
	_, err := s.db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	if isKind(err, ReadOnly) {
		return nil // a reader takes the file as it is
	}
	return wrap(ctx, "open", err)
}

// Connect connects to the database without looking at its schema. While the
// server cannot be reached it tries again as [Config.Attempts] says; a
// password or a name that is refused ends it at once. Errors are [*URLError]
// and [*Error].
func Connect(ctx context.Context, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	u, err := parseURL(cfg.URL, cfg.Parameters)
	if err != nil {
		return nil, err
	}
	connector, err := cfg.connector(u)
	if err != nil {
		return nil, err
	}
	if cfg.Existing {
		if err := u.mustExist(); err != nil {
			return nil, err
		}
	}
	d := dialects[u.backend]
	db := sql.OpenDB(connector)
	if u.inMemory() { // a second connection would be a second database
		db.SetMaxOpenConns(1)
	} else {
		db.SetMaxOpenConns(cfg.PoolSize + cfg.Overflow)
		db.SetMaxIdleConns(cfg.PoolSize)
		db.SetConnMaxLifetime(cfg.Recycle)
	}
	s := &Store{
		db: sqlx.NewDb(db, d.driver), d: d, now: cfg.Now, log: cfg.Log, fault: cfg.Fault,
		writer: make(chan struct{}, 1), asFound: cfg.Existing,
	}
	if err := s.firstConnection(ctx, cfg); err != nil {
		return nil, errors.Join(u.fileError(err), db.Close())
	}
	return s, nil
}

func (s *Store) firstConnection(ctx context.Context, cfg Config) error {
	for attempt := 1; ; attempt++ {
		err := wrap(ctx, "connect", s.db.PingContext(ctx))
		if err == nil {
			return nil
		}
		if !isKind(err, Unavailable) || s.d.name == "sqlite" || cfg.Attempts > 0 && attempt >= cfg.Attempts {
			return err
		}
		s.log.LogAttrs(ctx, slog.LevelWarn, "database not available, trying again",
			slog.Int("attempt", attempt), slog.Duration("after", cfg.RetryInterval), slog.Any("error", err))
		t := time.NewTimer(cfg.RetryInterval)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("connect: %w", ctx.Err())
		}
	}
}

// Close ends every connection. Transactions that are running fail.
func (s *Store) Close() error { return s.db.Close() }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return wrap(ctx, "ping", s.db.PingContext(ctx)) }

// Engine is the database engine: mysql, postgresql or sqlite.
func (s *Store) Engine() string { return s.d.name }
