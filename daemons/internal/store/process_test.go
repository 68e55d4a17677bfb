package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/daemons/internal/store/storetest"
	"github.com/go-cyborg/cyborg/reconcile"
)

// childVariable makes the test binary a child that does one [childJob].
const childVariable = "STORE_TEST_CHILD"

// childJob is what a second process does.
type childJob struct {
	URL string
	// Writer runs on Scene, and the process is killed at Point.
	Writer string
	Scene  storetest.Scene
	Point  int
	// Binds run all at once when a line arrives on standard input.
	Binds []arq.Bind
}

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		if err := runChild([]byte(job)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func runChild(text []byte) error {
	var job childJob
	if err := json.Unmarshal(text, &job); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{URL: job.URL, Unsynced: true, Fault: func(p store.Point) error {
		if p.N == job.Point && job.Writer != "" && p.Op != "read schema" {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	job.Scene.Store = s
	for _, w := range storetest.Writers() {
		if w.Name == job.Writer {
			return w.Run(ctx, &job.Scene)
		}
	}
	return childBinds(ctx, s, job.Binds)
}

// bindResult is what a child answers for each bind.
type bindResult struct {
	Handle int64 // 0: no free handle
	Error  string
}

func childBinds(ctx context.Context, s *store.Store, binds []arq.Bind) error {
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(bindAll(ctx, s, binds))
}

func bindAll(ctx context.Context, s *store.Store, binds []arq.Bind) []bindResult {
	out := make([]bindResult, len(binds))
	var wg sync.WaitGroup
	for i, b := range binds {
		wg.Go(func() {
			q, err := s.Begin(ctx, b)
			var none *arq.NotFoundError
			switch {
			case err == nil:
				out[i].Handle = q.Handle.ID
			case !errors.As(err, &none):
				out[i].Error = err.Error()
			}
		})
	}
	wg.Wait()
	return out
}

func child(t *testing.T, job childJob) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKilledAtEveryPointIntegration kills a process at every point of every transaction
// that writes: the rows are as before, or, after COMMIT, changed.
func TestKilledAtEveryPointIntegration(t *testing.T) {
	for engine, url := range engines(t) {
		s := opener(url)(t, nil)
		for _, w := range storetest.Writers() {
			t.Run(engine+"/"+w.Name, func(t *testing.T) {
				t.Parallel()
				points := 0
				for changed := false; !changed; points++ {
					changed = killedAt(t, s, childJob{URL: url, Writer: w.Name, Point: points})
				}
				if points < 4 {
					t.Errorf("only %d points", points)
				}
			})
		}
	}
}

// killedAt reports whether the rows had changed.
func killedAt(t *testing.T, s *store.Store, job childJob) bool {
	t.Helper()
	ctx := context.Background()
	scene := storetest.NewScene(t, s, "kill-"+uuid.NewString())
	before, err := scene.Rows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	job.Scene = *scene
	err = child(t, job).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("point %d: the child was not killed: %v", job.Point, err)
	}
	after, err := scene.Rows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return !cmp.Equal(before, after)
}

// TestTwoProcessesBindIntegration lets 200 binds in two processes race for 50 handles.
func TestTwoProcessesBindIntegration(t *testing.T) {
	for engine, url := range engines(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := opener(url)(t, nil)
			binds := raceBinds(t, s)
			cmd := child(t, childJob{URL: url, Binds: binds[:100]})
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(stdout)
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintln(stdin); err != nil {
				t.Fatal(err)
			}
			results := bindAll(context.Background(), s, binds[100:])
			var theirs []bindResult
			if err := json.NewDecoder(lines).Decode(&theirs); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			wantFifty(t, append(results, theirs...))
		})
	}
}

func wantFifty(t *testing.T, results []bindResult) {
	t.Helper()
	given, none := map[int64]int{}, 0
	for _, r := range results {
		switch {
		case r.Error != "":
			t.Error(r.Error)
		case r.Handle == 0:
			none++
		default:
			given[r.Handle]++
		}
	}
	if len(given) != 50 || none != 150 {
		t.Errorf("%d handles given out, %d refusals", len(given), none)
	}
}

// raceBinds makes 50 handles and 200 requests for them.
func raceBinds(t testing.TB, s *store.Store) []arq.Bind {
	t.Helper()
	ctx := context.Background()
	host := "race-" + uuid.NewString()
	d := reconcile.Device{
		Type: "GPU", ControlPath: reconcile.ControlPath{Type: "PCI", Info: "{}"},
		Deployables: []reconcile.Deployable{{Name: host, NumAccelerators: 50, Handles: make([]reconcile.Handle, 50)}},
	}
	for i := range d.Deployables[0].Handles {
		d.Deployables[0].Handles[i] = reconcile.Handle{Type: arq.HandlePCI, Info: fmt.Sprintf(`{"n": %d}`, i)}
	}
	ds, err := s.Insert(ctx, host, []reconcile.Device{d})
	if err != nil {
		t.Fatal(err)
	}
	provider := uuid.NewString()
	if _, err := s.Offer(ctx, []reconcile.Claim{{ID: ds[0].Deployables[0].ID, Offer: provider}}); err != nil {
		t.Fatal(err)
	}
	p, err := s.CreateProfile(ctx, store.Profile{Name: host, Groups: []arq.Group{{{Key: "resources:GPU", Value: "1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	news := make([]arq.New, 200)
	for i := range news {
		news[i].ProfileID = p.ID
	}
	qs, err := s.CreateARQs(ctx, news)
	if err != nil {
		t.Fatal(err)
	}
	binds := make([]arq.Bind, len(qs))
	for i, q := range qs {
		binds[i] = arq.Bind{UUID: q.UUID, Hostname: host, DeviceRPUUID: provider, InstanceUUID: uuid.NewString()}
	}
	return binds
}
