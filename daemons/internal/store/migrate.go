package store

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// Version returns the alembic revision of the database; empty when it has
// none.
func (s *Store) Version(ctx context.Context) (string, error) {
	st, err := s.inspect(ctx)
	if err != nil {
		return "", err
	}
	return st.revision, nil
}

// CheckSchema returns a [*SchemaError] unless the database is at [Head].
func (s *Store) CheckSchema(ctx context.Context) error {
	id, err := s.Version(ctx)
	switch {
	case err != nil:
		return err
	case id == Head:
		return nil
	case id == "":
		return &SchemaError{"", "no tables of Cyborg here; run cyborg-dbsync upgrade"}
	case position(id) < 0:
		return unknown(id)
	}
	return older(id)
}

// Upgrade brings the database to a revision, or creates it there when it is
// empty; empty means [Head]. A database that is at the revision is left
// alone; one of a newer Cyborg or of another service is refused untouched
// with a [*SchemaError]. An upgrade that was interrupted is completed by the
// next one. On PostgreSQL and SQLite only Head can be created.
func (s *Store) Upgrade(ctx context.Context, target string) error {
	target = orDefault(target, Head)
	to := position(target)
	if to < 0 {
		return fmt.Errorf("upgrade: revision %s is not known; the newest is %s", target, Head)
	}
	st, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	from := position(st.revision)
	switch {
	case from < 0:
		return unknown(st.revision)
	case from >= to:
		return s.keepLog(ctx)
	case from == 0 && st.foreign():
		return &SchemaError{"", "the database holds tables (" + strings.Join(st.tables, ", ") +
			") but no revision; if they are Cyborg's, run cyborg-dbsync stamp with their revision; nothing was changed"}
	case s.d.name == "mysql":
		return s.upgradeMySQL(ctx, st, to)
	case from > 0:
		return &SchemaError{st.revision, "only MySQL databases can be upgraded from it"}
	case target != Head:
		return fmt.Errorf("upgrade: on %s only %s can be created", s.d.name, Head)
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	return s.keepLog(ctx)
}

// CreateSchema creates the tables of [Head] in an empty database and refuses
// one that has a revision.
func (s *Store) CreateSchema(ctx context.Context) error {
	id, err := s.Version(ctx)
	if err != nil {
		return err
	}
	if id != "" {
		return &SchemaError{id, "the database has a schema already; use cyborg-dbsync upgrade"}
	}
	return s.Upgrade(ctx, Head)
}

// Stamp writes a revision into alembic_version and changes nothing else;
// empty means [Head]. A database of a newer Cyborg or of another service is
// refused untouched with a [*SchemaError].
func (s *Store) Stamp(ctx context.Context, target string) error {
	target = orDefault(target, Head)
	if position(target) < 0 {
		return fmt.Errorf("stamp: revision %s is not known; the newest is %s", target, Head)
	}
	st, err := s.inspect(ctx)
	switch {
	case err != nil:
		return err
	case position(st.revision) < 0:
		return unknown(st.revision)
	case st.strange():
		return &SchemaError{"", "the database holds tables (" + strings.Join(st.tables, ", ") + ") but none of Cyborg; nothing was changed"}
	}
	return s.write(ctx, "stamp", func(t *tx) error {
		if _, err := t.exec(ctx, versionTable); err != nil {
			return err
		}
		if _, err := t.exec(ctx, "DELETE FROM alembic_version"); err != nil {
			return err
		}
		_, err := t.exec(ctx, "INSERT INTO alembic_version (version_num) VALUES (?)", target)
		return err
	})
}

const versionTable = "CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"

// schemaState is what a database holds before a change.
type schemaState struct {
	tables   []string
	revision string
}

// foreign reports whether a database without a revision holds anything but
// the beginnings of the first one.
func (st schemaState) foreign() bool {
	started := slices.Contains(st.tables, "alembic_version")
	for _, name := range st.tables {
		first := name == "alembic_version" || name == "accelerators" || name == "deployables" || name == "attributes"
		if !started || !first {
			return true
		}
	}
	return false
}

// strange reports whether a database has tables, and none that every revision
// of Cyborg has.
func (st schemaState) strange() bool {
	return st.revision == "" && len(st.tables) > 0 && !slices.Contains(st.tables, "deployables") && !slices.Equal(st.tables, []string{"alembic_version"})
}

func (s *Store) inspect(ctx context.Context) (st schemaState, err error) {
	query := map[string]string{
		"mysql":      "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name",
		"postgresql": "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY table_name",
		"sqlite":     "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
	}[s.d.name]
	err = s.read(ctx, "read schema", func(t *tx) error {
		st = schemaState{}
		if err := t.all(ctx, &st.tables, query); err != nil {
			return err
		}
		if !slices.Contains(st.tables, "alembic_version") {
			return nil
		}
		var ids []string
		if err := t.all(ctx, &ids, "SELECT version_num FROM alembic_version"); err != nil {
			return err
		}
		if len(ids) > 1 {
			return &SchemaError{strings.Join(ids, ", "), "alembic_version must hold one row"}
		}
		st.revision = strings.Join(ids, "")
		return nil
	})
	return st, err
}

// create makes the whole schema in one transaction.
func (s *Store) create(ctx context.Context) error {
	text, err := schemaFiles.ReadFile("schema/" + s.d.name + ".sql")
	if err != nil {
		return err
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "creating the schema", slog.String("revision", Head))
	return s.write(ctx, "upgrade", func(t *tx) error {
		if s.d.name == "sqlite" {
			// A second process may have been faster; the file is locked now.
			var n int
			if _, err := t.one(ctx, &n, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'devices'"); err != nil || n > 0 {
				return err
			}
		}
		if _, err := t.exec(ctx, string(text)); err != nil {
			return err
		}
		_, err := t.exec(ctx, "INSERT INTO alembic_version (version_num) VALUES ('"+Head+"')")
		return err
	})
}

// upgradeMySQL runs the revisions between the database's and the target. Each
// DDL statement commits itself; the version moves when its revision is done.
func (s *Store) upgradeMySQL(ctx context.Context, st schemaState, to int) error {
	if !slices.Contains(st.tables, "alembic_version") {
		if err := (ddl{sql: versionTable}).apply(ctx, s); err != nil {
			return err
		}
	}
	before := st.revision
	for _, r := range revisions[position(before):to] {
		s.log.LogAttrs(ctx, slog.LevelInfo, "Running upgrade "+before+" -> "+r.id+", "+r.title)
		for _, change := range r.mysql {
			if err := change.apply(ctx, s); err != nil {
				return fmt.Errorf("upgrade to %s: %w", r.id, err)
			}
		}
		if err := s.moveVersion(ctx, before, r.id); err != nil {
			return fmt.Errorf("upgrade to %s: %w", r.id, err)
		}
		before = r.id
	}
	return nil
}

func (s *Store) moveVersion(ctx context.Context, from, to string) error {
	return s.write(ctx, "upgrade", func(t *tx) error {
		if from == "" {
			_, err := t.exec(ctx, "INSERT INTO alembic_version (version_num) VALUES (?)", to)
			return err
		}
		n, err := t.exec(ctx, "UPDATE alembic_version SET version_num = ? WHERE version_num = ?", to, from)
		if err == nil && n != 1 {
			err = &SchemaError{from, "another upgrade is running; run it again when that has ended"}
		}
		return err
	})
}
