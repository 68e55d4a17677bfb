package upgradecheck

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTable compares with the table that cyborg-status of 17.0.0 printed.
func TestTable(t *testing.T) {
	t.Parallel()
	details := "Unable to query device_state column. Run: cyborg-dbsync upgrade"
	var b bytes.Buffer
	err := writeTable(&b, []Result{
		{Check: "Policy File JSON to YAML Migration"},
		{Check: "Device state backfill", Code: Failure, Details: &details},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `+------------------------------------------------------------------+
| Upgrade Check Results                                            |
+------------------------------------------------------------------+
| Check: Policy File JSON to YAML Migration                        |
| Result: Success                                                  |
| Details: None                                                    |
+------------------------------------------------------------------+
| Check: Device state backfill                                     |
| Result: Failure                                                  |
| Details: Unable to query device_state column. Run: cyborg-dbsync |
|   upgrade                                                        |
+------------------------------------------------------------------+
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-peer +ours):\n%s", diff)
	}
}

// TestWrap holds what Python's textwrap.wrap(text, 60, subsequent_indent='  ')
// answers.
func TestWrap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":      nil,
		"short": {"short"},
		"a b":   {"a b"},
		strings.Repeat("x", 130): {
			strings.Repeat("x", 60), "  " + strings.Repeat("x", 58), "  " + strings.Repeat("x", 12),
		},
		"Run: cyborg-dbsync online_data_migrations and then the well-known restart": {
			"Run: cyborg-dbsync online_data_migrations and then the well-",
			"  known restart",
		},
		"3 device(s) still have NULL device_state. Run: cyborg-dbsync online_data_migrations": {
			"3 device(s) still have NULL device_state. Run: cyborg-dbsync", "  online_data_migrations",
		},
		"uuid 1b2c-3d4e stays whole at the end of a line of sixty-one 12345-67890 characters": {
			"uuid 1b2c-3d4e stays whole at the end of a line of sixty-one", "  12345-67890 characters",
		},
	} {
		if diff := cmp.Diff(want, wrap(text, 60)); diff != "" {
			t.Errorf("%q (-python +ours):\n%s", text, diff)
		}
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	for want, rs := range map[Code][]Result{
		Success: {{}, {}}, Warning: {{}, {Code: Warning}, {}}, Failure: {{Code: Failure}, {Code: Warning}},
	} {
		if got := worst(rs); got != want {
			t.Errorf("%v: %v", rs, got)
		}
	}
}
