package pyjson

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestReadTextInOnePass: the short way gives the text, the error and the position of the long one, whatever the string.
func TestReadTextInOnePass(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"a", "plain text of some length", `\"`, `\\`, `\/`, `\n`, `\u00e9`, `\ud83d\ude00`, `\ud800`, `\x`, `\`, "\x01", "é", "\xff", "\x7f", `"`, " ", "",
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := " \""
		for _, p := range rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces") {
			doc += p
		}
		long := NewReader([]byte(doc))
		var want []byte
		s, wantErr := long.scanText()
		if wantErr == nil {
			want, wantErr = unescape(nil, long.data[s.start:s.end], s.start)
		}
		short := NewReader([]byte(doc))
		got, err := short.ReadText([]byte("kept"))
		if err == nil && s.escaped {
			got = bytes.TrimPrefix(got, []byte("kept"))
		}
		if string(got) != string(want) || (err == nil) != (wantErr == nil) || short.pos != long.pos {
			t.Fatalf("%q: %q, %v at %d; want %q, %v at %d", doc, got, err, short.pos, want, wantErr, long.pos)
		}
	})
}
