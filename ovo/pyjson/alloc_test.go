package pyjson_test

import (
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// TestAppendStringCopiesNothing guards the conversion in AppendString, which the compiler makes free only as long as the text is not kept or changed.
func TestAppendStringCopiesNothing(t *testing.T) {
	s, buf := strings.Repeat("long text \"quoted\" ", 100), make([]byte, 0, 4096)
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := pyjson.AppendString(buf, s); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
