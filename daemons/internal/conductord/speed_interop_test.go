package conductord_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// TestInteropSpeed holds what a report and a bind may cost. Both conductors take turns on one Placement, one Keystone and
// one database server, each turn from empty databases, and the order of the turns is reversed every round, so that neither
// a slow minute of the machine nor what is left behind counts for or against one of them; medians are judged. The full
// size, CYBORG_TEST_FULL=1, takes about fifteen minutes, most of it the peer's; without it the sizes are a quarter and times
// are printed, not judged. -short leaves the counts of statements and requests, which no load disturbs.
func TestInteropSpeed(t *testing.T) {
	s := newSpeed(t)
	full := os.Getenv("CYBORG_TEST_FULL") == "1"
	size := speedSize{devices: 128, rounds: 1, large: 256, budget: time.Second}
	switch {
	case testing.Short():
		s.counts(t, 64)
		return
	case full:
		size = speedSize{devices: 512, rounds: 3, large: 4096, budget: 5 * time.Second}
	}
	s.counts(t, size.devices)
	s.answered(t, size)
	s.restartPlacement(placementProcesses)
	c := s.sideBySide(t, size)
	s.restartPlacement(1)
	s.oneProcess(t, c)
	c.judge(t, full)
}

// placementProcesses is how many processes serve Placement while the conductors are compared. A first report sends several
// requests at a time, as a Placement is deployed: with more than one process. One process answers them one after the other,
// and how long it takes for that is stated beside.
const placementProcesses = 2

// speedSize is how much is measured.
type speedSize struct {
	devices, rounds int
	large           int           // devices of the report that outlasts its budget
	budget          time.Duration // for the answer to it
}

const unchangedReports = 5

// speed is a stack with what the measurements need at hand.
type speed struct {
	*stack
	api    *cyborgrpc.ConductorAPI
	tables map[string]*sql.DB // of cyborg and placement
}

func newSpeed(t *testing.T) *speed {
	t.Helper()
	s := &speed{stack: newStack(t), tables: map[string]*sql.DB{}}
	s.inside("cyborg-dbsync", "--config-file", s.dir+"/cyborg.conf", "upgrade")
	for _, kind := range []string{"cyborg", "placement"} {
		s.tables[kind] = s.mysql(s.name + "_" + kind)
		s.tables[kind].SetMaxOpenConns(1) // what is set holds for all statements
	}
	s.api = s.client(t)
	return s
}

// config makes a configuration of its own.
func (s *speed) config(name, more string, replace ...string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, s.dir, "cyborg.conf"))
	if err != nil {
		s.t.Fatal(err)
	}
	out := strings.NewReplacer(append(replace, "[DEFAULT]\n", "[DEFAULT]\nrpc_response_timeout = 3600\n")...).Replace(string(text))
	s.write(name, out+more)
	return name
}

// direct makes conductors ask Placement without the front, whose own work would be counted too.
func (s *speed) direct() []string {
	return []string{"[placement]\n", "[placement]\nendpoint_override = " + s.url("placement") + "\n"}
}

