package upgradecheck_test

import (
	"database/sql"
	"strings"
	"testing"

	"modernc.org/sqlite"
)

// raw writes what only an older release would have written.
func raw(t *testing.T, url, statement string) {
	t.Helper()
	connector, err := sqlite.NewConnector(strings.TrimPrefix(url, "sqlite:///"))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}
