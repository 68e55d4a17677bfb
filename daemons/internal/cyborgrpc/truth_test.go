package cyborgrpc_test

import (
	"encoding/json"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
)

// TestTruth: a driver's answer counts by its truth.
func TestTruth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cyborgrpc.Truth{
		"true": true, "false": false, "null": false, "0": false, "1": true, "0.0": false, "-2": true,
		`""`: false, `"x"`: true, "[]": false, "[0]": true, "{}": false, `{"a": 0}`: true,
	} {
		got := !want
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is %t, %v", text, got, err)
		}
	}
}
