package conductord_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/conductord"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

// TestMalformedConfiguration: nothing starts and no database is made; the message says which option, where and what
// to do. A cap limits what this process sends: 1.0 is a valid one.
func TestMalformedConfiguration(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  string
		words []string
	}{
		"cap":           {"[upgrade_levels]\nagent = 1.1\n", []string{"agent", "cyborg.conf:6", "1.0"}},
		"transport_url": {"[oslo_messaging_rabbit]\nrabbit_login_method = PLAIN\nkombu_compression = lz\n", []string{"kombu_compression", "cyborg.conf:7"}},
		"placement":     {"[placement]\nauth_type = password\n", []string{"[placement] auth_url", "password"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			text := "[DEFAULT]\nhost = h\n[database]\nconnection = sqlite:///" + dir + "/c.sqlite\n" + tt.text
			for _, args := range [][]string{nil, {"check-config"}} {
				code, stderr := run(t, dir, text, args...)
				if code != 1 {
					t.Errorf("%v: exit code %d, want 1", args, code)
				}
				for _, word := range tt.words {
					if !strings.Contains(stderr, word) {
						t.Errorf("%v: the message does not say %q: %s", args, word, stderr)
					}
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "c.sqlite")); err == nil {
				t.Error("a database was made")
			}
		})
	}
	for name, url := range map[string]string{"dialect": "oracle://h/db", "no URL": "cyborg.sqlite"} {
		t.Run("database "+name, func(t *testing.T) {
			t.Parallel()
			code, stderr := run(t, t.TempDir(), "[database]\nconnection = "+url+"\n", "check-config")
			if code != 1 || strings.Count(stderr, "[database] connection") != 1 || !strings.Contains(stderr, "cyborg.conf:2") {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
}

// TestForeignDatabase: an embedded database that is not Cyborg's is left as it is, the daemon stops and lets go of it.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.sqlite")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE guests (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	code, stderr := run(t, dir, "[DEFAULT]\nhost = h\ntransport_url = rabbit://u:p@127.0.0.1:1/\n[database]\nconnection = sqlite:///"+file+"\n")
	if code != 1 || !strings.Contains(stderr, "[database] connection") || !strings.Contains(stderr, "guests") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files cannot be listed here: ", err)
	}
	for _, fd := range open {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, file) {
			t.Errorf("%s is still open", to)
		}
	}
}

func run(t *testing.T, dir, text string, args ...string) (code int, stderr string) {
	t.Helper()
	file := filepath.Join(dir, "cyborg.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	code = conductord.Daemon{}.Main(t.Context(), service.Invocation{
		Args: append([]string{"--config-file", file}, args...), Stdout: &out, Stderr: &problems,
	})
	return code, problems.String()
}
