package store

import (
	"context"
	"strings"

	"github.com/go-cyborg/cyborg/reconcile"
)

// maxIn bounds the ids of one IN list, maxParameters the parameters of one
// statement (SQLite takes 32,766, PostgreSQL 65,535).
const (
	maxIn         = 8192
	maxParameters = 30000
)

// in writes an IN list of ids. It is padded to the next power of two by
// repeating the last id, so that a server sees few different statements.
func in[T any](ids []T) (text string, args []any) {
	n := 1
	for n < len(ids) {
		n *= 2
	}
	args = make([]any, n)
	for i := range args {
		args[i] = ids[min(i, len(ids)-1)]
	}
	return "(?" + strings.Repeat(", ?", n-1) + ")", args
}

// chunks calls fn with at most size elements of all at a time.
func chunks[T any](all []T, size int, fn func([]T) error) error {
	for len(all) > 0 {
		n := min(size, len(all))
		if err := fn(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// allIn appends to dest the rows that query finds for ids; query holds one
// "IN ?" that becomes the list.
func allIn[R, T any](ctx context.Context, t *tx, dest *[]R, query string, ids []T) error {
	return chunks(ids, maxIn, func(part []T) error {
		list, args := in(part)
		var rows []R
		if err := t.all(ctx, &rows, strings.Replace(query, "IN ?", "IN "+list, 1), args...); err != nil {
			return err
		}
		*dest = append(*dest, rows...)
		return nil
	})
}

// insert writes rows in as few statements as their parameters allow. columns
// is the list as in the statement.
func (t *tx) insert(ctx context.Context, table, columns string, rows [][]any) error {
	width := strings.Count(columns, ",") + 1
	row := "(?" + strings.Repeat(", ?", width-1) + ")"
	return chunks(rows, maxParameters/width, func(part [][]any) error {
		args := make([]any, 0, len(part)*width)
		for _, r := range part {
			args = append(args, r...)
		}
		_, err := t.exec(ctx, "INSERT INTO "+table+" ("+columns+") VALUES "+row+strings.Repeat(", "+row, len(part)-1), args...)
		if isKind(err, Invalid) {
			return &reconcile.FieldError{Table: table, Err: err}
		}
		return err
	})
}

// idsOf returns the ids of the rows with the uuids.
func (t *tx) idsOf(ctx context.Context, table string, uuids []string) (map[string]int64, error) {
	var rows []struct {
		ID   int64  `db:"id"`
		UUID string `db:"uuid"`
	}
	if err := allIn(ctx, t, &rows, "SELECT id, uuid FROM "+table+" WHERE uuid IN ?", uuids); err != nil {
		return nil, err
	}
	ids := make(map[string]int64, len(rows))
	for _, r := range rows {
		ids[r.UUID] = r.ID
	}
	return ids, nil
}
