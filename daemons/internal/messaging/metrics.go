package messaging

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// Metrics counts what happens on the message bus: calls under the names of oslo.metrics ([Metrics.Client],
// [Metrics.Server]), connections and messages under names of our own. No label takes its values from a peer. A nil
// *Metrics counts nothing. It is safe for concurrent use.
type Metrics struct {
	client, server *calls
	events         *prometheus.CounterVec
	reconnects     *prometheus.CounterVec
	links          *links

	mu        sync.Mutex
	connected map[string]bool // links that were up once
}

// NewMetrics registers the metrics of a process; program is its name.
func NewMetrics(registry prometheus.Registerer, program string) *Metrics {
	m := &Metrics{
		client: newClientCalls(program), server: newServerCalls(program), links: newLinks(), connected: map[string]bool{},
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cyborg_rpc_events_total",
			Help: "Messages that went no usual way: returned (no queue), rejected (unreadable), refused (no such method, version or argument), " +
				"stray (reply to nobody), duplicate, expired, reply_dropped; mismatch: an object of the broker differs from what was declared.",
		}, []string{"event"}),
		reconnects: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cyborg_amqp_reconnects_total", Help: "Connections to the message broker after the first, by what they are for.",
		}, []string{"link"}),
	}
	for _, kind := range []rpc.EventKind{
		rpc.EventReturned, rpc.EventRejected, rpc.EventRefused, rpc.EventStray,
		rpc.EventDuplicate, rpc.EventExpired, rpc.EventReplyDropped, rpc.EventMismatch,
	} {
		m.events.WithLabelValues(string(kind))
	}
	registry.MustRegister(m.events, m.reconnects, m.links)
	m.client.register(registry)
	m.server.register(registry)
	return m
}

// Observe counts an event; it is the hook of transports, clients and servers.
func (m *Metrics) Observe(e rpc.Event) {
	if m == nil {
		return
	}
	switch e.Kind {
	case rpc.EventConnected:
		m.mu.Lock()
		again := m.connected[e.Link]
		m.connected[e.Link] = true
		m.mu.Unlock()
		if again {
			m.reconnects.WithLabelValues(role(e.Link)).Inc()
		}
	case rpc.EventLost, rpc.EventBlocked, rpc.EventUnblocked: // states, which links tells
	default:
		m.events.WithLabelValues(string(e.Kind)).Inc()
	}
}

// Client is the interceptors of a client; none if nothing is counted.
func (m *Metrics) Client() []rpc.Interceptor {
	if m == nil {
		return nil
	}
	return []rpc.Interceptor{func(ctx context.Context, c rpc.CallInfo, next func(context.Context) error) error {
		return m.client.measure(ctx, c, next)
	}}
}

// Server is the interceptors of a server with these endpoints; none if nothing is counted. What no endpoint serves is an
// event and not an invocation.
func (m *Metrics) Server(endpoints ...*rpc.Endpoint) []rpc.Interceptor {
	if m == nil {
		return nil
	}
	return []rpc.Interceptor{func(ctx context.Context, c rpc.CallInfo, next func(context.Context) error) error {
		for _, e := range endpoints {
			if e.Serves(c.Target.Namespace, c.Method, c.Version) {
				return m.server.measure(ctx, c, next)
			}
		}
		return next(ctx)
	}}
}

// watch shows the connections of a transport on the page.
func (m *Metrics) watch(h health) {
	if m != nil {
		m.links.add(h)
	}
}

// health is a transport that has connections.
type health interface{ Health() []amqp.LinkState }

var _ health = (*amqp.Transport)(nil)

// links shows the connections as they stand when the page is made.
type links struct {
	up, blocked *prometheus.Desc

	mu         sync.Mutex
	transports []health
}

func newLinks() *links {
	return &links{
		up:      prometheus.NewDesc("cyborg_amqp_connected", "Whether all connections for a purpose are up (1) or not (0).", []string{"link"}, nil),
		blocked: prometheus.NewDesc("cyborg_amqp_blocked", "Whether the message broker takes no messages, short of memory or disk (1), or does (0).", nil, nil),
	}
}

func (l *links) add(h health) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.transports = append(l.transports, h)
}

// Describe implements [prometheus.Collector].
func (l *links) Describe(out chan<- *prometheus.Desc) {
	out <- l.up
	out <- l.blocked
}

// Collect implements [prometheus.Collector].
func (l *links) Collect(out chan<- prometheus.Metric) {
	l.mu.Lock()
	transports := l.transports
	l.mu.Unlock()
	if len(transports) == 0 {
		return
	}
	up, blocked := map[string]float64{}, 0.0
	for _, t := range transports {
		for _, s := range t.Health() {
			name := role(s.Link)
			if _, known := up[name]; !known {
				up[name] = 1
			}
			switch s.State {
			case amqp.StateBlocked:
				blocked = 1
			case amqp.StateUp:
			default:
				up[name] = 0
			}
		}
	}
	for name, value := range up {
		out <- prometheus.MustNewConstMetric(l.up, prometheus.GaugeValue, value, name)
	}
	out <- prometheus.MustNewConstMetric(l.blocked, prometheus.GaugeValue, blocked)
}

// role is what a link is for: publish, replies or server. A server's link has its topic and host in its name.
func role(link string) string {
	if link == "publish" || link == "replies" {
		return link
	}
	return "server"
}
