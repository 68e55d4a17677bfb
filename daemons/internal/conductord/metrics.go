package conductord

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/reconcile/placement"
)

// metrics are the conductor's own, prefix cyborg_.
type metrics struct {
	retained prometheus.Gauge
	requests *prometheus.CounterVec
	seconds  prometheus.Histogram
	arqs     *prometheus.GaugeVec
	devices  *prometheus.GaugeVec
	moves    *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		retained: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cyborg_devices_retained",
			Help: "Devices that their hosts do not report any more and that are kept because something holds them.",
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cyborg_placement_requests_total", Help: "Requests to Placement by status; code 0 is no answer.",
		}, []string{"code"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cyborg_placement_request_seconds", Help: "Time that requests to Placement took.", Buckets: prometheus.DefBuckets,
		}),
		arqs: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "cyborg_arq_state", Help: "Accelerator requests in the database by state; every conductor counts all of them.",
		}, []string{"state"}),
		devices: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "cyborg_devices", Help: "Devices in the database by type and device_state; every conductor counts all of them.",
		}, []string{"type", "state"}),
		moves: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cyborg_arq_transition_seconds", Help: "Time that binds, unbinds and deletions of accelerator requests took, by the state they led to.",
			Buckets: append(slices.Clip(prometheus.DefBuckets), 30, 60),
		}, []string{"to"}),
	}
	registry.MustRegister(m.retained, m.requests, m.seconds, m.arqs, m.devices, m.moves)
	return m
}

// count shows what the database holds.
func (m *metrics) count(c store.Counts) {
	for _, s := range arq.States() {
		m.arqs.WithLabelValues(string(s)).Set(float64(c.Requests[s]))
	}
	m.devices.Reset() // a kind that is gone has no line
	for kind, n := range c.Devices {
		m.devices.WithLabelValues(kind.Type, string(kind.State)).Set(float64(n))
	}
}

// placement is the configuration of a client that is counted.
func (m *metrics) placement() placement.Config {
	return placement.Config{Observe: func(_, _ string, status int, took time.Duration) {
		m.requests.WithLabelValues(strconv.Itoa(status)).Inc()
		m.seconds.Observe(took.Seconds())
	}}
}
