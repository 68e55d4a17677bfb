package ovo_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/api.txt")

// TestExportedSurface compares what the packages export with testdata/api.txt, so that no change of it goes unnoticed. An added line is a new feature; a line
// that goes or changes breaks importers and belongs into a new major version once there is a first one.
func TestExportedSurface(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, dir := range []string{".", "pyjson", "ovotest", "ovorpc"} {
		got.WriteString("package " + dir + "\n")
		for _, line := range exported(t, dir) {
			got.WriteString("\t" + line + "\n")
		}
	}
	golden := filepath.Join("testdata", "api.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("the exported surface changed; if that is meant, run the test with -update and review the difference\n%s", diff)
	}
}

// exported lists the exported declarations of a package, each in one line, sorted.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	files := token.NewFileSet()
	names, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	var lines []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(f)
		for _, d := range f.Decls {
			lines = append(lines, declared(t, files, d)...)
		}
	}
	slices.Sort(lines)
	return lines
}

// declared prints a declaration without bodies, a group of them one by one.
func declared(t *testing.T, files *token.FileSet, d ast.Decl) []string {
	t.Helper()
	var lines []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(receiver(d.Recv.List[0].Type)) {
			return nil
		}
		d.Body = nil
		lines = append(lines, oneLine(t, files, d))
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if _, isImport := s.(*ast.ImportSpec); !isImport {
				lines = append(lines, d.Tok.String()+" "+oneLine(t, files, s))
			}
		}
	}
	return lines
}

// receiver is the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func oneLine(t *testing.T, files *token.FileSet, node ast.Node) string {
	t.Helper()
	var b bytes.Buffer
	if err := printer.Fprint(&b, files, node); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
