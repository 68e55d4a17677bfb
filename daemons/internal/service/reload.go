package service

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
)

// reloadMetrics tell dashboards how the last reading of the configuration went.
type reloadMetrics struct {
	successful, at prometheus.Gauge
}

func newReloadMetrics(r prometheus.Registerer) *reloadMetrics {
	m := &reloadMetrics{
		successful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cyborg_config_last_reload_successful", Help: "Whether the last reading of the configuration succeeded (1) or not (0).",
		}),
		at: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cyborg_config_last_reload_success_timestamp_seconds", Help: "Unix time of the last successful reading of the configuration.",
		}),
	}
	r.MustRegister(m.successful, m.at)
	return m
}

func (m *reloadMetrics) done(ok bool) {
	if !ok {
		m.successful.Set(0)
		return
	}
	m.successful.Set(1)
	m.at.Set(float64(time.Now().Unix()))
}

// reloadConfig reads the files again, applies debug and the log levels and says
// what else changed. A configuration with an error changes nothing.
func (p *Process) reloadConfig() {
	select {
	case <-p.Readiness.becameReady():
		p.notify(notifyReloading())
		defer p.notify(notifyReady)
	default: // systemd waits for the end of the start, which this is not
	}
	now, err := config.Load(p.schema, p.source)
	if err == nil {
		err = p.applyLevels(now)
	}
	p.reload.done(err == nil)
	if err != nil {
		p.log.Error("configuration is not valid; nothing was changed", "error", err)
		return
	}
	for _, change := range config.Changes(p.Config, now) {
		text := "option changed; it takes effect after a restart"
		if change.Mutable || change.Name == levelsOption() {
			text = "option changed and applied"
		}
		p.log.Warn(text, "option", change.Name.String(), "old", change.Old, "new", change.New)
	}
	p.log.Info("configuration was read again")
}

func (p *Process) applyLevels(c *config.Config) error {
	return p.Logger.SetLevels(c.Bool("DEFAULT", "debug"), c.List("DEFAULT", "default_log_levels"))
}

// levelsOption is applied on HUP too, although the peer does not call it mutable.
func levelsOption() config.Name {
	return config.Name{Group: "DEFAULT", Option: "default_log_levels"}
}
