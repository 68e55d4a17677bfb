package conductord

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/go-cyborg/cyborg/reconcile/placement"
)

// metrics are the conductor's own, prefix cyborg_.
type metrics struct {
	retained prometheus.Gauge
	requests *prometheus.CounterVec
	seconds  prometheus.Histogram
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
	}
	registry.MustRegister(m.retained, m.requests, m.seconds)
	return m
}

// placement is the configuration of a client that is counted.
func (m *metrics) placement() placement.Config {
	return placement.Config{Observe: func(_, _ string, status int, took time.Duration) {
		m.requests.WithLabelValues(strconv.Itoa(status)).Inc()
		m.seconds.Observe(took.Seconds())
	}}
}
