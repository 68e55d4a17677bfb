package main

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/rpc/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRun checks that the caller gets the same from both.
func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	local, remote, _ := strings.Cut(strings.TrimPrefix(out.String(), "locally:\n"), "in the service:\n")
	if diff := cmp.Diff(local, remote); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(remote, "cleaning, then available (moved: true)") || !strings.Contains(remote, "available, then available (moved: false)") {
		t.Errorf("the service said:\n%s", remote)
	}
}

// TestInstanceMethod looks at what a remote instance method does to the caller's object and to the store.
func TestInstanceMethod(t *testing.T) {
	t.Parallel()
	db := newStore()
	err := connected(t.Context(), memory.New(), db, func(m methods) error {
		list, err := m.DeviceList.GetByHostname(t.Context(), "compute-1")
		if err != nil {
			return err
		}
		d := list.All()[0]
		moved, err := m.Device.CompleteCleaning(t.Context(), d, Error)
		if err != nil {
			return err
		}
		if !moved || d.State.Value() != Error || !d.State.Changed() || d.Hostname.Changed() {
			t.Errorf("moved %t, device %+v", moved, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := db.rows[0].state; got != Error {
		t.Errorf("stored state %s, want %s", got, Error)
	}
}

// TestRefusals checks what a caller sees when a method cannot be run.
func TestRefusals(t *testing.T) {
	t.Parallel()
	err := connected(t.Context(), memory.New(), newStore(), func(m methods) error {
		unknown := &Device{UUID: ovo.Of("none"), Hostname: ovo.Of("compute-1")}
		_, err := m.Device.CompleteCleaning(t.Context(), unknown, Error)
		var none *UnknownDeviceError
		if !errors.As(err, &none) || none.UUID != "none" {
			t.Errorf("unknown device: %v", err)
		}
		var orphaned *ovo.OrphanedObjectError
		if _, err := m.DeviceList.GetByHostname(context.Context(nil), "compute-1"); !errors.As(err, &orphaned) {
			t.Errorf("no context: %v", err)
		}
		empty, err := m.DeviceList.GetByHostname(t.Context(), "elsewhere")
		if err != nil || empty.Len() != 0 {
			t.Errorf("unknown host: %v, %v", empty, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestListClassIsShort holds the promise that a class with a method and its registration is 30 lines, blank ones, comments and imports aside.
func TestListClassIsShort(t *testing.T) {
	t.Parallel()
	const file, most = "device_list.go", 30
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := codeLines(t, file, source); n > most {
		t.Errorf("%s has %d lines of code, more than %d", file, n, most)
	}
	if n := codeLines(t, "x.go", []byte("package x\n\nimport (\n\t\"os\"\n)\n\n// c\nvar _ = os.Args // d\n/* e\nf */\n")); n != 2 {
		t.Errorf("the count itself is wrong: %d", n)
	}
}

// codeLines counts the lines on which code stands.
func codeLines(t *testing.T, name string, source []byte) int {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	skip := map[int]bool{}
	cover := func(from, to token.Pos) {
		for line := fset.Position(from).Line; line <= fset.Position(to).Line; line++ {
			skip[line] = true
		}
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			cover(g.Pos(), g.End())
		}
	}
	lines := strings.Split(string(source), "\n")
	for _, group := range f.Comments {
		first := fset.Position(group.Pos())
		if strings.TrimSpace(lines[first.Line-1][:first.Column-1]) == "" {
			cover(group.Pos(), group.End()-1)
		}
	}
	count := 0
	for i, line := range lines {
		if !skip[i+1] && strings.TrimSpace(line) != "" {
			count++
		}
	}
	return count
}
