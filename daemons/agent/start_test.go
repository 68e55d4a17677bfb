package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/agent"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// TestPhaseOne: a driver's refusal stops the start before discovery, reads and reports.
func TestPhaseOne(t *testing.T) {
	t.Parallel()
	refusal := &agent.ConfigError{Err: errors.New("refused")}
	d := &driver{initErr: refusal, discover: device(cpid)}
	c := &conductor{minor: 1}
	_, err := started(t, d, c)
	if !errors.Is(err, refusal) || d.asked > 0 || c.reads > 0 || c.reports != nil {
		t.Errorf("Run() = %v after %d discoveries, %d reads, reports %v", err, d.asked, c.reads, c.reports)
	}
}

// TestStart is phase two: what is stored against what is discovered.
func TestStart(t *testing.T) {
	t.Parallel()
	spaced := strings.ReplaceAll(cpid, " ", "")
	for name, tt := range map[string]struct {
		discover  func() ([]*cyborg.DriverDevice, error)
		conductor *conductor
		config    bool     // the start ends with a configuration error
		words     []string // that the error names
		reports   []string
		updates   int
		logged    string // one record of this text
	}{
		"nothing stored":         {discover: device(unmanaged), conductor: &conductor{minor: 1}, reports: []string{cpid + " " + unmanaged}},
		"equal, persisted bytes": {discover: device(managed), conductor: &conductor{minor: 1, info: spaced, cpid: spaced}, reports: []string{spaced + " " + spaced}},
		"free, updated in place": {discover: device(unmanaged), conductor: &conductor{minor: 1, info: managed, cpid: cpid}, reports: []string{cpid + " " + unmanaged}, updates: 1, logged: "updated in place"},
		"in use": {
			discover: device(unmanaged), conductor: &conductor{minor: 1, info: managed, cpid: cpid, inUse: true}, config: true,
			words: []string{"host h", "0000:25:00.4", "true", "false"},
		},
		"referenced, not in use": {
			discover: device(unmanaged), conductor: &conductor{minor: 1, info: cpid, cpid: cpid, named: true}, config: true,
			words: []string{"0000:25:00.4"},
		},
		"in use and equal": {discover: device(cpid), conductor: &conductor{minor: 1, info: managed, cpid: cpid, inUse: true}, reports: []string{cpid + " " + managed}},
		"stored text invalid": {
			discover: device(cpid), conductor: &conductor{minor: 1, info: `{"managed": "no"}`, cpid: cpid}, config: true,
			words: []string{"handle", "attach_info"},
		},
		"stale twice": {
			discover: device(unmanaged), conductor: &conductor{minor: 1, info: managed, cpid: cpid, updateErr: &cyborg.StaleHandleError{UUID: "handle"}},
			updates: 2, logged: "first report failed",
		},
		"handle gone twice": {
			discover: device(unmanaged), conductor: &conductor{minor: 1, info: managed, cpid: cpid, updateErr: &cyborg.HandleNotFoundError{UUID: "handle"}},
			updates: 2, logged: "first report failed",
		},
		"discovery: configuration": {
			discover:  func() ([]*cyborg.DriverDevice, error) { return nil, &agent.ConfigError{Err: errBroken} },
			conductor: &conductor{minor: 1}, config: true, words: []string{"test_driver", "broken"},
		},
		"discovery: transient": {
			discover: func() ([]*cyborg.DriverDevice, error) { return nil, errBroken }, conductor: &conductor{minor: 1}, logged: "first report failed",
		},
		"read fails":   {discover: device(cpid), conductor: &conductor{minor: 1, readErr: errBroken}, logged: "first report failed"},
		"report fails": {discover: device(cpid), conductor: &conductor{minor: 1, reportFn: func() error { return errBroken }}, reports: []string{cpid + " " + cpid}, logged: "first report failed"},
		"cap 1.0":      {discover: device(cpid), conductor: &conductor{minor: 0, info: managed, cpid: cpid, inUse: true}, reports: []string{cpid + " " + cpid}},
		"object that cannot be compared": {
			discover: func() ([]*cyborg.DriverDevice, error) { return []*cyborg.DriverDevice{{}}, nil }, conductor: &conductor{minor: 1}, logged: "first report failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tt.conductor
			log, err := started(t, &driver{discover: tt.discover}, c)
			var config *agent.ConfigError
			if errors.As(err, &config) != tt.config || err != nil && !tt.config {
				t.Fatalf("Run() = %v", err)
			}
			for _, word := range tt.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("the error does not name %s: %v", word, err)
				}
			}
			if diff := cmp.Diff(tt.reports, c.reports); diff != "" {
				t.Errorf("reports: %s", diff)
			}
			if len(c.updates) != tt.updates {
				t.Errorf("%d updates, want %d", len(c.updates), tt.updates)
			}
			if tt.logged != "" && log.count(tt.logged) != 1 {
				t.Errorf("%q was logged %d times: %s", tt.logged, log.count(tt.logged), log.text.String())
			}
			if c.minor == 0 && c.reads > 0 {
				t.Errorf("%d reads under cap 1.0", c.reads)
			}
		})
	}
}

