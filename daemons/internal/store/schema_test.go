package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/daemons/internal/store/storetest"
)

// vector reads a recorded file into v; $VECTORS_DIR has precedence. It skips
// the test when a directory was given and lacks the file.
func vector(t testing.TB, name string, v any) {
	t.Helper()
	dir := filepath.Join("testdata", "vectors", "db")
	given := os.Getenv("VECTORS_DIR")
	if given != "" {
		dir = filepath.Join(given, "db")
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if given != "" && errors.Is(err, os.ErrNotExist) {
		t.Skip("no such vector")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// needs returns the server's URL, or skips the test.
func needs(t testing.TB, engine string) string {
	t.Helper()
	variable := map[string]string{"mysql": "CYBORG_TEST_MYSQL_URL", "postgres": "CYBORG_TEST_POSTGRES_URL"}[engine]
	url := os.Getenv(variable)
	if url == "" {
		t.Skip(variable + " is not set")
	}
	return url
}

func connect(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Connect(context.Background(), store.Config{URL: url, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// charset creates a database of another default charset.
func charset(t testing.TB, s *store.Store, name string) {
	t.Helper()
	if _, err := s.Raw().Exec("ALTER DATABASE CHARACTER SET " + name); err != nil {
		t.Fatal(err)
	}
}

func wantListing(t *testing.T, want, got object) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-recorded +ours):\n%s", diff)
	}
}

// mysqlVector reads a recorded MySQL listing without what the server decides.
func mysqlVector(t testing.TB, name string) object {
	t.Helper()
	var want object
	vector(t, name, &want)
	for _, table := range want["tables"].(object) {
		o := table.(object)
		o["show_create"] = sortedLines(o["show_create"].(string))
	}
	return object{"tables": want["tables"]}
}

// tally counts the recorded cases of an area.
type tally struct{ passed, failed, skipped int }

func (c *tally) run(t *testing.T, name string, fn func(*testing.T)) {
	t.Helper()
	skipped := false
	ok := t.Run(name, func(t *testing.T) {
		t.Cleanup(func() { skipped = t.Skipped() })
		fn(t)
	})
	switch {
	case skipped:
		c.skipped++
	case ok:
		c.passed++
	default:
		c.failed++
	}
}

func (c *tally) print(area string) {
	fmt.Printf("%s vectors: %d passed, %d failed, %d skipped\n", area, c.passed, c.failed, c.skipped)
}

// TestSchemaVectorsIntegration compares our schema with the peer's, field by
// field. Without a server its engine is skipped.
func TestSchemaVectorsIntegration(t *testing.T) {
	t.Parallel()
	var count tally
	for name, set := range map[string]string{"schema_mariadb_upgrade.json": "utf8", "schema_mariadb_upgrade_utf8mb4_db.json": "utf8mb4"} {
		count.run(t, name, func(t *testing.T) {
			s := connect(t, freshDatabase(t, needs(t, "mysql")))
			charset(t, s, set)
			upgrade(t, s)
			wantListing(t, mysqlVector(t, name), mysqlListing(t, s.Raw()))
		})
	}
	count.run(t, "schema_postgresql_models_patched.json", postgresSchema)
	count.run(t, "schema_sqlite_create_schema.json", sqliteSchema)
	count.print("schema")
}

func upgrade(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Upgrade(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	if id, err := s.Version(context.Background()); err != nil || id != store.Head {
		t.Fatalf("version %q, %v", id, err)
	}
}

func postgresSchema(t *testing.T) {
	s := connect(t, freshDatabase(t, needs(t, "postgres")))
	upgrade(t, s)
	var want object
	vector(t, "schema_postgresql_models_patched.json", &want)
	for _, key := range []string{"backend", "server", "alembic_version"} {
		delete(want, key)
	}
	wantListing(t, want, postgresListing(t, s.Raw()))
}

func sqliteSchema(t *testing.T) {
	s := connect(t, "sqlite:///"+filepath.Join(t.TempDir(), "c.sqlite"))
	upgrade(t, s)
	var file struct{ Objects []object }
	vector(t, "schema_sqlite_create_schema.json", &file)
	want := object{}
	for _, o := range file.Objects {
		want[o["name"].(string)] = o
	}
	wantListing(t, want, sqliteListing(t, s.Raw()))
}

// step is one recorded revision of the peer's upgrade.
type step struct {
	Revision   string
	Statements []struct{ SQL string }
}

// replay sends what the peer's upgrade sent, up to and including a revision.
func replay(t testing.TB, db *sql.DB, steps []step, last string) {
	t.Helper()
	for _, s := range steps {
		for _, st := range s.Statements {
			if _, err := db.Exec(st.SQL); err != nil {
				t.Fatalf("%s: %v", st.SQL, err)
			}
		}
		if s.Revision == last {
			return
		}
	}
}

// TestUpgradeFromEveryRevisionIntegration takes over a database that the peer left at
// each of its revisions.
func TestUpgradeFromEveryRevisionIntegration(t *testing.T) {
	t.Parallel()
	server := needs(t, "mysql")
	var steps []step
	vector(t, "migrations_mariadb.json", &steps)
	want := mysqlVector(t, "schema_mariadb_upgrade.json")
	for i, from := range steps {
		t.Run(from.Revision, func(t *testing.T) {
			s := connect(t, freshDatabase(t, server))
			charset(t, s, "utf8")
			replay(t, s.Raw(), steps[:i+1], from.Revision)
			id, err := s.Version(context.Background())
			if err != nil || id != from.Revision {
				t.Fatalf("version %q, %v", id, err)
			}
			var wrong *store.SchemaError
			if err := s.CheckSchema(context.Background()); from.Revision != store.Head && !errors.As(err, &wrong) {
				t.Errorf("an old schema passes: %v", err)
			}
			upgrade(t, s)
			wantListing(t, want, mysqlListing(t, s.Raw()))
		})
	}
}

// TestUpgradeKeepsRowsIntegration upgrades rows of the oldest revision whose tables are
// today's.
func TestUpgradeKeepsRowsIntegration(t *testing.T) {
	t.Parallel()
	s := connect(t, freshDatabase(t, needs(t, "mysql")))
	var steps []step
	vector(t, "migrations_mariadb.json", &steps)
	replay(t, s.Raw(), steps, "ede4e3f1a232")
	for _, q := range []string{
		"INSERT INTO devices (uuid, type, vendor, model, hostname) VALUES ('d', 'FPGA', 'v', 'm', 'h')",
		"INSERT INTO controlpath_ids (uuid, device_id, cpid_type, cpid_info) VALUES ('c', 1, 'PCI', '{}')",
		"INSERT INTO deployables (uuid, name, num_accelerators, device_id) VALUES ('p', 'n', 1, 1)",
		"INSERT INTO attach_handles (uuid, deployable_id, cpid_id, in_use, attach_type, attach_info) VALUES ('h', 1, 1, TRUE, 'PCI', '{}')",
	} {
		if _, err := s.Raw().Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	upgrade(t, s)
	if _, _, err := s.BackfillDeviceStates(context.Background()); err != nil {
		t.Fatal(err)
	}
	inv, err := s.Inventory(context.Background(), "h")
	if err != nil || len(inv.Devices) != 1 {
		t.Fatalf("%+v, %v", inv, err)
	}
	d := inv.Devices[0]
	if d.Type != "FPGA" || d.Status != "enabled" || d.State != "allocated" || !d.Deployables[0].Handles[0].InUse {
		t.Errorf("device %+v", d)
	}
}

// TestUpgradeInterruptedIntegration breaks the upgrade at every statement and completes
// it with a second one.
func TestUpgradeInterruptedIntegration(t *testing.T) {
	t.Parallel()
	targets := map[string]func(t *testing.T) string{
		"sqlite": func(t *testing.T) string { return "sqlite:///" + filepath.Join(t.TempDir(), "c.sqlite") },
		"mysql":  func(t *testing.T) string { return freshDatabase(t, needs(t, "mysql")) },
	}
	for engine, fresh := range targets {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := fresh(t)
			broken := errors.New("injected")
			stride := 1
			if engine == "mysql" {
				stride = 7 // a database of its own for every point takes a minute
			}
			for n := 0; ; n += stride {
				seen, reached := 0, false
				s, err := store.Connect(context.Background(), store.Config{URL: url, Unsynced: true, Fault: func(p store.Point) error {
					if p.Stage != store.StageWrite && p.Stage != store.StageCommitted {
						return nil
					}
					if seen++; seen-1 == n {
						reached = true
						return broken
					}
					return nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				err = s.Upgrade(context.Background(), "")
				if reached && !errors.Is(err, broken) || !reached && err != nil {
					t.Errorf("point %d: %v", n, err)
				}
				upgradeAgain(t, s, url, engine)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if !reached {
					return
				}
				url = fresh(t)
			}
		})
	}
}

func upgradeAgain(t *testing.T, broken *store.Store, url, engine string) {
	t.Helper()
	s := connect(t, url)
	if engine == "mysql" {
		charset(t, s, "utf8")
	}
	upgrade(t, s)
	if engine == "mysql" {
		tables := query(t, s.Raw(), "SHOW TABLES")
		if len(tables) != 10 {
			t.Errorf("%d tables", len(tables))
		}
	}
	_ = broken
}

// TestCreateSchemaOfThePeerIntegration takes over what the peer's create_schema makes on
// MySQL: other unique keys, other enum order, columns in another place.
func TestCreateSchemaOfThePeerIntegration(t *testing.T) {
	t.Parallel()
	url := freshDatabase(t, needs(t, "mysql"))
	s := connect(t, url)
	var listing struct {
		Tables map[string]struct {
			ShowCreate string `json:"show_create"`
		}
	}
	vector(t, "schema_mariadb_create_schema.json", &listing)
	for _, name := range []string{
		"alembic_version", "devices", "controlpath_ids", "deployables", "attributes", "attach_handles",
		"device_profiles", "extended_accelerator_requests", "quota_usages", "reservations",
	} {
		if _, err := s.Raw().Exec(listing.Tables[name].ShowCreate); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Stamp(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	upgrade(t, s)
	storetest.Run(t, storetest.Target{Engine: "mysql", Open: opener(url), Raw: (*store.Store).Raw})
}

func TestForeignSchemasAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want string
	}{
		"newer":         {"CREATE TABLE alembic_version (version_num VARCHAR(32)); INSERT INTO alembic_version VALUES ('ffffffffffff')", "ffffffffffff"},
		"no revision":   {"CREATE TABLE devices (id INTEGER)", "devices"},
		"other service": {"CREATE TABLE alembic_version (version_num VARCHAR(32)); CREATE TABLE instances (id INTEGER)", "instances"},
		"old sqlite":    {"CREATE TABLE alembic_version (version_num VARCHAR(32)); INSERT INTO alembic_version VALUES ('589ff20545b7')", "589ff20545b7"},
		"two revisions": {"CREATE TABLE alembic_version (version_num VARCHAR(32)); INSERT INTO alembic_version VALUES ('a'), ('b')", "a, b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := "sqlite:///" + filepath.Join(t.TempDir(), "c.sqlite")
			s := connect(t, url)
			if _, err := s.Raw().Exec(c.sql); err != nil {
				t.Fatal(err)
			}
			file := strings.TrimPrefix(url, "sqlite:///")
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var wrong *store.SchemaError
			if name != "old sqlite" { // which is Cyborg's, so that a stamp may correct it
				if err := s.Stamp(context.Background(), ""); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("stamp: %v", err)
				}
			}
			if err := s.Upgrade(context.Background(), ""); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("upgrade: %v", err)
			}
			if err := s.CheckSchema(context.Background()); !errors.As(err, &wrong) {
				t.Errorf("check: %v", err)
			}
			if _, err := store.Open(context.Background(), store.Config{URL: url}); !errors.As(err, &wrong) {
				t.Errorf("open: %v", err)
			}
			if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

func TestStampAndCreate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := connect(t, "sqlite://")
	if id, err := s.Version(ctx); err != nil || id != "" {
		t.Errorf("empty database: %q, %v", id, err)
	}
	if err := s.Stamp(ctx, "nonsense"); err == nil {
		t.Error("an unknown revision was stamped")
	}
	if err := s.CreateSchema(ctx); err != nil {
		t.Fatal(err)
	}
	var wrong *store.SchemaError
	if err := s.CreateSchema(ctx); !errors.As(err, &wrong) {
		t.Errorf("second create: %v", err)
	}
	if err := s.Stamp(ctx, "6c77bd6afea5"); err != nil {
		t.Fatal(err)
	}
	if id, _ := s.Version(ctx); id != "6c77bd6afea5" {
		t.Errorf("stamped %s", id)
	}
	if err := s.CheckSchema(ctx); !errors.As(err, &wrong) {
		t.Errorf("older: %v", err)
	}
	if err := s.Stamp(ctx, ""); err != nil {
		t.Fatal(err)
	}
	upgrade(t, s)
}
