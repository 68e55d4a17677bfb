package amqp

import (
	"strconv"
	"time"
)

const (
	defaultTransientTTL = 1800 * time.Second
	kindTopic           = "topic"
	kindFanout          = "fanout"
	// streamOffset is the argument of basic.consume that says where to read a stream from, and the header that says where a
	// message of it stood.
	streamOffset = "x-stream-offset"
)

// Exchange is an exchange as this transport declares it.
type Exchange struct {
	Name, Kind          string
	Durable, AutoDelete bool
}

// Queue is a queue as this transport declares and consumes it.
type Queue struct {
	Name                string
	Durable, AutoDelete bool
	// Arguments of queue.declare. Integers are int32 where they fit, as py-amqp sends them.
	Arguments map[string]any
	// Consume are the arguments of basic.consume.
	Consume map[string]any
	// Exchange is declared before the queue, which is bound to it with Key; nil for reply queues.
	Exchange *Exchange
	Key      string
	// Owned queues are deleted when their listener ends: nobody else uses them.
	Owned bool
}

// TopicExchange is the control exchange, through which requests go.
func (o Options) TopicExchange(name string) Exchange {
	return Exchange{Name: name, Kind: kindTopic, Durable: o.Durable || o.Quorum, AutoDelete: o.AutoDelete}
}

// FanoutExchange is the exchange of a topic for messages to all its servers.
func (o Options) FanoutExchange(topic string) Exchange {
	return Exchange{Name: topic + "_fanout", Kind: kindFanout, Durable: o.TransientQuorum, AutoDelete: true}
}

// ServerQueues are the queues of one server in the order in which oslo.messaging declares them: the topic's, the server's
// own and the one for fanout messages, which is named fanout unless a stream is shared.
func (o Options) ServerQueues(exchange, topic, server, fanout string) []Queue {
	control, all := o.TopicExchange(exchange), o.FanoutExchange(topic)
	shared := o.topicQueue(topic)
	own := o.topicQueue(topic + "." + server)
	shared.Exchange, own.Exchange = &control, &control
	last := o.fanoutQueue(topic, fanout)
	last.Exchange, last.Key = &all, topic
	return []Queue{shared, own, last}
}

// ReplyQueue is the queue of a client.
func (o Options) ReplyQueue(name string) Queue {
	q := o.transientQueue(name)
	q.Owned = true
	return q
}

func (o Options) topicQueue(name string) Queue {
	q := Queue{Name: name, Key: name, Durable: o.Durable || o.Quorum, AutoDelete: o.AutoDelete && !o.Quorum, Consume: o.consume()}
	q.Arguments = o.base(o.Quorum)
	return q
}

func (o Options) transientQueue(name string) Queue {
	q := Queue{Name: name, Durable: o.TransientQuorum, Consume: o.consume(), Arguments: o.base(o.TransientQuorum)}
	if ttl := orDefault(o.TransientTTL, defaultTransientTTL); ttl > 0 {
		q.Arguments["x-expires"] = tableInt(ttl.Milliseconds())
	}
	return q
}

func (o Options) fanoutQueue(topic, name string) Queue {
	if !o.StreamFanout {
		q := o.transientQueue(name)
		q.Owned = !o.QueueManager // a managed name is found again by the next process
		return q
	}
	q := Queue{Name: topic + "_fanout", Durable: true}
	q.Arguments = map[string]any{"x-queue-type": "stream"}
	if ttl := orDefault(o.TransientTTL, defaultTransientTTL); ttl > 0 {
		q.Arguments["x-max-age"] = strconv.Itoa(int(ttl/time.Second)) + "s"
	}
	q.Consume = map[string]any{streamOffset: "last"}
	return q
}

func (o Options) base(quorum bool) map[string]any {
	args := map[string]any{}
	if o.Mirrored {
		args["x-ha-policy"] = "all"
	}
	if !quorum {
		return args
	}
	args["x-queue-type"] = "quorum"
	for name, limit := range map[string]int{
		"x-delivery-limit": o.QuorumDeliveryLimit, "x-max-in-memory-length": o.QuorumMaxLength, "x-max-in-memory-bytes": o.QuorumMaxBytes,
	} {
		if limit > 0 {
			args[name] = tableInt(int64(limit))
		}
	}
	return args
}

// tableInt is the narrowest integer of a field table that holds n.
func tableInt(n int64) any {
	if int64(int32(n)) == n {
		return int32(n)
	}
	return n
}

func (o Options) consume() map[string]any {
	args := map[string]any{}
	if o.CancelOnFailover {
		args["x-cancel-on-ha-failover"] = true
	}
	return args
}