// reset empties both databases, as they were before the first report.
func (s *speed) reset() {
	s.t.Helper()
	for kind, tables := range map[string]string{
		"cyborg":    "extended_accelerator_requests attach_handles attributes deployables controlpath_ids devices device_profiles",
		"placement": "allocations consumers inventories resource_provider_traits resource_provider_aggregates resource_providers",
	} {
		statements := []string{"SET FOREIGN_KEY_CHECKS = 0"}
		for table := range strings.FieldsSeq(tables) {
			statements = append(statements, "TRUNCATE TABLE "+table)
		}
		for _, statement := range statements {
			if _, err := s.tables[kind].Exec(statement); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// count is what a query counts.
func (s *speed) count(kind, query string) (n int) {
	s.t.Helper()
	if err := s.tables[kind].QueryRow(query).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *speed) offered() int {
	s.t.Helper()
	return s.count("cyborg", "SELECT COUNT(*) FROM deployables WHERE rp_uuid IS NOT NULL")
}

// counts holds the number of statements and requests of a report of n devices. The smallest of some reports counts: a
// sweep of the conductor's own may fall into one.
func (s *speed) counts(t *testing.T, n int) {
	t.Helper()
	const host = "speed-counts"
	asks := countStatements(t)
	config := s.config("counts.conf", "[conductor]\nreport_reply_budget = 3600\n", "@127.0.0.1:3306/", fmt.Sprintf("@127.0.0.1:%d/", asks.port))
	s.addHost(host)
	stop := s.goConductor(config)
	defer s.reset()
	defer stop()
	all := speedDevices(host, n)
	s.take()
	asks.take()
	report(t, s.api, host, all)
	first, requests := asks.take(), s.taken()
	fmt.Fprintf(os.Stdout, "interop speed: %d devices first: %d SQL statements, %d requests to Placement (%s)\n", n, len(first), len(requests), kinds(requests))
	if len(requests) > 3*n+4 || len(requests) < 3*n {
		t.Errorf("a first report of %d devices takes %d requests to Placement, want 3 for each and at most 4 more: the root, its tree, a class and a trait", n, len(requests))
	}
	if on := s.offered(); on != n {
		t.Errorf("%d of %d devices are on offer", on, n)
	}
	var least, asked []string
	for i := range unchangedReports {
		report(t, s.api, host, all)
		statements, requests := asks.take(), s.taken()
		if i == 0 || len(statements) < len(least) {
			least = statements
		}
		if i == 0 || len(requests) < len(asked) {
			asked = requests
		}
	}
	fmt.Fprintf(os.Stdout, "interop speed: %d devices unchanged: %d SQL statements, %d requests to Placement (%s)\n", n, len(least), len(asked), kinds(asked))
	if len(least) == 0 || len(least) > 10 {
		t.Errorf("an unchanged report takes %d SQL statements, want at most 10: %q", len(least), least)
	}
	if len(asked) == 0 || len(asked) > 2 {
		t.Errorf("an unchanged report takes %d requests to Placement, want at most 2: %q", len(asked), asked)
	}
}

// taken are the requests of reports: what a long report overlaps, the look of the readiness check, is not one.
func (s *speed) taken() []string {
	return slices.DeleteFunc(s.take(), func(r string) bool { return r == "GET /" })
}

// answered holds the answer to a first report that takes longer than its budget: it comes in time, and the run completes
// without another report.
func (s *speed) answered(t *testing.T, size speedSize) {
	t.Helper()
	const host = "speed-large"
	config := s.config("large.conf", fmt.Sprintf("[conductor]\nreport_reply_budget = %g\n", size.budget.Seconds()), s.direct()...)
	s.addHost(host)
	stop := s.goConductor(config)
	defer s.reset()
	defer stop()
	all := speedDevices(host, size.large)
	start := time.Now()
	answer := report(t, s.api, host, all)
	rows := s.count("cyborg", "SELECT COUNT(*) FROM devices")
	left := size.large - s.offered()
	s.untilWithin(10*time.Minute, "every device is on offer", func() bool { return s.offered() == size.large })
	done := time.Since(start)
	unchanged := report(t, s.api, host, all)
	fmt.Fprintf(os.Stdout, "interop speed: %d devices first: answered after %s (budget %s) with %d rows and %d devices not yet on offer, complete after %s; unchanged %s; load %s\n",
		size.large, answer.Round(time.Millisecond), size.budget, rows, left, done.Round(time.Millisecond), unchanged.Round(time.Millisecond), machineLoad())
	if rows != size.large || left == 0 {
		t.Errorf("at the answer: %d rows, %d devices not on offer, want %d rows and some", rows, left, size.large)
	}
	if providers := s.count("placement", "SELECT COUNT(*) FROM inventories"); providers != size.large {
		t.Errorf("Placement has %d inventories", providers)
	}
	if answer > size.budget+time.Second {
		t.Errorf("answered after %s, the budget is %s", answer, size.budget)
	}
	if unchanged > 10*time.Second {
		t.Errorf("an unchanged report of %d devices took %s", size.large, unchanged)
	}
}

// figures are what one conductor took, over all rounds.
type figures struct{ first, unchanged, cycle, login []time.Duration }

// turn is one conductor's part of a round.
func (s *speed) turn(t *testing.T, f *figures, start func(string) func(), host string, n, again int) {
	t.Helper()
	s.addHost(host)
	stop := start("speed.conf")
	defer s.reset()
	defer stop()
	all := speedDevices(host, n)
	f.first = append(f.first, report(t, s.api, host, all))
	if on := s.offered(); on != n {
		t.Errorf("%s: %d of %d devices are on offer", host, on, n)
	}
	for range again {
		f.unchanged = append(f.unchanged, report(t, s.api, host, all))
	}
	groups, err := cyborgrpc.GroupDicts([]arq.Group{{{Key: "resources:CUSTOM_PCI", Value: "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.api.DeviceProfileCreate(speedContext(t), &cyborg.DeviceProfile{Name: ovo.Of("speed"), Groups: ovo.Of(groups)})
	if err != nil {
		t.Fatal(err)
	}
	for range 21 {
		f.cycle = append(f.cycle, s.cycle(t, s.api, host, p.ID.Value()))
		start := time.Now()
		s.token("cyborg", "service")
		f.login = append(f.login, time.Since(start)) // the peer logs in for every bind
	}
}

// comparison is what all took.
type comparison struct {
	devices      int
	ours, theirs figures
	bare         []time.Duration
}

// oneProcess measures a first report on the Placement that has one process only.
func (s *speed) oneProcess(t *testing.T, c *comparison) {
	t.Helper()
	var alone figures
	s.turn(t, &alone, s.goConductor, "speed-one", c.devices, 0)
	bare := s.bare(t, c.devices)
	s.reset()
	theirs := median(c.theirs.first)
	fmt.Fprintf(os.Stdout, "interop speed: Placement of one process: %d devices first: Go %s, bare requests %s; Python's %s is %.2f and %.2f times that; load %s\n",
		c.devices, alone.first[0], bare, theirs, ratio(theirs, alone.first[0]), ratio(theirs, bare), machineLoad())
}

func (s *speed) sideBySide(t *testing.T, size speedSize) *comparison {
	t.Helper()
	s.config("speed.conf", "[conductor]\nreport_reply_budget = 3600\n", s.direct()...)
	c := &comparison{devices: size.devices}
	s.take()
	for round := range size.rounds {
		again := 1 // the peer's takes minutes; once is enough for a factor of thousands
		if round > 0 {
			again = 0
		}
		turns := []func(){
			func() { s.turn(t, &c.ours, s.goConductor, "speed-go", size.devices, unchangedReports) },
			func() { c.bare = append(c.bare, s.bare(t, size.devices)); s.reset() },
			func() { s.turn(t, &c.theirs, s.pythonConductor, "speed-python", size.devices, again) },
		}
		if round%2 == 1 {
			slices.Reverse(turns)
		}
		for _, turn := range turns {
			turn()
		}
		fmt.Fprintf(os.Stdout, "interop speed: round %d: %d devices first: Go %s, bare requests %s, Python %s; load %s\n",
			round+1, size.devices, c.ours.first[round], c.bare[round], c.theirs.first[round], machineLoad())
	}
	if past := s.take(); len(past) > 0 {
		t.Errorf("%d requests went through the front: %q", len(past), past[0])
	}
	return c
}

func median[T cmp.Ordered](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// byRound is the median of the ratios of the rounds: turns of one round saw the same minutes of the machine.
func byRound(a, b []time.Duration) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = ratio(a[i], b[i])
	}
	return median(ratios)
}

// judge prints the figures and holds the promised ratios to them.
func (c *comparison) judge(t *testing.T, full bool) {
	t.Helper()
	ours, theirs := c.ours, c.theirs
	first, bare := byRound(theirs.first, ours.first), byRound(ours.first, c.bare)
	unchanged := ratio(median(theirs.unchanged), median(ours.unchanged))
	cycle, login := median(theirs.cycle), median(theirs.login)
	raw, without := ratio(cycle, median(ours.cycle)), ratio(cycle-login, median(ours.cycle))
	fmt.Fprintf(os.Stdout, "interop speed: %d devices first: Go %s, Python %s, ratio %.2f; bare requests %s, Go is %.2f times that (ratios by round)\n",
		c.devices, median(ours.first), median(theirs.first), first, median(c.bare), bare)
	fmt.Fprintf(os.Stdout, "interop speed: %d devices unchanged: Go %s, Python %s, ratio %.0f\n", c.devices, median(ours.unchanged), median(theirs.unchanged), unchanged)
	fmt.Fprintf(os.Stdout, "interop speed: ARQ cycle: Go %s, Python %s, ratio %.1f; login %s, ratio without it %.1f\n",
		median(ours.cycle), cycle, raw, login, without)
	if !full {
		return
	}
	for _, promise := range []struct {
		what string
		kept bool
	}{
		{"unchanged report 1,000 times faster", unchanged >= 1000},
		{"first report 4 times faster", first >= 4},
		{"first report within 1.3 bare requests", bare <= 1.3},
		{"ARQ cycle 20 times faster", raw >= 20},
		{"ARQ cycle 3 times faster without logins", without >= 3},
	} {
		if !promise.kept {
			t.Errorf("missed: %s", promise.what)
		}
	}
}
