package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMainJSON: one object per step and line, nothing else on stdout.
func TestMainJSON(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := Main(context.Background(), []string{"-o", "json"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
	if len(lines) != len(story()) {
		t.Fatalf("%d lines, want %d", len(lines), len(story()))
	}
	for i, line := range lines {
		var r map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if len(r) != 3 || string(r["step"]) != `"`+story()[i].name+`"` || string(r["ok"]) != "true" || r["detail"][0] != '{' {
			t.Errorf("line %d is %s", i+1, line)
		}
	}
}

// TestMainTables: tables for people name every step.
func TestMainTables(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := Main(context.Background(), nil, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	for _, s := range story() {
		if !strings.Contains(stdout.String(), "ok    "+s.name+":") {
			t.Errorf("no line says that %s is ok", s.name)
		}
	}
}

// TestReadme: the README shows every step as the command prints it.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range story() {
		if n := strings.Count(string(text), "ok    "+s.name+": "+s.title+"\n"); n != 2 {
			t.Errorf("the README shows %s %d times, want it on the first screen and in the whole output", s.name, n)
		}
	}
}

// TestMainBadInput: one clear error on stderr, exit code 1, nothing on stdout.
func TestMainBadInput(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args  []string
		words []string
	}{
		"unknown format":         {[]string{"-o", "yaml"}, []string{"-o yaml", "table or json"}},
		"tree without rules":     {[]string{"--sysfs", "/sys"}, []string{"--sysfs needs --device-spec"}},
		"surplus argument":       {[]string{"twice"}, []string{"twice"}},
		"rules that are no JSON": {[]string{"--device-spec", "{"}, []string{"device_spec", "{"}},
		"unreadable tree":        {[]string{"--sysfs", filepath.Join(t.TempDir(), "none"), "--device-spec", "{}"}, []string{"none", "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := Main(context.Background(), tt.args, &stdout, &stderr); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			for _, word := range tt.words {
				if !strings.Contains(stderr.String(), word) {
					t.Errorf("stderr does not say %q: %s", word, stderr.String())
				}
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout: %s", stdout.String())
			}
		})
	}
}
