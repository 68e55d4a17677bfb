package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// TestServerDiskFullIntegration fills the disk of a server of the test's own. PostgreSQL says so and goes on when there
// is room; MariaDB ends and has to be started. Nothing that was answered is lost, and the same store goes on.
func TestServerDiskFullIntegration(t *testing.T) {
	for engine, start := range map[string]func(*testing.T) *ownServer{"mysql": ownMariaDB, "postgres": ownPostgreSQL} {
		t.Run(engine, func(t *testing.T) {
			needs(t, engine)
			dir := smallDisk(t, "260m")
			for _, d := range []string{dir, filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} { // for the server's user
				if err := os.Chmod(d, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("TMPDIR", dir)
			server := start(t)
			upgrade(t, connect(t, server.url))
			s := opener(server.url)(t, nil)
			ctx := context.Background()

			ballast := leave(t, dir, 3_000_000)
			written, err := 0, error(nil)
			for ; err == nil && written < 1000; written++ {
				_, err = s.CreateProfile(ctx, noise(fmt.Sprint("p", written)))
			}
			written--
			kind := store.Full
			if full := new(store.Error); errors.As(err, &full) && full.Kind == store.Unavailable && engine == "mysql" {
				kind = store.Unavailable
			}
			wantKind(t, "write to a full disk", err, kind)
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			if kind == store.Unavailable {
				<-server.ended
				server.up()
			}
			if _, err := s.CreateProfile(ctx, noise("after")); err != nil {
				t.Errorf("with room again: %v", err)
			}
			found := map[string]bool{}
			ps, err := s.Profiles(ctx)
			for _, p := range ps {
				found[p.Name] = true
			}
			for i := range written {
				if !found[fmt.Sprint("p", i)] {
					t.Errorf("profile %d of %d is lost, %v", i, written, err)
				}
			}
			t.Logf("full after %d profiles: %s", written, kind)
		})
	}
}

// leave fills a file system until so many bytes are left.
func leave(t *testing.T, dir string, bytes int) (ballast string) {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	ballast = filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, int(st.Bavail)*int(st.Bsize)-bytes), 0o600); err != nil {
		t.Fatal(err)
	}
	return ballast
}

// noise is a profile that no server can compress.
func noise(name string) store.Profile {
	text := make([]byte, 20_000)
	for i := range text {
		text[i] = byte('!' + rand.IntN(90))
	}
	description := string(text)
	return store.Profile{Name: name, Groups: []arq.Group{{}}, Description: &description}
}
