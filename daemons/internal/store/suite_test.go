package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/daemons/internal/store/storetest"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// TestSuiteIntegration runs the conformance suite on SQLite, and on the servers that
// CYBORG_TEST_MYSQL_URL and CYBORG_TEST_POSTGRES_URL name.
func TestSuiteIntegration(t *testing.T) {
	passed := map[string]int{}
	for engine, url := range engines(t) {
		passed[engine] = storetest.Run(t, storetest.Target{Engine: engine, Open: opener(url), Raw: (*store.Store).Raw})
	}
	fmt.Printf("store suite: mysql %d, postgres %d, sqlite %d\n", passed["mysql"], passed["postgres"], passed["sqlite"])
}

// engines makes a fresh database at Head on each engine at hand and returns
// their URLs.
func engines(t testing.TB) map[string]string {
	t.Helper()
	urls := map[string]string{"sqlite": "sqlite:///" + filepath.Join(t.TempDir(), "cyborg.sqlite")}
	for engine, variable := range map[string]string{"mysql": "CYBORG_TEST_MYSQL_URL", "postgres": "CYBORG_TEST_POSTGRES_URL"} {
		if server := os.Getenv(variable); server != "" {
			urls[engine] = freshDatabase(t, server)
		}
	}
	for _, url := range urls {
		s, err := store.Connect(context.Background(), store.Config{URL: url, Unsynced: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Upgrade(context.Background(), store.Head); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return urls
}

// freshDatabase creates a database on the server that a URL names, dropped
// when the test ends, and returns its URL.
func freshDatabase(t testing.TB, server string) string {
	t.Helper()
	s, err := store.Connect(context.Background(), store.Config{URL: server})
	if err != nil {
		t.Fatal(err)
	}
	name := "cyborg_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := s.Raw().Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		drop := "DROP DATABASE " + name
		if s.Engine() == "postgresql" {
			drop += " WITH (FORCE)"
		}
		if _, err := s.Raw().Exec(drop); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	base, query, _ := strings.Cut(server, "?")
	slash := strings.LastIndex(base, "/")
	return base[:slash+1] + name + "?" + query
}

// opener opens stores on one database.
func opener(url string) func(testing.TB, func(*store.Config)) *store.Store {
	return func(t testing.TB, change func(*store.Config)) *store.Store {
		t.Helper()
		cfg := store.Config{URL: url, Unsynced: true}
		if change != nil {
			change(&cfg)
		}
		s, err := store.Open(context.Background(), cfg)
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
}

// TestMemoryStore holds the in-memory store of reconciletest to the same
// cases: what is proven with it holds for the databases.
func TestMemoryStore(t *testing.T) {
	t.Parallel()
	storetest.RunReconcile(t, func(testing.TB) reconcile.Store { return new(reconciletest.Store) })
}
