package amqp

import (
	"context"
	"errors"
	"fmt"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// ConsumedError says that a queue was not deleted because somebody consumes it.
type ConsumedError struct{ Queue string }

func (e *ConsumedError) Error() string {
	return "queue " + e.Queue + " is consumed and was not deleted: stop the service first"
}

// DeleteQueue deletes a queue that a server which is gone for good left behind, with its messages, on the first node that
// answers. A queue that does not exist is no error; one that is consumed stays and is a *[ConsumedError].
func DeleteQueue(ctx context.Context, c Config, name string) error {
	r, err := c.resolve()
	if err != nil {
		return err
	}
	var unreachable error
	for _, host := range r.url.brokers() {
		s, err := dial(ctx, &r, host, "delete queue")
		if err != nil {
			unreachable = errors.Join(unreachable, fmt.Errorf("connect to %s: %w", host.Address(), err))
			continue
		}
		defer s.hangUp()
		return s.deleteQueue(name)
	}
	return unreachable
}

func (s *conn) deleteQueue(name string) error {
	err := s.do("delete queue "+name, func() error {
		_, err := s.channel.QueueDelete(name, true, false, false)
		return err
	})
	var refused *amqp091.Error
	if errors.As(err, &refused) && refused.Code == amqp091.PreconditionFailed {
		return &ConsumedError{Queue: name}
	}
	return err
}
