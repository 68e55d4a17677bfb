package dbsync_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/dbsync"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// conf writes a configuration file with a database of its own.
func conf(t *testing.T, more string) (file, url string) {
	t.Helper()
	dir := t.TempDir()
	url = "sqlite:///" + filepath.Join(dir, "cyborg.sqlite")
	file = filepath.Join(dir, "cyborg.conf")
	if err := os.WriteFile(file, []byte("[database]\nconnection = "+url+"\n"+more), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, url
}

func run(t *testing.T, nova dbsync.NovaFunc, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	p := dbsync.Program{Nova: nova, Invocation: service.Invocation{Program: "cyborg-dbsync", Args: args, Stdout: &out, Stderr: &err}}
	return p.Run(context.Background()), out.String(), err.String()
}

func TestCommands(t *testing.T) {
	t.Parallel()
	file, _ := conf(t, "[pci]\nexclude_list = not an address\n[upgrade_levels]\nconductor = banana\n")
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string // what they contain
	}{
		{"version", 0, "None\n", ""},
		{"online_data_migrations", 2, "Failed to migrate ARQ project_ids", ""},
		{"upgrade", 0, "", "creating the schema"},
		{"version", 0, store.Head + "\n", ""},
		{"upgrade", 0, "", ""},
		{"upgrade --revision " + store.Head, 0, "", ""},
		{"upgrade --revision nonsense", 1, "", "revision nonsense is not known"},
		{"create_schema", 1, "", "has a schema already"},
		{"online_data_migrations", 0, "Migrated 0 ARQ(s)\nBackfilled device_state on 0/0 devices\n", ""},
		{"stamp --revision 6c77bd6afea5", 0, "", ""},
		{"version", 0, "6c77bd6afea5\n", ""},
		{"online_data_migrations", 2, "Failed to backfill device_state: database schema at revision 6c77bd6afea5", ""},
		{"upgrade", 1, "", "only MySQL databases can be upgraded"},
		{"stamp", 0, "", ""},
		{"version", 0, store.Head + "\n", ""},
		{"", 2, "", "a command is required"},
		{"nonsense", 2, "", "nonsense"},
		{"version upgrade", 2, "", "upgrade"},
		{"--bad version", 2, "", "--bad"},
		{"--config-file /no/such/file version", 1, "", "/no/such/file"},
		{"--help", 0, "online_data_migrations", ""},
		{"--version", 0, service.Version(), ""},
	} {
		code, out, errs := run(t, nil, append([]string{"--config-file", file}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(out, c.stdout) || !strings.Contains(errs, c.stderr) {
			t.Errorf("%s: code %d\n--stdout\n%s--stderr\n%s", c.args, code, out, errs)
		}
	}
}

func TestCreateSchema(t *testing.T) {
	t.Parallel()
	file, url := conf(t, "")
	if code, _, errs := run(t, nil, "--config-file="+file, "create_schema"); code != 0 {
		t.Fatalf("code %d: %s", code, errs)
	}
	s, err := store.Open(context.Background(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestDefaultFiles runs without --config-file, as kolla's bootstrap does.
func TestDefaultFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".cyborg"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[database]\nconnection = sqlite:///" + filepath.Join(home, "c.sqlite") + "\n"
	if err := os.WriteFile(filepath.Join(home, ".cyborg", "cyborg.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"upgrade", "version"} {
		var out, errs bytes.Buffer
		p := dbsync.Program{Invocation: service.Invocation{
			Program: "cyborg-dbsync", Args: []string{command}, Home: home, Stdout: &out, Stderr: &errs,
		}}
		if code := p.Run(context.Background()); code != 0 {
			t.Errorf("%s: code %d: %s", command, code, errs.String())
		}
	}
	if _, err := os.Stat(filepath.Join(home, "c.sqlite")); err != nil {
		t.Error(err)
	}
}

func TestBadDatabaseOptions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"max_pool_size = many\n":             "max_pool_size",
		"connection_recycle_time = x\n":      "connection_recycle_time",
		"connection = oracle://u:secret@h\n": "oracle",
	} {
		file, _ := conf(t, text)
		code, _, errs := run(t, nil, "--config-file", file, "version")
		if code != 1 || !strings.Contains(errs, want) || strings.Contains(errs, "secret") {
			t.Errorf("%q: code %d: %s", text, code, errs)
		}
	}
}

// fakeNova answers from a map and counts.
type fakeNova struct {
	projects map[string]string
	err      error
	asked    []string
}

func (n *fakeNova) ProjectOf(_ context.Context, instance string) (string, error) {
	n.asked = append(n.asked, instance)
	if n.err != nil {
		return "", n.err
	}
	p, ok := n.projects[instance]
	if !ok {
		return "", dbsync.ErrNoServer
	}
	return p, nil
}

func TestOnlineDataMigrations(t *testing.T) {
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
	unowned(t, s, "i-1", "i-1", "i-2")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, _ := run(t, dbsync.Nova, "--config-file", file, "online_data_migrations")
	if code != 2 || !strings.Contains(out, "[nova] auth_type") {
		t.Errorf("without credentials: code %d\n%s", code, out)
	}
	nova := &fakeNova{projects: map[string]string{"i-1": "p-1"}}
	broken := func(context.Context, *config.Config) (dbsync.Servers, error) {
		return nil, errors.New("no such catalogue")
	}
	code, out, _ = run(t, broken, "--config-file", file, "online_data_migrations")
	if code != 2 || out != "Failed to migrate ARQ project_ids: no such catalogue\nBackfilled device_state on 0/0 devices\n"+
		"Some migrations failed unexpectedly. Check log for details.\n" {
		t.Errorf("without Nova: code %d\n%s", code, out)
	}
	working := func(context.Context, *config.Config) (dbsync.Servers, error) { return nova, nil }
	code, out, errs := run(t, working, "--config-file", file, "online_data_migrations")
	if code != 0 || out != "Migrated 2 ARQ(s)\nBackfilled device_state on 0/0 devices\n" || !strings.Contains(errs, "i-2") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	if len(nova.asked) != 2 {
		t.Errorf("Nova was asked for %v", nova.asked)
	}
}

// unowned makes requests that were bound before requests had owners.
func unowned(t *testing.T, s *store.Store, instances ...string) []arq.Request {
	t.Helper()
	ctx := context.Background()
	p, err := s.CreateProfile(ctx, store.Profile{Name: "p", Groups: []arq.Group{{{Key: "resources:FPGA", Value: "1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var out []arq.Request
	for _, instance := range instances {
		qs, err := s.CreateARQs(ctx, []arq.New{{ProfileID: p.ID}})
		if err != nil {
			t.Fatal(err)
		}
		// Nothing is on offer, so the bind is refused; instance_uuid is stored all the same.
		q, err := s.Begin(ctx, arq.Bind{UUID: qs[0].UUID, InstanceUUID: instance, DeviceRPUUID: "none"})
		if missing := new(arq.NotFoundError); !errors.As(err, &missing) {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}
