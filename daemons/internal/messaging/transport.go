package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

const rabbitGroup = "oslo_messaging_rabbit"

// Open makes the transport of a configuration, counted by m. Everything that is wrong is reported at once, each problem
// with the place where the option stands. It connects to nothing.
func Open(cfg *config.Config, log *slog.Logger, m *Metrics) (*amqp.Transport, error) {
	c, problems := transportConfig(cfg, log)
	c.Observe = m.Observe
	t, err := amqp.Open(c)
	switch {
	case err != nil:
		return nil, errors.Join(problems, fmt.Errorf("message bus (transport_url from %s): %w", cfg.Origin("DEFAULT", "transport_url"), err))
	case problems != nil:
		return nil, errors.Join(problems, t.Close(context.Background()))
	}
	m.watch(t)
	return t, nil
}

// DeleteAgentQueue deletes the queue of the agent of a host that is gone for good. One that is consumed stays: its agent
// lives.
func DeleteAgentQueue(ctx context.Context, cfg *config.Config, host string) error {
	c, err := transportConfig(cfg, nil)
	if err != nil {
		return err
	}
	return amqp.DeleteQueue(ctx, c, cyborgrpc.AgentTopic+"."+host)
}

// Check reports what [Open] and [Limits] would refuse.
func Check(cfg *config.Config) error {
	_, limits := Limits(cfg)
	t, err := Open(cfg, nil, nil)
	if err != nil {
		return errors.Join(err, limits)
	}
	return errors.Join(t.Close(context.Background()), limits)
}

func transportConfig(cfg *config.Config, log *slog.Logger) (amqp.Config, error) {
	c := amqp.Config{
		URL: cfg.String("DEFAULT", "transport_url"), ControlExchange: cfg.String("DEFAULT", "control_exchange"),
		Logger: log,
	}
	var problems []error
	for _, s := range cfg.Effective() {
		name := s.Name.Option
		if s.Invalid || s.Name.Group != rabbitGroup || !cfg.IsSet(rabbitGroup, name) && name != "hostname" && name != "processname" {
			continue
		}
		if err := c.Options.Set(name, s.Text); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", s.Origin, err))
		}
	}
	return c, errors.Join(problems...)
}
