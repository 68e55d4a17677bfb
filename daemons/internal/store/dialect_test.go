package store

import (
	"testing"
	"time"
)

func TestRebind(t *testing.T) {
	t.Parallel()
	query := "SELECT `key` FROM attributes WHERE id IN (?, ?) AND uuid = ?"
	for engine, want := range map[string]string{
		"mysql": query, "sqlite": query, "postgresql": `SELECT "key" FROM attributes WHERE id IN ($1, $2) AND uuid = $3`,
	} {
		if got := dialects[engine].rebind(query); got != want {
			t.Errorf("%s: %s", engine, got)
		}
	}
}

func TestTimeParameter(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 15, 48, 44, 648120999, time.FixedZone("", 2*3600))
	if got := dialects["mysql"].time(at); got != time.Date(2026, 11, 29, 13, 48, 44, 0, time.UTC) {
		t.Errorf("mysql: %v", got)
	}
	if got := dialects["postgresql"].time(at); got != time.Date(2026, 11, 29, 13, 48, 44, 648120000, time.UTC) {
		t.Errorf("postgresql: %v", got)
	}
	if got := dialects["sqlite"].time(at); got != "2026-11-29 13:48:44.648120" {
		t.Errorf("sqlite: %v", got)
	}
}

func TestInIsPadded(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 1, 2: 2, 3: 4, 5: 8, 8192: 8192} {
		ids := make([]int64, n)
		ids[n-1] = 7
		text, args := in(ids)
		if len(args) != want || args[want-1] != int64(7) || len(text) != 3*want {
			t.Errorf("%d ids: %d parameters, %s", n, len(args), text)
		}
	}
}
