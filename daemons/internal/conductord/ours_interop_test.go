package conductord_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/dbsync"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// TestInteropServicesOnOurDatabase: the peer's conductor, API and agent do their whole work on a MariaDB database that
// our cyborg-dbsync created, and our store reads what they wrote.
func TestInteropServicesOnOurDatabase(t *testing.T) {
	s := newStack(t)
	config := filepath.Join(s.root, s.dir, "cyborg.conf")
	var errs bytes.Buffer
	program := dbsync.Program{Invocation: service.Invocation{
		Program: "cyborg-dbsync", Args: []string{"--config-file", config, "upgrade"}, Stdout: os.Stdout, Stderr: &errs,
	}}
	if code := program.Run(t.Context()); code != 0 {
		t.Fatalf("our cyborg-dbsync: %d: %s", code, errs.String())
	}
	s.inside("cyborg-dbsync", "--config-file", s.dir+"/cyborg.conf", "upgrade")                                                            // has nothing to do
	if out := s.inside("cyborg-dbsync", "--config-file", s.dir+"/cyborg.conf", "version"); !strings.HasSuffix(out, "\n"+store.Head+"\n") { // behind its log
		t.Errorf("the peer reads revision %q", out)
	}
	s.inside("cyborg-status", "--config-file", s.dir+"/cyborg.conf", "upgrade", "check")

	stop := s.pythonConductor("cyborg.conf")
	s.gunicorn("cyborg")
	s.agent("cyborg.conf")
	s.addHost("peer-host-2")
	s.report("cyborg.conf", "peer-host-2", 4, 1)
	if diff := cmp.Diff(map[string]int{stackHost: 1, "peer-host-2": 4}, s.devicesByHost()); diff != "" {
		t.Errorf("the peer's API lists (-want +got):\n%s", diff)
	}
	arq := s.request()
	s.bind(arq)
	if !s.bound(arq) || len(s.events) != 1 {
		t.Errorf("bound %t, Nova got %v", s.bound(arq), s.events)
	}
	s.readByOurs(arq)
	s.unbind(arq)
	if status, answer := s.api(http.MethodDelete, "/accelerator_requests?arqs="+arq, nil); status != http.StatusNoContent {
		t.Errorf("delete of the ARQ: %d %v", status, answer)
	}
	s.report("cyborg.conf", "peer-host-2", 0, 1)
	if diff := cmp.Diff(map[string]int{stackHost: 1}, s.devicesByHost()); diff != "" {
		t.Errorf("after the removal the peer's API lists (-want +got):\n%s", diff)
	}
	stop()
	for _, name := range []string{"python-conductor.log", "api.log"} {
		log, err := os.ReadFile(filepath.Join(s.root, s.dir, name))
		if err != nil || strings.Contains(string(log), "DBError") || strings.Contains(string(log), "OperationalError") {
			t.Errorf("%s: %v\n%s", name, err, log)
		}
	}
	fmt.Fprintln(os.Stdout, "interop: Python conductor, API and agent on a MariaDB database of our cyborg-dbsync")
}

// devicesByHost counts what the peer's API lists.
func (s *stack) devicesByHost() map[string]int {
	s.t.Helper()
	status, _, answer := s.call(s.token("cyborg", "service"), http.MethodGet, s.url("cyborg")+"/v2/devices", nil)
	if status != http.StatusOK {
		s.t.Fatalf("devices: %d %v", status, answer)
	}
	out := map[string]int{}
	for _, d := range answer["devices"].([]any) {
		out[d.(map[string]any)["hostname"].(string)]++
	}
	return out
}

// readByOurs compares what our store reads with what the peer has done: one handle of the fake device is held by the ARQ.
func (s *stack) readByOurs(arq string) {
	s.t.Helper()
	db, err := store.Open(s.t.Context(), store.Config{URL: s.databaseURL("cyborg")})
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	inventory, err := db.Inventory(s.t.Context(), stackHost)
	if err != nil || len(inventory.Devices) != 1 || len(inventory.Devices[0].Deployables) != 1 {
		s.t.Fatalf("inventory: %+v, %v", inventory, err)
	}
	held := []string{}
	for _, h := range inventory.Devices[0].Deployables[0].Handles {
		if h.Held() {
			held = append(held, h.ARQs...)
		}
	}
	if diff := cmp.Diff([]string{arq}, held); diff != "" {
		s.t.Errorf("ARQs of held handles (-want +got):\n%s", diff)
	}
}
