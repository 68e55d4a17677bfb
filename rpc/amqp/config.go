package amqp

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
)

// Config configures a [Transport]. The zero value connects to localhost as guest.
type Config struct {
	// URL is the transport_url; "" is rabbit://. Its query overrides Options.
	URL string
	// ControlExchange is the exchange of requests whose address names none; "" is "openstack", oslo.messaging's default.
	ControlExchange string
	// Options are those of [oslo_messaging_rabbit].
	Options Options
	// Name is what operators see as the connection's name on the broker; "" is the program's.
	Name string
	// OpTimeout bounds every operation on the broker: connecting, declaring, writing, closing. 0 = 10 s.
	OpTimeout time.Duration
	// Tick is how often a listener declares its exchanges and bindings again, since the broker tells nobody when one is
	// deleted. 0 = 10 s.
	Tick time.Duration
	// Logger gets changes of state; nil discards.
	Logger *slog.Logger
	// Observe is told of events; it must not block. Nil means nobody.
	Observe func(rpc.Event)
}

const (
	defaultExchange  = "openstack"
	defaultOpTimeout = 10 * time.Second
	defaultTick      = 10 * time.Second
	defaultHeartbeat = 60 * time.Second
)

// resolved is a Config with its defaults and its URL read.
type resolved struct {
	Config
	url       URL
	heartbeat time.Duration
}

// resolve fills defaults and reports everything that is wrong.
func (c Config) resolve() (resolved, error) {
	r := resolved{Config: c}
	if r.URL == "" {
		r.URL = "rabbit://"
	}
	var errs []error
	var err error
	if r.url, err = ParseURL(r.URL); err != nil {
		errs = append(errs, err)
	} else if r.url.Scheme != "rabbit" {
		errs = append(errs, &URLError{"scheme " + r.url.Scheme + ":// is not supported: use rabbit://"})
	}
	for _, name := range slices.Sorted(maps.Keys(r.url.Query)) {
		if err := r.Options.Set(name, r.url.Query[name]); err != nil {
			errs = append(errs, err)
		}
	}
	errs = append(errs, r.Options.validate()...)
	if r.ControlExchange == "" {
		r.ControlExchange = defaultExchange
	}
	r.OpTimeout = orDefault(r.OpTimeout, defaultOpTimeout)
	r.Tick = orDefault(r.Tick, defaultTick)
	r.heartbeat = orDefault(r.Options.Heartbeat, defaultHeartbeat)
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
	if r.Observe == nil {
		r.Observe = func(rpc.Event) {}
	}
	return r, errors.Join(errs...)
}
