package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/config.md has one row for each option of our own, and no other.
func TestOwnOptionsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Options of our own")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := strings.Count(table, "\n| `[")
	for _, o := range Options(Facts{}) {
		if !o.Ours {
			continue
		}
		rows--
		value := ""
		if _, list := o.Default.([]string); o.Default != nil && !list {
			value = fmt.Sprint(o.Default) + " "
		}
		kind := o.Kind
		if kind == "" {
			kind = Str
		}
		row := fmt.Sprintf("| `[%s] %s` | %s | %s| %s |", o.Group, o.Name, kind, value, o.Help)
		if !strings.Contains(table, row) {
			t.Errorf("docs/config.md lacks the row\n%s", row)
		}
	}
	if rows != 0 {
		t.Errorf("docs/config.md documents %d options too many", rows)
	}
}
