package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want Kind
	}{
		"mysql deadlock":      {&mysql.MySQLError{Number: 1213, Message: "Duplicate entry"}, Contention},
		"mysql lock wait":     {&mysql.MySQLError{Number: 1205}, Contention},
		"mariadb snapshot":    {&mysql.MySQLError{Number: 1020}, Contention},
		"galera not ready":    {&mysql.MySQLError{Number: 1047}, Unavailable},
		"mysql duplicate":     {&mysql.MySQLError{Number: 1062, Message: "Eintrag 'x' ist doppelt"}, Duplicate},
		"mysql missing row":   {&mysql.MySQLError{Number: 1452}, Referenced},
		"mysql NULL":          {&mysql.MySQLError{Number: 1048}, Invalid},
		"mysql too long":      {&mysql.MySQLError{Number: 1406}, Invalid},
		"mysql unknown":       {&mysql.MySQLError{Number: 9999}, Internal},
		"mysql broken":        {mysql.ErrInvalidConn, Unavailable},
		"postgres serialise":  {&pq.Error{Code: "40001"}, Contention},
		"postgres deadlock":   {&pq.Error{Code: "40P01"}, Contention},
		"postgres duplicate":  {&pq.Error{Code: "23505", Message: "la llave duplicada"}, Duplicate},
		"postgres connection": {&pq.Error{Code: "08006"}, Unavailable},
		"postgres starting":   {&pq.Error{Code: "57P03"}, Unavailable},
		"postgres enum":       {&pq.Error{Code: "22P02"}, Invalid},
		"postgres read-only":  {&pq.Error{Code: "25006"}, ReadOnly},
		"postgres full":       {&pq.Error{Code: "53100"}, Full},
		"postgres unknown":    {&pq.Error{Code: "XX000"}, Internal},
		"broken":              {driver.ErrBadConn, Unavailable},
		"wrapped":             {fmt.Errorf("commit: %w", &mysql.MySQLError{Number: 1213}), Contention},
		"ours":                {errors.New("deadlock"), ""},
	} {
		if got, ok := kindOf(c.err); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
}

func TestWrapSaysWhenTheCallerGaveUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := wrap(ctx, "Begin", &pq.Error{Code: "57014"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled statement: %v", err)
	}
	own := errors.New("refused")
	if err := wrap(ctx, "Begin", own); !errors.Is(err, own) {
		t.Errorf("a decision of ours: %v", err)
	}
}
