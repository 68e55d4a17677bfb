package dbsync_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// TestNewerSchemaIsLeftAlone runs every command on a database of a Cyborg to come.
func TestNewerSchemaIsLeftAlone(t *testing.T) {
	t.Parallel()
	file, url := conf(t, "")
	ctx := context.Background()
	s, err := store.Connect(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Upgrade(ctx, ""); err != nil {
		t.Fatal(err)
	}
	unowned(t, s, "i-1")
	path := strings.TrimPrefix(url, "sqlite:///")
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = raw.Exec("UPDATE alembic_version SET version_num = 'ffffffffffff'")
	if err := errors.Join(err, s.Close(), raw.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for command, code := range map[string]int{
		"upgrade": 1, "stamp": 1, "stamp --revision " + store.Head: 1, "create_schema": 1, "online_data_migrations": 2, "version": 0,
	} {
		got, out, errs := run(t, nil, append([]string{"--config-file", file}, strings.Fields(command)...)...)
		if got != code || !strings.Contains(out+errs, "ffffffffffff") {
			t.Errorf("%s: code %d: %s%s", command, got, out, errs)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file was changed, %v", err)
	}
}
