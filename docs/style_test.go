package docs_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goFiles calls f for every Go file of the module.
func goFiles(t *testing.T, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "bin" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			f(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isCall reports whether n is a call of pkg.name.
func isCall(n ast.Node, pkg, name string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	x, ok := selector.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// TestNoTestSleeps holds tests to synthetic time: time.Sleep stands only inside a synctest bubble.
func TestNoTestSleeps(t *testing.T) {
	t.Parallel()
	goFiles(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if isCall(n, "synctest", "Test") {
				return false
			}
			if isCall(n, "time", "Sleep") {
				t.Errorf("%s: time.Sleep outside a synctest bubble", files.Position(n.Pos()))
			}
			return true
		})
	})
}

// mainLines is what a main package may have, comments and blank lines included.
const mainLines = 60

func TestMainPackagesAreAScreenful(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	goFiles(t, func(path string) {
		dir := filepath.Dir(path)
		if !strings.HasPrefix(dir, filepath.Join("..", "daemons", "cyborg-")) || strings.HasSuffix(path, "_test.go") {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines[dir] += bytes.Count(text, []byte("\n"))
	})
	if len(lines) == 0 {
		t.Fatal("no main package was found")
	}
	for dir, n := range lines {
		if n > mainLines {
			t.Errorf("%s has %d lines, at most %d are allowed: move the rest into a package", dir, n, mainLines)
		}
	}
}

// TestNoWorkAtPackageStart: no init function, and no package variable that a function literal makes.
func TestNoWorkAtPackageStart(t *testing.T) {
	t.Parallel()
	goFiles(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: work at package start", files.Position(f.Pos()))
			}
			variables, ok := d.(*ast.GenDecl)
			if !ok || variables.Tok != token.VAR {
				continue
			}
			ast.Inspect(variables, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if _, literal := call.Fun.(*ast.FuncLit); literal {
						t.Errorf("%s: work at package start", files.Position(call.Pos()))
					}
				}
				_, body := n.(*ast.FuncLit)
				return !body
			})
		}
	})
}
