package service

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Every daemon has these metrics; dashboards break when one goes.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	const golden = "testdata/metrics.golden"
	b := newBench(t, "")
	w := httptest.NewRecorder()
	b.OperationsHandler(true).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	var ours []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.Contains(line, "cyborg_") {
			ours = append(ours, regexp.MustCompile(`(version="|_seconds )[^"\n]*`).ReplaceAllString(line, "${1}…"))
		}
	}
	got := strings.Join(ours, "")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-golden +page):\n%s", diff)
	}
}
