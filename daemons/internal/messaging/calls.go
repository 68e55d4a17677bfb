package messaging

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
)

// calls are the metrics of one side, with the names, labels and buckets of oslo.metrics 0.17.
type calls struct {
	start, end, failed *prometheus.CounterVec
	seconds            *prometheus.HistogramVec
	label              func(rpc.CallInfo) map[string]string
	class              func(error) string
	known              sync.Map // of *series by series key
}

// seriesKey is what tells one series from another. Methods and versions are those that this program calls or serves.
type seriesKey struct {
	kind    rpc.Kind
	target  rpc.Target
	method  string
	version rpc.Version
}

// series are the metrics of one method, so that a call looks up no labels.
type series struct {
	start, end prometheus.Counter
	seconds    prometheus.Observer
	failed     *prometheus.CounterVec // by class
}

const (
	// noValue is how oslo.metrics shows an unset label.
	noValue = "None"
	// someHost stands for the server of a call to a named one: hosts are too many for a label.
	someHost = "host"
)

func newClientCalls(program string) *calls {
	names := []string{"call_type", "exchange", "topic", "namespace", "version", "server", "fanout", "process", "method", "timeout"}
	c := newCalls("client", names)
	c.class = clientClass(knownClasses())
	c.label = func(i rpc.CallInfo) map[string]string {
		kind, fanout, server := string(rpc.KindCall), noValue, noValue
		if i.Kind != rpc.KindCall {
			kind = string(rpc.KindCast)
		}
		if i.Kind == rpc.KindCastAll {
			fanout = "True"
		}
		if i.Target.Server != "" {
			server = someHost
		}
		return map[string]string{
			"call_type": kind, "exchange": orNone(i.Target.Exchange), "topic": i.Target.Topic, "namespace": orNone(i.Target.Namespace),
			"version": versionText(i.Version), "server": server, "fanout": fanout, "process": program, "method": i.Method, "timeout": noValue,
		}
	}
	return c
}

func newServerCalls(program string) *calls {
	names := []string{"exchange", "topic", "server", "endpoint", "namespace", "version", "method", "process"}
	c := newCalls("server", names)
	c.class = serverClass(knownClasses())
	c.label = func(i rpc.CallInfo) map[string]string {
		return map[string]string{
			"exchange": orNone(i.Target.Exchange), "topic": i.Target.Topic, "server": i.Target.Server, "endpoint": noValue,
			"namespace": orNone(i.Target.Namespace), "version": versionText(i.Version), "method": i.Method, "process": program,
		}
	}
	return c
}

func newCalls(side string, labels []string) *calls {
	name := func(what string) string { return "oslo_messaging_rpc_" + side + "_" + what }
	return &calls{
		start:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: name("invocation_start_total"), Help: "RPC invocations begun."}, labels),
		end:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: name("invocation_end_total"), Help: "RPC invocations that succeeded."}, labels),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: name("exception_total"), Help: "RPC invocations that failed."}, append(labels, "exception")),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name("processing_seconds"), Help: "Duration of RPC invocations that succeeded.",
			Buckets: []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 25, 50, 75, 100},
		}, labels),
	}
}

func (c *calls) register(r prometheus.Registerer) {
	r.MustRegister(c.start, c.end, c.failed, c.seconds)
}

// measure counts an invocation as oslo.metrics does: one that fails has neither an end nor a duration.
func (c *calls) measure(ctx context.Context, i rpc.CallInfo, next func(context.Context) error) error {
	s := c.of(i)
	s.start.Inc()
	begun := time.Now()
	err := next(ctx)
	if err != nil {
		s.failed.WithLabelValues(c.class(err)).Inc()
		return err
	}
	s.seconds.Observe(time.Since(begun).Seconds())
	s.end.Inc()
	return nil
}

func (c *calls) of(i rpc.CallInfo) *series {
	i.Version.Revision = 0
	if i.Side == rpc.SideClient && i.Target.Server != "" {
		i.Target.Server = someHost
	}
	key := seriesKey{kind: i.Kind, target: i.Target, method: i.Method, version: i.Version}
	if s, ok := c.known.Load(key); ok {
		return s.(*series)
	}
	labels := c.label(i)
	s, _ := c.known.LoadOrStore(key, &series{
		start: c.start.With(labels), end: c.end.With(labels), seconds: c.seconds.With(labels), failed: c.failed.MustCurryWith(labels),
	})
	return s.(*series)
}

func orNone(s string) string {
	if s == "" {
		return noValue
	}
	return s
}

// versionText leaves the revision out: any is compatible, so a peer could choose it.
func versionText(v rpc.Version) string {
	if v.IsZero() {
		return noValue
	}
	return strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor)
}

// knownClasses are the exception classes that have a series of their own.
func knownClasses() map[rpc.Class]bool {
	known := map[rpc.Class]bool{
		rpc.ErrNoSuchMethod: true, rpc.ErrUnsupportedVersion: true, rpc.ErrBadArguments: true,
		{Module: "builtins", Name: "ValueError"}: true, {Module: "builtins", Name: "RuntimeError"}: true,
	}
	for _, class := range cyborgrpc.Exceptions().Classes() {
		known[class] = true
	}
	return known
}

// remoteClass is the class of every failure without a series of its own, as a Python client sees it.
const remoteClass = "RemoteError"

// serverClass names the class that a failed invocation is answered with.
func serverClass(known map[rpc.Class]bool) func(error) string {
	table := cyborgrpc.Exceptions()
	return func(err error) string {
		if class := table.ClassOf(err); known[class] {
			return class.Name
		}
		return remoteClass
	}
}

// clientClass names the class that a Python client raises for the same reason.
func clientClass(known map[rpc.Class]bool) func(error) string {
	return func(err error) string {
		var failed *rpc.RemoteError
		switch {
		case errors.As(err, &failed) && known[failed.Class]:
			return failed.Class.Name
		case failed != nil:
			return remoteClass
		case errors.Is(err, context.DeadlineExceeded):
			return "MessagingTimeout"
		case errors.Is(err, rpc.ErrUndeliverable):
			return "MessageUndeliverable"
		case errors.Is(err, rpc.ErrNacked), errors.Is(err, rpc.ErrUnconfirmed):
			return "MessageDeliveryFailure"
		case errors.Is(err, context.Canceled), errors.Is(err, rpc.ErrClosed):
			return "CancelledError"
		}
		return "ClientSendError"
	}
}
