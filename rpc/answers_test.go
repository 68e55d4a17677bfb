package rpc

import (
	"strconv"
	"testing"
)

// TestAnswersAreBounded in number and in bytes; the latest are kept.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	for size, kept := range map[int]int{1: maxAnswers, maxAnswerBytes / 20: 20, maxAnswer + 1: 0} {
		var a answers
		body := make([]byte, size)
		const n = 3 * maxAnswers
		for i := range n {
			a.add(strconv.Itoa(i), answer{body: body})
			a.add(strconv.Itoa(i), answer{body: body})
			a.add("", answer{body: body})
		}
		a.age++
		count := 0
		for i := range n {
			if _, ok := a.lost(strconv.Itoa(i)); ok {
				count++
				if i < n-kept {
					t.Fatalf("%d of %d bytes is kept instead of a later one", i, size)
				}
			}
		}
		if count != kept || len(a.byID) != kept || a.n != kept || a.bytes != kept*size {
			t.Errorf("of %d bytes: %d found, %d, %d with %d bytes kept, want %d", size, count, len(a.byID), a.n, a.bytes, kept)
		}
	}
}
