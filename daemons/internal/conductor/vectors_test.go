package conductor_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the differences of the db vectors into docs/conductor.md")

// deviationsFile lists where the conductor leaves other rows than the peer; the test holds it to that.
var deviationsFile = filepath.Join("..", "..", "..", "docs", "conductor.md")

// vectorFiles are the recorded flows in the order of their recording.
var vectorFiles = []string{"report_data_flow", "report_data_edge_cases", "arq_flow", "fpga_flow", "mdev_flow"}

// vectorStep is one recorded call of the peer's conductor and what it left.
type vectorStep struct {
	Step      string           `json:"step"`
	Setup     *string          `json:"setup"`
	Input     []vectorDevice   `json:"input"`
	Error     *string          `json:"error"`
	Placement []vectorRequest  `json:"placement_calls"`
	Rows      tables           `json:"rows_after"`
	Nova      []vectorNova     `json:"nova_calls"`
	Requests  []map[string]any `json:"arq_rows"`
	Handles   []map[string]any `json:"attach_handles"`
	Devices   []map[string]any `json:"devices"`
	Offers    []map[string]any `json:"deployables"`
	Profiles  []map[string]any `json:"row"`
	Agent     json.RawMessage  `json:"agent_calls"`

	hasInput bool
}

func (s *vectorStep) UnmarshalJSON(raw []byte) error {
	type plain vectorStep
	if err := json.Unmarshal(raw, (*plain)(s)); err != nil {
		return err
	}
	var keys map[string]json.RawMessage
	err := json.Unmarshal(raw, &keys)
	_, s.hasInput = keys["input"]
	return err
}

type vectorNova struct {
	Body struct {
		Events []map[string]string `json:"events"`
	} `json:"body"`
	Status int `json:"status"`
}

// TestDBVectors does every recorded call on the state that the peer had before it, and compares rows, Placement,
// events and error with what the peer left. A difference passes when docs/conductor.md lists it exactly.
func TestDBVectors(t *testing.T) {
	dir := filepath.Join("testdata", "vectors")
	given := os.Getenv("VECTORS_DIR")
	if given != "" {
		dir = given
	}
	listed := readDeviations(t)
	found := map[string][]string{}
	var passed, failed, skipped int
	placement := newPlacementScene(t)
	for _, file := range vectorFiles {
		steps := readSteps(t, filepath.Join(dir, "db", file+".json"), given != "")
		flow := newFlow(file, steps)
		for i := range steps {
			name := file + "/" + steps[i].Step
			want, got, ok := flow.play(t, placement, i)
			if !ok {
				t.Logf("%s: skipped: the recording does not say what was called", name)
				skipped++
				continue
			}
			diff := difference(want, got)
			found[name] = diff
			if slices.Equal(diff, listed[name].lines) {
				passed++
				continue
			}
			failed++
			if !*update {
				t.Errorf("%s: differs from the peer (-) otherwise than docs/conductor.md lists:\n%s", name, strings.Join(diff, "\n"))
			}
		}
	}
	if *update {
		writeDeviations(t, listed, found)
	}
	for name, d := range listed {
		switch _, played := found[name]; {
		case played && d.reason == "":
			t.Errorf("%s: docs/conductor.md gives no reason", name)
		case !played && given == "":
			t.Errorf("%s: docs/conductor.md lists differences of a step that was not played", name)
		}
	}
	if len(found) == 0 {
		t.Errorf("no step was played: %s holds none", dir)
	}
	fmt.Fprintf(os.Stdout, "db vectors: %d passed, %d failed, %d skipped\n", passed, failed, skipped)
}

// readSteps reads a file; one that is absent has no steps where that may be.
func readSteps(t *testing.T, file string, mayMiss bool) (steps []vectorStep) {
	t.Helper()
	text, err := os.ReadFile(file)
	if mayMiss && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &steps)
	}
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// difference lists what only one side has, or has more often: "- " the peer, "+ " we.
func difference(want, got []string) (diff []string) {
	more := map[string]int{} // how often the peer has a line more than we
	for _, line := range want {
		more[line]++
	}
	for _, line := range got {
		more[line]--
	}
	for line, n := range more {
		for ; n > 0; n-- {
			diff = append(diff, "- "+line)
		}
		for ; n < 0; n++ {
			diff = append(diff, "+ "+line)
		}
	}
	slices.SortFunc(diff, func(a, b string) int { return strings.Compare(a[2:]+a[:1], b[2:]+b[:1]) })
	return diff
}

func TestDifferenceCountsLines(t *testing.T) {
	t.Parallel()
	got := difference([]string{"a", "a", "b", "c"}, []string{"c", "b", "a", "b"})
	if want := []string{"- a", "+ b"}; !slices.Equal(got, want) {
		t.Errorf("difference() = %q, want %q", got, want)
	}
}

// deviation is a step of docs/conductor.md: a heading, the reason, a block of lines.
type deviation struct {
	reason string
	lines  []string
}

var deviationBlock = regexp.MustCompile("(?s)#### `([a-z_0-9]+/[^`]+)`\n\n(.*?)\n?```diff\n(.*?)\n```\n")

func readDeviations(t *testing.T) map[string]deviation {
	t.Helper()
	text, err := os.ReadFile(deviationsFile)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]deviation{}
	for _, m := range deviationBlock.FindAllStringSubmatch(string(text), -1) {
		listed[m[1]] = deviation{strings.TrimSpace(m[2]), strings.Split(m[3], "\n")}
	}
	return listed
}

// writeDeviations rewrites the blocks; a new step gets no reason, which fails the next run.
func writeDeviations(t *testing.T, listed map[string]deviation, found map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(deviationsFile)
	if err != nil {
		t.Fatal(err)
	}
	out := deviationBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		name := deviationBlock.FindStringSubmatch(block)[1]
		lines := found[name]
		delete(found, name)
		if lines == nil {
			return ""
		}
		return deviationText(name, listed[name].reason, lines)
	})
	for _, name := range slices.Sorted(mapKeys(found)) {
		if found[name] != nil {
			out += "\n" + deviationText(name, "", found[name])
		}
	}
	if err := os.WriteFile(deviationsFile, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
}

func deviationText(name, reason string, lines []string) string {
	return "#### `" + name + "`\n\n" + reason + "\n\n```diff\n" + strings.Join(lines, "\n") + "\n```\n"
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