// TestUpdateExpectsWhatWasRead: the stale check gets everything the decision was made on.
func TestUpdateExpectsWhatWasRead(t *testing.T) {
	t.Parallel()
	c := &conductor{minor: 1, info: managed, cpid: cpid}
	if _, err := started(t, &driver{discover: device(unmanaged)}, c); err != nil {
		t.Fatal(err)
	}
	want := []cyborg.AttachInfoUpdate{{
		UUID: "handle", AttachInfo: unmanaged, RequireUnallocated: true,
		Expected: cyborg.HandleExpectation{
			DeployableID: 3, DeployableName: "h_0000:25:00.4", ControlpathID: 2, CpidInfo: cpid, DeviceID: 1,
			Hostname: "h", AttachType: "PCI", AttachInfo: managed,
		},
	}}
	if diff := cmp.Diff(want, c.updates); diff != "" {
		t.Error(diff)
	}
}

// TestOldConductor: without a feature that needs indirection the agent reports and warns once; with one it
// withholds the report and goes on.
func TestOldConductor(t *testing.T) {
	t.Parallel()
	old := &cyborgrpc.TooOldError{Operation: "DeviceList.get_by_hostname", Err: errBroken}
	c := &conductor{minor: 1, readErr: old}
	log, err := started(t, &driver{discover: device(cpid)}, c)
	if err != nil || len(c.reports) != 1 || log.count("level=WARN") != 1 {
		t.Errorf("without a feature: %v, %d reports, log %s", err, len(c.reports), log.text.String())
	}
	c = &conductor{minor: 1, readErr: old}
	log, err = started(t, &driver{discover: device(cpid), needs: agent.Needs{Indirection: "managed mode"}}, c)
	if err != nil || c.reports != nil || log.count("managed mode") != 1 || log.count("upgrade conductors first") != 1 {
		t.Errorf("with one: %v, %d reports, log %s", err, len(c.reports), log.text.String())
	}
}

// TestNewRefuses lists everything that is missing.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	_, err := agent.New(agent.Config{})
	for _, word := range []string{"hostname", "driver", "conductor"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("New() = %v, want %s named", err, word)
		}
	}
	if _, err := agent.New(agent.Config{Hostname: "h", Drivers: []agent.Driver{&driver{}}, Conductor: &conductor{minor: 1}}); err == nil {
		t.Error("an agent that may use object operations was made without an inventory")
	}
	if _, err := agent.New(agent.Config{Hostname: "h", Drivers: []agent.Driver{&driver{}}, Conductor: &conductor{}}); err != nil {
		t.Errorf("under cap 1.0 no inventory is needed: %v", err)
	}
}
