package docs_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"sort"
	"strings"
	"testing"
)

const module = "github.com/go-cyborg/cyborg"

type listed struct {
	ImportPath string
	Imports    []string
}

// packages returns what `go list` knows of this module, by path below the module ("" is not a package).
func packages(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	found := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutPrefix(p.ImportPath, module+"/"); ok && name != "docs" {
			found[name] = p
		}
	}
}

// table returns the rows of the Markdown table that follows heading, cells trimmed, without header and rule.
func table(t *testing.T, heading string) [][]string {
	t.Helper()
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("architecture.md has no section %q", heading)
	}
	var rows [][]string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") {
			break
		}
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("section %q has no table", heading)
	}
	return rows[2:]
}

// names splits a cell into its code-quoted names; "–" is none.
func names(cell string) []string {
	var out []string
	for i, part := range strings.Split(cell, "`") {
		if i%2 == 1 {
			out = append(out, part)
		}
	}
	return out
}

func allowed(patterns []string, name string) bool {
	for _, p := range patterns {
		if p == "any" || p == name {
			return true
		}
		if ok, _ := path.Match(p, name); ok {
			return true
		}
		if prefix, ok := strings.CutSuffix(p, "/**"); ok && (name == prefix || strings.HasPrefix(name, prefix+"/")) {
			return true
		}
	}
	return false
}

func TestRoomsAreListed(t *testing.T) {
	t.Parallel()
	found, rows := packages(t), map[string]bool{}
	for _, row := range table(t, "Rooms") {
		name := names(row[0])[0]
		if len(row) != 5 {
			t.Errorf("row %s has %d cells, want 5", name, len(row))
		}
		if rows[name] {
			t.Errorf("%s has two rows", name)
		}
		rows[name] = true
		if _, ok := found[name]; !ok {
			t.Errorf("architecture.md lists %s, which does not exist", name)
		}
	}
	for name := range found {
		if !rows[name] {
			t.Errorf("package %s has no row in architecture.md", name)
		}
	}
}

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	found := packages(t)
	for _, row := range table(t, "Rooms") {
		name := names(row[0])[0]
		may := names(row[4])
		for _, imported := range found[name].Imports {
			if other, ok := strings.CutPrefix(imported, module+"/"); ok && !allowed(may, other) {
				t.Errorf("%s imports %s; architecture.md allows %s", name, other, row[4])
			}
		}
	}
}

func TestModulesStayInTheirRooms(t *testing.T) {
	t.Parallel()
	found := packages(t)
	rooms := map[string][]string{}
	for _, row := range table(t, "Modules") {
		rooms[names(row[0])[0]] = names(row[1])
	}
	used := map[string]bool{}
	for name, p := range found {
		for _, imported := range p.Imports {
			first, _, _ := strings.Cut(imported, "/")
			if !strings.Contains(first, ".") || strings.HasPrefix(imported, module) {
				continue
			}
			mod := longestPrefix(rooms, imported)
			switch {
			case mod == "":
				t.Errorf("%s imports %s, whose module has no row in architecture.md", name, imported)
			case !allowed(rooms[mod], name):
				t.Errorf("%s imports %s, which architecture.md keeps to %v", name, imported, rooms[mod])
			}
			used[mod] = true
		}
	}
	unused := []string{}
	for mod := range rooms {
		if !used[mod] {
			unused = append(unused, mod)
		}
	}
	sort.Strings(unused)
	if len(unused) > 0 {
		t.Errorf("modules listed but not imported: %v", unused)
	}
}

func longestPrefix(rooms map[string][]string, imported string) string {
	best := ""
	for mod := range rooms {
		if (imported == mod || strings.HasPrefix(imported, mod+"/")) && len(mod) > len(best) {
			best = mod
		}
	}
	return best
}

// agentFree names what the agent must not link: it has no access to a database.
var agentFree = []string{
	module + "/daemons/internal/store", "github.com/jmoiron/sqlx", "github.com/lib/pq",
	"github.com/go-sql-driver/mysql", "modernc.org/sqlite",
}

func TestAgentLinksNoDatabase(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./daemons/agent", "./daemons/cyborg-agent")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		for _, banned := range agentFree {
			if dep = strings.TrimSpace(dep); dep == banned || strings.HasPrefix(dep, banned+"/") {
				t.Errorf("the agent links %s", dep)
			}
		}
	}
}
