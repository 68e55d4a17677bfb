package amqp

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// recorder is a socket that remembers its writes and its last deadline.
type recorder struct {
	net.Conn
	writes    []string
	deadlines []time.Time
	err       error
}

func (r *recorder) Write(b []byte) (int, error) {
	r.writes = append(r.writes, string(b))
	return len(b), r.err
}

func (r *recorder) SetWriteDeadline(t time.Time) error {
	r.deadlines = append(r.deadlines, t)
	return nil
}

func writeAll(t *testing.T, p *plug, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
}

// TestPlugGathersWrites: what is held back leaves in one write and in order, and nothing stays behind.
func TestPlugGathersWrites(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	p := &plug{Conn: r, timeout: time.Minute}
	writeAll(t, p, "a")
	p.hold()
	writeAll(t, p, "b", "c")
	if want := []string{"a"}; !slices.Equal(r.writes, want) {
		t.Fatalf("written while holding: %q, want %q", r.writes, want)
	}
	for range 2 {
		if err := p.release(); err != nil {
			t.Fatal(err)
		}
	}
	writeAll(t, p, "d")
	if want := []string{"a", "bc", "d"}; !slices.Equal(r.writes, want) {
		t.Errorf("written: %q, want %q", r.writes, want)
	}
}

// TestPlugHoldsSoMuch: what does not fit takes with it what was held back.
func TestPlugHoldsSoMuch(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	p := &plug{Conn: r, timeout: time.Minute}
	p.hold()
	big := strings.Repeat("x", maxHeld)
	writeAll(t, p, "first", big, "last")
	if want := []string{"first", big}; !slices.Equal(r.writes, want) {
		t.Fatalf("%d writes while holding, want %d", len(r.writes), len(want))
	}
	if err := p.release(); err != nil || r.writes[len(r.writes)-1] != "last" {
		t.Errorf("release: %v, last write %.10q", err, r.writes[len(r.writes)-1])
	}
}

// TestPlugTellsOfFailures: a write that fails is an error of release, or of the write that flushed.
func TestPlugTellsOfFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	p := &plug{Conn: &recorder{err: broken}, timeout: time.Minute}
	p.hold()
	writeAll(t, p, "a")
	if err := p.release(); !errors.Is(err, broken) {
		t.Errorf("release = %v", err)
	}
	p.hold()
	writeAll(t, p, "a")
	if _, err := p.Write(make([]byte, maxHeld)); !errors.Is(err, broken) {
		t.Errorf("Write = %v", err)
	}
}

// TestPlugEndsWithAFailure: after half a frame nothing may follow, since the broker would take it for the other half. The
// library does not know of a failure of release and would send its next heartbeat.
func TestPlugEndsWithAFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := &recorder{err: broken}
	p := &plug{Conn: r, timeout: time.Minute}
	p.hold()
	writeAll(t, p, "half a frame")
	if err := p.release(); !errors.Is(err, broken) {
		t.Errorf("release = %v", err)
	}
	r.err = nil // the network is back
	if _, err := p.Write([]byte("heartbeat")); !errors.Is(err, broken) {
		t.Errorf("Write = %v", err)
	}
	p.hold()
	writeAll(t, p, "held")
	if err := p.release(); !errors.Is(err, broken) {
		t.Errorf("a later release = %v", err)
	}
	if want := []string{"half a frame"}; !slices.Equal(r.writes, want) {
		t.Errorf("written: %q, want %q", r.writes, want)
	}
}

// TestPlugRenewsDeadlines: every write has between three quarters of the timeout and all of it.
func TestPlugRenewsDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		p := &plug{Conn: r, timeout: 8 * time.Second}
		for range 100 {
			writeAll(t, p, "a")
			left := time.Until(r.deadlines[len(r.deadlines)-1])
			if left < 6*time.Second || left > 8*time.Second {
				t.Fatalf("a write has %s", left)
			}
			time.Sleep(700 * time.Millisecond)
		}
		if len(r.deadlines) > 40 {
			t.Errorf("%d deadlines for 100 writes", len(r.deadlines))
		}
	})
}

// TestCauseIsWhatTheBrokerSaid: a publisher that finds its channel closed under it reports why the broker closed it, so that
// a message over the broker's limit is not sent again and again.
func TestCauseIsWhatTheBrokerSaid(t *testing.T) {
	t.Parallel()
	said := &amqp091.Error{Code: amqp091.PreconditionFailed, Reason: "PRECONDITION_FAILED - message size 2097152 is larger than configured max size 1048576"}
	other := errors.New("write: broken pipe")
	for name, c := range map[string]struct{ said, err, want error }{
		"closed by the broker": {said, amqp091.ErrClosed, said},
		"wrapped":              {said, fmt.Errorf("declare again: %w", amqp091.ErrClosed), said},
		"closed silently":      {nil, amqp091.ErrClosed, amqp091.ErrClosed},
		"another error":        {said, other, other},
		"no error":             {said, nil, nil},
	} {
		s := &conn{refused: make(chan *amqp091.Error, 1)}
		if e, ok := errors.AsType[*amqp091.Error](c.said); ok {
			s.refused <- e
		}
		close(s.refused)
		if got := s.cause(c.err); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
