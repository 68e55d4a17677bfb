package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z0-9/]+)` (Test\\w+)")

// TestIndirectionTable holds the table at the end of indirection.md: every sentence has a test, and every test exists.
func TestIndirectionTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("indirection.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| sentence | tests |\n|---|---|\n")
	if !ok {
		t.Fatal("the table is gone")
	}
	const sentences = 22 // of the specification's Testing section
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if len(rows) != sentences {
		t.Errorf("%d sentences, want %d", len(rows), sentences)
	}
	tests := map[string]map[string]bool{}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 2 {
			t.Errorf("not a row of two cells: %s", row)
			continue
		}
		found := namedTest.FindAllStringSubmatch(cells[1], -1)
		if len(found) == 0 && !strings.HasPrefix(cells[1], "none: ") {
			t.Errorf("no test for: %s", cells[0])
		}
		for _, m := range found {
			if tests[m[1]] == nil {
				tests[m[1]] = testsOf(t, m[1])
			}
			if !tests[m[1]][m[2]] {
				t.Errorf("%s has no %s, named for: %s", m[1], m[2], cells[0])
			}
		}
	}
}

// testsOf lists the test functions of a package.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				found[f.Name.Name] = true
			}
		}
	}
	return found
}
