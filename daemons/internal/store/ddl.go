package store

import (
	"context"
	"strings"
)

// ddl is one change of a MySQL schema. MySQL commits each by itself, so every
// change first looks whether it has been made: an upgrade that was
// interrupted goes on where it stopped.
type ddl struct {
	sql string
	// pending is a query that yields 1 while the change is still to be made;
	// empty for a change that may be repeated.
	pending string
	args    []any
}

const (
	hasColumn = "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?"
	noColumn  = "SELECT COUNT(*) = 0 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?"
	hasIndex  = "SELECT COUNT(*) > 0 FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?"
	noIndex   = "SELECT COUNT(*) = 0 FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?"
)

// innoDB is how the peer's revisions end the tables they name an engine for.
const innoDB = " ENGINE=InnoDB DEFAULT CHARSET=utf8"

// table creates a table from its columns and constraints, preceded by the two
// times and the id that all of Cyborg's tables have.
func table(name, options string, parts ...string) ddl {
	all := append([]string{"created_at DATETIME", "updated_at DATETIME", "id INTEGER NOT NULL AUTO_INCREMENT"}, parts...)
	all = append(all, "PRIMARY KEY (id)")
	return ddl{sql: "CREATE TABLE IF NOT EXISTS " + name + " (" + strings.Join(all, ", ") + ")" + options}
}

func addColumn(table, column, definition string) ddl {
	return ddl{"ALTER TABLE " + table + " ADD COLUMN " + column + " " + definition, noColumn, []any{table, column}}
}

func dropColumn(table, column string) ddl {
	return ddl{"ALTER TABLE " + table + " DROP COLUMN " + column, hasColumn, []any{table, column}}
}

func modifyColumn(table, column, definition string) ddl {
	return ddl{sql: "ALTER TABLE " + table + " MODIFY " + column + " " + definition}
}

func addIndex(table, index, column string) ddl {
	return ddl{"CREATE INDEX `" + index + "` ON " + table + " (" + column + ")", noIndex, []any{table, index}}
}

func addUnique(table, index, column string) ddl {
	return ddl{"ALTER TABLE " + table + " ADD CONSTRAINT " + index + " UNIQUE (" + column + ")", noIndex, []any{table, index}}
}

func dropIndex(table, index string) ddl {
	return ddl{"DROP INDEX `" + index + "` ON " + table, hasIndex, []any{table, index}}
}

// dropOldTable drops a table of the first revision. Two of its names are used
// again by the third, so the old shape is recognised by a column that only
// the first has.
func dropOldTable(name string) ddl {
	return ddl{"DROP TABLE IF EXISTS " + name, hasColumn, []any{"deployables", "accelerator_id"}}
}

// apply makes the change unless it has been made.
func (d ddl) apply(ctx context.Context, s *Store) error {
	return s.write(ctx, "upgrade", func(t *tx) error {
		if d.pending != "" {
			var pending bool
			if _, err := t.one(ctx, &pending, d.pending, d.args...); err != nil || !pending {
				return err
			}
		}
		_, err := t.exec(ctx, d.sql)
		return err
	})
}
