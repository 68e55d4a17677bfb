package conductord_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-cyborg/cyborg/daemons/internal/conductord"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

// goConductor runs our conductor in this process until stop is called.
func (s *stack) goConductor(config string) (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	log, err := os.Create(filepath.Join(s.root, s.dir, "go-conductor.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	go func() {
		ended <- conductord.Daemon{}.Main(ctx, service.Invocation{
			Args: []string{"--config-file", filepath.Join(s.root, s.dir, config)}, Stdout: log, Stderr: log,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			s.t.Errorf("the Go conductor ended with %d", code)
		}
		log.Close()
	})
	s.t.Cleanup(stop)
	s.consumed(log.Name())
	return stop
}

// pythonConductor runs the peer's.
func (s *stack) pythonConductor(config string) (stop func()) {
	s.t.Helper()
	log := s.dir + "/python-conductor.log"
	d := s.start("cyborg-conductor", "cyborg-conductor", "--config-file", s.dir+"/"+config, "--log-file", log)
	s.consumed(d.log, s.root+log)
	return d.stop
}

// consumed waits until exactly one conductor serves the topic.
func (s *stack) consumed(logs ...string) {
	s.t.Helper()
	s.until("a conductor consumes", func() bool {
		out, err := exec.Command("rabbitmqctl", "-q", "list_queues", "-p", s.name, "name", "consumers").Output()
		return err == nil && strings.Contains(string(out), "cyborg-conductor\t1")
	}, logs...)
}
