package agent_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// TestDriverFails: the devices of the other drivers are reported, and what is stored beside them is frozen; where
// that cannot be done nothing is reported.
func TestDriverFails(t *testing.T) {
	t.Parallel()
	const other = `{"bus": "42", "device": "00", "domain": "0000", "function": "0"}`
	works := device(cpid)
	broken := func() ([]*cyborg.DriverDevice, error) { return nil, errBroken }
	misfit := func() ([]*cyborg.DriverDevice, error) { return nil, &agent.ConfigError{Err: errBroken} }
	for name, tt := range map[string]struct {
		first, second  func() ([]*cyborg.DriverDevice, error)
		conductor      *conductor
		reports, stubs []string
		failed         bool // the pass, with errBroken
	}{
		"stored device of the broken driver": {works, broken, &conductor{minor: 1, info: other, cpid: other}, []string{cpid + " " + cpid}, []string{other}, false},
		"the other way round":                {broken, works, &conductor{minor: 1, info: other, cpid: other}, []string{cpid + " " + cpid}, []string{other}, false},
		"stored device of the other driver":  {works, broken, &conductor{minor: 1, info: cpid, cpid: cpid}, []string{cpid + " " + cpid}, nil, false},
		"nothing stored":                     {works, broken, &conductor{minor: 1}, []string{cpid + " " + cpid}, nil, false},
		"nothing found either": {
			func() ([]*cyborg.DriverDevice, error) { return nil, nil }, broken, &conductor{minor: 1, info: other, cpid: other}, nil, []string{other}, false,
		},
		"all broken":       {broken, broken, &conductor{minor: 1, info: other, cpid: other}, nil, nil, true},
		"configuration":    {works, misfit, &conductor{minor: 1, info: other, cpid: other}, nil, nil, true},
		"cap 1.0":          {works, broken, &conductor{minor: 0, info: other, cpid: other}, nil, nil, true},
		"read fails":       {works, broken, &conductor{minor: 1, readErr: errBroken}, nil, nil, true},
		"conductor is old": {works, broken, &conductor{minor: 1, readErr: &cyborgrpc.TooOldError{Err: errBroken}}, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, log := tt.conductor, &lines{}
			a, err := agent.New(agent.Config{
				Hostname: "h", Drivers: []agent.Driver{&driver{discover: tt.first}, &driver{discover: tt.second}},
				Conductor: c, Inventory: c, Logger: slog.New(slog.NewTextHandler(log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Report(t.Context()); errors.Is(err, errBroken) != tt.failed || err != nil && !tt.failed {
				t.Errorf("Report() = %v", err)
			}
			if diff := cmp.Diff(tt.reports, c.reports); diff != "" {
				t.Errorf("reports: %s", diff)
			}
			if diff := cmp.Diff(tt.stubs, c.stubs); diff != "" {
				t.Errorf("stubs: %s", diff)
			}
			if n := log.count("discovery failed"); n == 1 == tt.failed {
				t.Errorf("the failure was logged %d times: %s", n, log.text.String())
			}
		})
	}
}
