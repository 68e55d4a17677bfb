package rpc

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestDuplicatesRemembersTheLast compares the ring with a list of everything that was added.
func TestDuplicatesRemembersTheLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var d duplicates
		var added []string
		for i := range rapid.IntRange(0, 3*duplicateWindow).Draw(t, "before") {
			id := strconv.Itoa(i)
			d.add(id)
			added = append(added, id)
		}
		for _, n := range rapid.SliceOfN(rapid.IntRange(-1, 3*duplicateWindow), 1, 50).Draw(t, "ids") {
			id := strconv.Itoa(n)
			if n < 0 {
				id = "" // a request without an id is never a repetition
			}
			recent := added[max(0, len(added)-duplicateWindow):]
			if got, want := d.has(id), id != "" && slices.Contains(recent, id); got != want {
				t.Fatalf("has(%q) is %t after %d ids", id, got, len(added))
			}
			if !d.has(id) && id != "" { // the server never adds a repetition
				d.add(id)
				added = append(added, id)
			}
			d.add("")
		}
		if len(d.set) > duplicateWindow {
			t.Fatalf("%d ids are kept", len(d.set))
		}
	})
}
