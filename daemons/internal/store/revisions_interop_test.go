package store_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// TestInteropEveryRevision takes over databases that the peer's own tool has brought to each of its revisions.
func TestInteropEveryRevision(t *testing.T) {
	server := needs(t, "mysql")
	var steps []step
	vector(t, "migrations_mariadb.json", &steps)
	want := mysqlVector(t, "schema_mariadb_upgrade.json")
	taken := 0
	for _, from := range steps {
		t.Run(from.Revision, func(t *testing.T) {
			p := newPeer(t)
			url := freshDatabase(t, server)
			s := connect(t, url)
			charset(t, s, "utf8")
			p.use(url)
			p.tool("cyborg-dbsync", "upgrade", "--revision", from.Revision)
			if id, err := s.Version(t.Context()); err != nil || id != from.Revision {
				t.Fatalf("version %q, %v", id, err)
			}
			upgrade(t, s)
			wantListing(t, want, mysqlListing(t, s.Raw()))
			if id := p.tool("cyborg-dbsync", "version"); id != store.Head {
				t.Errorf("the peer reads revision %s", id)
			}
			taken++
		})
	}
	if taken > 0 {
		fmt.Fprintf(os.Stdout, "interop: %d of %d revisions of the peer's cyborg-dbsync taken over\n", taken, len(steps))
	}
}
