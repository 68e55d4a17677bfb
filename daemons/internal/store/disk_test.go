package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// smallDisk mounts a file system of a few bytes, which needs root.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system of this test's own: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil { // a server may still be ending on it
			t.Error(err)
		}
	})
	return dir
}

// wantKind compares an error's kind and the beginning of its text, which is what an operator reads.
func wantKind(t *testing.T, what string, err error, kind store.Kind) {
	t.Helper()
	var e *store.Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.HasPrefix(err.Error(), e.Op+": "+string(kind)+": ") {
		t.Errorf("%s: %v, want %s", what, err, kind)
	}
}

// bigProfile takes a few pages.
func bigProfile(name string) store.Profile {
	return store.Profile{Name: name, Groups: []arq.Group{{{Key: "accel:x", Value: strings.Repeat("x", 20_000)}}}}
}

// TestFullDiskIntegration fills the disk of a SQLite file: the error says so, what was committed stays, and the same
// store goes on as soon as there is room.
func TestFullDiskIntegration(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := smallDisk(t, "2m")
	s := connect(t, "sqlite:///"+filepath.Join(dir, "c.sqlite"))
	upgrade(t, s)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1_000_000), 0o600); err != nil {
		t.Fatal(err)
	}
	written, err := 0, error(nil)
	for ; err == nil && written < 1000; written++ {
		_, err = s.CreateProfile(ctx, bigProfile(fmt.Sprint("p", written)))
	}
	written--
	wantKind(t, "write to a full disk", err, store.Full)
	if ps, err := s.Profiles(ctx); err != nil || len(ps) != written || written == 0 {
		t.Errorf("%d profiles of %d, %v", len(ps), written, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateProfile(ctx, bigProfile("after")); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestNoRoomForTheSchemaIntegration: what an upgrade on a full disk leaves is completed by the next one.
func TestNoRoomForTheSchemaIntegration(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := smallDisk(t, "1m")
	s := connect(t, "sqlite:///"+filepath.Join(dir, "c.sqlite"))
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20-40_000), 0o600); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "upgrade", s.Upgrade(ctx, ""), store.Full)
	if id, err := s.Version(ctx); err != nil || id != "" {
		t.Errorf("revision %q, %v", id, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	upgrade(t, s)
}

// TestReadOnlyDiskIntegration opens a database, and makes one, where nothing can be written.
func TestReadOnlyDiskIntegration(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := smallDisk(t, "4m")
	url := "sqlite:///" + filepath.Join(dir, "c.sqlite")
	first, err := store.Connect(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Upgrade(ctx, ""), first.Close()); err != nil {
		t.Fatal(err)
	}
	remount := func(flags uintptr) {
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	defer remount(0)
	for _, file := range []string{"c.sqlite", "new.sqlite"} {
		_, err := store.Open(ctx, store.Config{URL: "sqlite:///" + filepath.Join(dir, file)})
		wantKind(t, file, err, store.ReadOnly)
		if err != nil && !strings.Contains(err.Error(), dir) {
			t.Errorf("the error does not name the place: %v", err)
		}
	}
}
