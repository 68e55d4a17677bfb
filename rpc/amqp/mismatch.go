package amqp

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// MismatchError is an exchange or queue that exists on the broker with other properties than ours. It is reported in
// [Transport.Health] and the log; the link keeps trying, since only an operator can mend it. A message to the fanout
// exchange of a topic, or to an exchange other than the control exchange, fails with it, and the link stays up.
type MismatchError struct {
	Object string // "exchange 'cyborg'" or "queue 'cyborg-agent'"
	Field  string // "durable", "x-expires", …
	Ours   string // what this process declared
	Theirs string // what the broker has
	Option string // the option of [oslo_messaging_rabbit] that decides it, "" if none does
}

// Error names object, property, both values and what to do.
func (e *MismatchError) Error() string {
	text := fmt.Sprintf("%s exists on the broker with %s %s, this process declares %s", e.Object, e.Field, e.Theirs, e.Ours)
	if e.Option == "" {
		return text + ": delete it, or make all services agree"
	}
	return text + ": set [oslo_messaging_rabbit] " + e.Option + " as the other services have it, or delete the object"
}

var inequivalent = regexp.MustCompile(`inequivalent arg '([^']+)' for ((?:exchange|queue) '[^']*') in vhost '[^']*': received (.+?) but current is (.+)$`)

// asMismatch recognises 406 PRECONDITION_FAILED and 405 RESOURCE_LOCKED.
func asMismatch(err error) *MismatchError {
	refused, ok := errors.AsType[*amqp091.Error](err)
	if !ok {
		return nil
	}
	switch refused.Code {
	case amqp091.PreconditionFailed:
		m := inequivalent.FindStringSubmatch(refused.Reason)
		if m == nil {
			return nil
		}
		return &MismatchError{Object: m[2], Field: m[1], Ours: plainValue(m[3]), Theirs: plainValue(m[4]), Option: decidingOption(m[2], m[1])}
	case amqp091.ResourceLocked:
		return &MismatchError{Object: refused.Reason, Field: "exclusive", Ours: "false", Theirs: "true"}
	}
	return nil
}

var aboutExchange = regexp.MustCompile(`(?:no|access to) exchange '(.*)' in vhost '`)

// refusedExchange is the exchange that the broker names in an error of that code, as it names it; "" if err is none.
func refusedExchange(err error, code int) string {
	refused, ok := errors.AsType[*amqp091.Error](err)
	if !ok || !refused.Server || refused.Code != code {
		return ""
	}
	if m := aboutExchange.FindStringSubmatch(refused.Reason); m != nil {
		return m[1]
	}
	return ""
}

// namelessExchange is what the broker calls the exchange that has the empty name, to which replies go.
const namelessExchange = "amq.default"

// AccessError is an exchange that this user may not write to. Messages to it fail with it, and the link connects anew.
type AccessError struct {
	Exchange string // "amq.default" is the one that replies go to
	Err      error  // in the broker's words, with the user
}

// Error names the exchange and what to do, and what the broker said.
func (e *AccessError) Error() string {
	return fmt.Sprintf("no permission to write to exchange '%s': grant it with rabbitmqctl set_permissions: %v", e.Exchange, e.Err)
}

// Unwrap is what the broker said.
func (e *AccessError) Unwrap() error { return e.Err }

// asAccessError recognises 403 ACCESS_REFUSED on an exchange.
func asAccessError(err error) *AccessError {
	if exchange := refusedExchange(err, amqp091.AccessRefused); exchange != "" {
		return &AccessError{Exchange: exchange, Err: err}
	}
	return nil
}

// missingExchange is the exchange that err says does not exist, or "".
func missingExchange(err error) string { return refusedExchange(err, amqp091.NotFound) }

// asRefusal is err if the broker refused a single operation with it, closing the channel and not the connection: a
// [*MismatchError] if possible. It is nil if the connection is at stake.
func asRefusal(err error) error {
	if mismatch := asMismatch(err); mismatch != nil {
		return mismatch
	}
	if refused, ok := errors.AsType[*amqp091.Error](err); ok && refused.Server {
		switch refused.Code {
		case amqp091.AccessRefused, amqp091.NotFound, amqp091.ResourceLocked, amqp091.PreconditionFailed:
			return err
		}
	}
	return nil
}

// plainValue makes "the value '1800000' of type 'signedint'" and "'true'" plain.
func plainValue(text string) string {
	text = strings.TrimPrefix(text, "the value ")
	text, _, _ = strings.Cut(text, " of type ")
	return strings.Trim(text, "'")
}

func decidingOption(object, field string) string {
	transient := strings.Contains(object, "reply_") || strings.Contains(object, "_fanout")
	switch field {
	case "durable":
		if transient {
			return "rabbit_transient_quorum_queue"
		}
		return "amqp_durable_queues (or rabbit_quorum_queue)"
	case "auto_delete":
		if transient {
			return ""
		}
		return "amqp_auto_delete"
	case "x-queue-type":
		if transient {
			return "rabbit_transient_quorum_queue (or rabbit_stream_fanout)"
		}
		return "rabbit_quorum_queue"
	case "x-expires", "x-max-age":
		return "rabbit_transient_queues_ttl"
	case "x-ha-policy":
		return "rabbit_ha_queues"
	case "x-delivery-limit":
		return "rabbit_quorum_delivery_limit"
	case "x-max-in-memory-length":
		return "rabbit_quorum_max_memory_length"
	case "x-max-in-memory-bytes":
		return "rabbit_quorum_max_memory_bytes"
	}
	return ""
}

// onlyDurable reports whether the control exchange merely differs in durability: it is then adopted as it is.
func (e *MismatchError) onlyDurable(exchange string) bool {
	return e != nil && e.Field == "durable" && e.Object == "exchange '"+exchange+"'"
}
