package ovo

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesNoRecordedClass keeps the package free of its users: no class of Cyborg in its code, no test class and no fingerprint of the recordings
// outside testdata.
func TestNamesNoRecordedClass(t *testing.T) {
	t.Parallel()
	classes, prints := map[string]bool{}, []string{}
	for _, c := range items(at(loadVectors(t, "fingerprints.json"), "cases")) {
		prints = append(prints, text(c, "fingerprint"))
		if strings.HasPrefix(text(c, "group"), "cyborg") {
			classes[text(c, "class")] = true
		}
	}
	for _, dir := range []string{".", "ovotest", "pyjson"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range prints {
				if strings.Contains(string(src), p) {
					t.Errorf("%s holds the fingerprint %s", file, p)
				}
			}
			checkWords(t, file, src, classes)
		}
	}
}

func checkWords(t *testing.T, file string, src []byte, classes map[string]bool) {
	t.Helper()
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile(file, -1, len(src)), src, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return
		}
		for _, word := range strings.FieldsFunc(lit, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", r)
		}) {
			test := strings.HasSuffix(file, "_test.go")
			if strings.HasPrefix(word, "Wg") && len(word) > 2 || !test && classes[word] && word != "Attribute" {
				t.Errorf("%s names %s", fset.Position(pos), word)
			}
		}
	}
}
