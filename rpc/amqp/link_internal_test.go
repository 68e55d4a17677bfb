package amqp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
	"pgregory.net/rapid"

	"github.com/go-cyborg/cyborg/rpc"
)

// TestSchedule is oslo.messaging's, measured against a dead port: 1, 2, 4 … 30 s, up to a tenth more.
func TestSchedule(t *testing.T) {
	t.Parallel()
	s := newSchedule(Options{})
	for range 2 {
		for i, want := range []float64{1, 2, 4, 6, 8, 10} {
			if got := s.wait().Seconds(); got < want || got > want*1.1 {
				t.Errorf("wait %d is %.2f s, want %.0f", i, got, want)
			}
		}
		for range 20 {
			s.wait()
		}
		if got := s.wait().Seconds(); got < 30 || got > 33 {
			t.Errorf("the longest wait is %.2f s", got)
		}
		s.reset()
	}
}

// TestMismatchIsExplained uses the broker's own words, as recorded.
func TestMismatchIsExplained(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "vectors", "rpc", "topology", "precondition-failures.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Lines []string `json:"amqp091_go_v1_16_redeclaring_python_objects"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	exception := regexp.MustCompile(`Exception \((\d+)\) Reason: (".*")$`)
	explained := 0
	for _, line := range file.Lines {
		m := exception.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		code, err1 := strconv.Atoi(m[1])
		reason, err2 := strconv.Unquote(m[2])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(line, err)
		}
		mismatch := asMismatch(&amqp091.Error{Code: code, Reason: reason})
		if (mismatch == nil) != (code == amqp091.NotFound) {
			t.Errorf("%s: %v", line, mismatch)
		}
		if mismatch == nil {
			continue
		}
		explained++
		if mismatch.Object == "" || mismatch.Field == "" || mismatch.Ours == mismatch.Theirs {
			t.Errorf("%s: %+v", line, mismatch)
		}
	}
	if explained < 10 {
		t.Errorf("%d mismatches in the recording", explained)
	}
	m := asMismatch(&amqp091.Error{Code: amqp091.PreconditionFailed, Reason: "PRECONDITION_FAILED - inequivalent arg 'durable' for exchange 'cyborg' in vhost '/': received 'true' but current is 'false'"})
	if *m != (MismatchError{Object: "exchange 'cyborg'", Field: "durable", Ours: "true", Theirs: "false", Option: "amqp_durable_queues (or rabbit_quorum_queue)"}) ||
		!m.onlyDurable("cyborg") || m.onlyDurable("openstack") {
		t.Errorf("%+v", m)
	}
}

// TestOutboxCompletesOnce: whatever happens in whatever order, each message is completed exactly once or taken.
func TestOutboxCompletesOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := newOutbox()
		var mu sync.Mutex
		completed, taken := map[int]int{}, map[*item]bool{}
		var items []*item
		var cancels []context.CancelFunc
		closed := false
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch step := rapid.SampledFrom([]string{"put", "put", "take", "cancel", "watch", "unwatch", "close"}).Draw(t, "step"); step {
			case "put":
				ctx, cancel := context.WithCancel(context.Background())
				it := &item{ctx: ctx, done: func(error) {
					mu.Lock()
					defer mu.Unlock()
					completed[i]++
				}}
				items, cancels = append(items, it), append(cancels, cancel)
				o.put(it)
			case "take":
				if it := o.take(); it != nil {
					if taken[it] || closed {
						t.Fatal("taken twice or after the end")
					}
					taken[it] = true
					it.done(nil)
				}
			case "cancel":
				if len(cancels) > 0 {
					cancels[rapid.IntRange(0, len(cancels)-1).Draw(t, "which")]()
				}
			case "watch", "unwatch":
				o.watch(step == "watch")
			case "close":
				o.close(rpc.ErrClosed)
				closed = true
			}
		}
		o.close(rpc.ErrClosed)
		for _, cancel := range cancels {
			cancel()
		}
		deadline := time.Now().Add(5 * time.Second)
		for {
			mu.Lock()
			n := len(completed)
			mu.Unlock()
			if n == len(items) || time.Now().After(deadline) {
				break
			}
			<-time.After(time.Millisecond) // abandoning runs in goroutines of the context package
		}
		mu.Lock()
		defer mu.Unlock()
		if len(completed) != len(items) {
			t.Fatalf("%d of %d completed", len(completed), len(items))
		}
		for i, n := range completed {
			if n != 1 {
				t.Fatalf("message %d completed %d times", i, n)
			}
		}
	})
}

func TestExpiration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"": 0, "60000": time.Minute, "1": time.Millisecond, "-5": 0, "x": 0, "0": 0, strconv.Itoa(math.MaxInt64): maxTTL,
	} {
		if got := ttl(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestErrorsAreSaidOncePerBroker: brokers tried in turn do not make each other's errors news.
func TestErrorsAreSaidOncePerBroker(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := newLink("publish", &resolved{Config: Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}}, nil)
	one, two := Host{Name: "one", Port: 5672}, Host{Name: "two", Port: 5672}
	for range 3 {
		l.say(t.Context(), one, "cannot connect", errors.New("one is down"))
		l.say(t.Context(), two, "cannot connect", errors.New("two is down"))
	}
	l.hush(t.Context(), one)
	l.say(t.Context(), one, "cannot connect", errors.New("one is down"))
	if got := strings.Count(log.String(), "cannot connect"); got != 3 {
		t.Errorf("%d lines:\n%s", got, &log)
	}
	if got := strings.Count(log.String(), "again"); got != 1 {
		t.Errorf("%d times connected again:\n%s", got, &log)
	}
}
