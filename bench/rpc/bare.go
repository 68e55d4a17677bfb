package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// bareEnd is one end of the bare competitor: a connection to publish and one to consume, as ours.
type bareEnd struct {
	publish, consume *amqp091.Connection
	out              *amqp091.Channel
	mu               sync.Mutex
}

func newBareEnd(url string) (*bareEnd, *amqp091.Channel, error) {
	e := &bareEnd{}
	var in *amqp091.Channel
	var err error
	if e.publish, err = amqp091.Dial(url); err != nil {
		return nil, nil, err
	}
	if e.consume, err = amqp091.Dial(url); err != nil {
		return nil, nil, err
	}
	if e.out, err = e.publish.Channel(); err != nil {
		return nil, nil, err
	}
	if err = e.out.Confirm(false); err != nil {
		return nil, nil, err
	}
	returns := e.out.NotifyReturn(make(chan amqp091.Return, 16))
	go func() {
		for range returns {
			continue
		}
	}()
	in, err = e.consume.Channel()
	return e, in, err
}

// send publishes with confirm and mandatory; the confirm is not waited for, since the reply says more.
func (e *bareEnd) send(exchange, key, replyTo, id string, body []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.out.PublishWithDeferredConfirm(exchange, key, true, false, amqp091.Publishing{
		ContentType: "application/json", DeliveryMode: amqp091.Persistent, ReplyTo: replyTo, CorrelationId: id, Body: body,
	})
	return err
}

func (e *bareEnd) close() {
	_ = e.publish.Close()
	_ = e.consume.Close()
}

// newBare is what amqp091-go alone can do: no codec, no dispatch, no context, no failure handling.
func newBare(url string) (caller, error) {
	url = "amqp://" + strings.TrimPrefix(url, "rabbit://")
	server, in, err := newBareEnd(url)
	if err != nil {
		return caller{}, fmt.Errorf("bare server: %w", err)
	}
	if err := serveBare(server, in); err != nil {
		return caller{}, fmt.Errorf("bare server: %w", err)
	}
	client, replies, err := newBareEnd(url)
	if err != nil {
		return caller{}, fmt.Errorf("bare client: %w", err)
	}
	var waiters sync.Map
	queue, err := replies.QueueDeclare("bench-bare-reply", false, true, false, false, nil)
	if err != nil {
		return caller{}, err
	}
	deliveries, err := replies.Consume(queue.Name, "", false, false, false, false, nil)
	if err != nil {
		return caller{}, err
	}
	go func() {
		for d := range deliveries {
			if w, ok := waiters.LoadAndDelete(d.CorrelationId); ok {
				w.(chan []byte) <- d.Body
			}
			_ = d.Ack(false)
		}
	}()
	body := []byte(strings.Repeat("q", 1200))
	var ids atomic.Int64
	return caller{
		name: "bare amqp091-go",
		call: func(ctx context.Context) error {
			id, done := strconv.FormatInt(ids.Add(1), 10), make(chan []byte, 1)
			waiters.Store(id, done)
			if err := client.send(exchange, "bench-bare", queue.Name, id, body); err != nil {
				return err
			}
			select {
			case <-done:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		close: func() { client.close(); server.close() },
	}, nil
}

func serveBare(server *bareEnd, in *amqp091.Channel) error {
	if err := in.ExchangeDeclare(exchange, "topic", false, false, false, false, nil); err != nil {
		return err
	}
	q, err := in.QueueDeclare("bench-bare", false, true, false, false, nil)
	if err != nil {
		return err
	}
	if err := in.QueueBind(q.Name, q.Name, exchange, false, nil); err != nil {
		return err
	}
	if err := in.Qos(64, 0, false); err != nil {
		return err
	}
	deliveries, err := in.Consume(q.Name, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	reply := []byte(strings.Repeat("r", 400))
	go func() {
		for d := range deliveries {
			_ = d.Ack(false)
			go func() { _ = server.send("", d.ReplyTo, "", d.CorrelationId, reply) }()
		}
	}()
	return nil
}
