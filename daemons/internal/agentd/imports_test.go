package agentd_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAgentLinksNoDatabase: a compute host cannot reach the database, not even by mistake. database/sql itself comes
// in with the Prometheus client.
func TestAgentLinksNoDatabase(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "github.com/go-cyborg/cyborg/daemons/cyborg-agent").Output()
	if err != nil {
		t.Fatal("the go command cannot list the dependencies: ", err)
	}
	deps := strings.Fields(string(out))
	for _, dep := range deps {
		for _, forbidden := range []string{
			"github.com/go-cyborg/cyborg/daemons/internal/store", "github.com/jmoiron/sqlx", "github.com/lib/pq",
			"github.com/go-sql-driver", "modernc.org/sqlite",
		} {
			if dep == forbidden || strings.HasPrefix(dep, forbidden+"/") {
				t.Errorf("cyborg-agent links %s", dep)
			}
		}
	}
	if len(deps) < 100 {
		t.Errorf("only %d dependencies listed", len(deps))
	}
}
