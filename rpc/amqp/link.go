package amqp

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

var (
	errBlocked    = errors.New("blocked: the broker is short of memory or disk")
	errConnecting = errors.New("connecting to the broker")
)

// healthy is how long a connection must have been up for its loss to be an accident: the link then reconnects at once, to
// the same host.
const healthy = 2 * time.Second

// farewell is how long a link may take to wind up. What it does then is only polite: a broker that does not answer must not
// hold up the end of a service.
const farewell = 2 * time.Second

// session does a link's job on a connection. It calls ready when everything is declared and returns when the connection is
// lost, with the reason, or when ctx ended and the job is wound up, with nil.
type session func(ctx context.Context, c *conn, ready func()) error

// link keeps one connection for one job, for ever. Only its goroutine calls the AMQP library.
type link struct {
	name    string
	config  *resolved
	session session

	// adopt is set when the control exchange exists with another durability: it is then used as it is, as oslo.messaging does.
	adopt bool

	mu    sync.Mutex
	state LinkState
	said  map[string]string // by broker: the text of the last logged error; each is logged once
}

func newLink(name string, config *resolved, s session) *link {
	return &link{name: name, config: config, session: s, said: map[string]string{}, state: LinkState{Link: name, State: StateDialing, Since: time.Now()}}
}

// run connects, runs the session and starts over until ctx ends or the session has nothing left to do.
func (l *link) run(ctx context.Context) {
	defer l.enter(StateStopped, "", nil)
	hosts := l.config.url.brokers()
	next, schedule := 0, newSchedule(l.config.Options)
	if l.config.Options.Shuffle {
		next = rand.IntN(len(hosts))
	}
	for ctx.Err() == nil {
		host := hosts[next%len(hosts)]
		l.enter(StateDialing, host.Address(), nil)
		up, err := l.once(ctx, host, schedule.reset)
		if ctx.Err() != nil || err == nil {
			return
		}
		if up >= healthy {
			continue
		}
		l.enter(StateWaiting, host.Address(), err)
		next++
		select {
		case <-ctx.Done():
		case <-time.After(schedule.wait()):
		}
	}
}

// once is one connection: dial, session, teardown. It reports how long the connection was up.
func (l *link) once(ctx context.Context, host Host, reset func()) (up time.Duration, err error) {
	c, err := dial(ctx, l.config, host, l.name)
	if err != nil {
		l.say(ctx, host, "cannot connect to the broker", err)
		return 0, err
	}
	over := make(chan struct{})
	defer close(over)
	stop := context.AfterFunc(ctx, func() { // ends with once
		select {
		case <-over:
		case <-time.After(farewell):
			c.socket.Close()
		}
	})
	defer stop()
	var since time.Time
	err = l.session(ctx, c, func() {
		since = time.Now()
		reset()
		l.enter(StateUp, host.Address(), nil)
		l.hush(ctx, host)
		l.config.Observe(rpc.Event{Kind: rpc.EventConnected, Link: l.name})
	})
	if err == nil {
		c.hangUp()
		return 0, nil
	}
	c.kill()
	err = c.cause(err)
	if mismatch := asMismatch(err); mismatch != nil {
		err = mismatch
		if mismatch.onlyDurable(l.config.ControlExchange) && !l.adopt {
			l.adopt = true
			l.config.Logger.WarnContext(ctx, "using the control exchange as it is on the broker", "link", l.name, "error", err)
			return healthy, err
		}
	}
	gone := missingExchange(err)
	adopted := l.adopt && gone == l.config.ControlExchange
	if adopted { // the next session declares it as the options say
		l.adopt = false
	}
	if since.IsZero() {
		if adopted {
			return healthy, err
		}
		l.say(ctx, host, "cannot use the broker", err)
		return 0, err
	}
	l.config.Observe(rpc.Event{Kind: rpc.EventLost, Link: l.name, Err: err})
	l.say(ctx, host, "connection to the broker lost", err)
	if sizeLimit(err) > 0 || gone != "" { // by a message that is not sent again, or by what is declared again: the broker is well
		return healthy, err
	}
	return time.Since(since), err
}

// declareExchange declares an exchange, or finds the control exchange as it is.
func (l *link) declareExchange(c *conn, x Exchange) error {
	if l.adopt && x.Name == l.config.ControlExchange {
		return c.channel.ExchangeDeclarePassive(x.Name, x.Kind, x.Durable, x.AutoDelete, false, false, nil)
	}
	return c.channel.ExchangeDeclare(x.Name, x.Kind, x.Durable, x.AutoDelete, false, false, nil)
}

func (l *link) health() LinkState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// enter records a state. An error stays on record until the link is up.
func (l *link) enter(state, broker string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.State != state {
		l.state.Since = time.Now()
	}
	l.state.State = state
	if broker != "" {
		l.state.Broker = broker
	}
	if err != nil || state == StateUp {
		l.state.LastError = err
	}
}

// say logs an error unless it was the last thing said. What an operator must mend is an Error.
func (l *link) say(ctx context.Context, host Host, message string, err error) {
	l.mu.Lock()
	repeated := l.said[host.Address()] == err.Error()
	l.said[host.Address()] = err.Error()
	l.mu.Unlock()
	if repeated || ctx.Err() != nil {
		return
	}
	level := slog.LevelWarn
	if mismatch, ok := errors.AsType[*MismatchError](err); ok {
		level = slog.LevelError
		l.config.Observe(rpc.Event{Kind: rpc.EventMismatch, Link: l.name, Err: mismatch})
	}
	if _, ok := errors.AsType[*loginError](err); ok {
		level = slog.LevelError
	}
	l.config.Logger.Log(ctx, level, message, "link", l.name, "broker", host.Address(), "error", err)
}

// hush says that the trouble is over, if there was any.
func (l *link) hush(ctx context.Context, host Host) {
	l.mu.Lock()
	troubled := len(l.said) > 0
	clear(l.said)
	l.mu.Unlock()
	if troubled {
		l.config.Logger.InfoContext(ctx, "connected to the broker again", "link", l.name, "broker", host.Address())
	}
}

// schedule is oslo.messaging's reconnect schedule: 1, 2, 4, 6 … 30 s with the defaults, plus up to a tenth at random.
type schedule struct {
	first, step, limit time.Duration
	tries              int
}

const (
	defaultRetryInterval = 1 * time.Second
	defaultRetryBackoff  = 2 * time.Second
	defaultRetryMax      = 30 * time.Second
)

func newSchedule(o Options) *schedule {
	return &schedule{
		first: orDefault(o.RetryInterval, defaultRetryInterval), step: orDefault(o.RetryBackoff, defaultRetryBackoff),
		limit: orDefault(o.RetryMax, defaultRetryMax),
	}
}

func (s *schedule) reset() { s.tries = 0 }

// wait is the next wait, jitter included.
func (s *schedule) wait() time.Duration {
	d := min(s.interval(), s.limit)
	s.tries++
	return d + time.Duration(rand.Int64N(int64(d/10)+1))
}

func (s *schedule) interval() time.Duration {
	if s.tries == 0 {
		return s.first
	}
	return max(s.first, s.step*time.Duration(s.tries))
}
