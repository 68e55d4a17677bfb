package amqp

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/go-cyborg/cyborg/rpc"
)

// collect sorts what a lost connection left unconfirmed. A message larger than the broker's limit, if that ended the
// connection, would end the next one too, and so would those to an exchange that this user may not write to.
//
// The broker takes messages in order and names the exchange that it refuses, not the message: that was the last one there, or
// one before it. Hence the last one and everything after it were certainly not delivered, and are sent again if the exchange
// was missing: the next connection declares it first.
func (p *publisher) collect(unsettled []*item, cause error) {
	again := p.resend
	p.resend = nil
	limit := sizeLimit(cause)
	refused, denied := missingExchange(cause), asAccessError(cause)
	if denied != nil {
		refused = denied.Exchange
		p.tell(refused, denied)
	}
	undelivered := p.lastTo(unsettled, refused)
	for n, i := range unsettled {
		switch {
		case limit > 0 && len(i.wire) > limit:
			i.done(fmt.Errorf("%w: %w", rpc.ErrNacked, &rpc.TooLargeError{Size: len(i.wire), Limit: limit}))
		case denied != nil && (i.Resend || n == undelivered) && p.exchange(i) == refused:
			i.done(denied)
		case i.Resend:
			p.resend = append(p.resend, i)
		case n >= undelivered:
			i.confirm = nil // it counts as never sent
			p.resend = append(p.resend, i)
		default:
			i.done(rpc.ErrUnconfirmed)
		}
	}
	p.resend = append(p.resend, again...)
}

// lastTo is the index of the last item that goes to an exchange, and the number of items if none does.
func (p *publisher) lastTo(items []*item, exchange string) int {
	for n, i := range slices.Backward(items) {
		if p.exchange(i) == exchange {
			return n
		}
	}
	return len(items)
}

// exchange is where an item goes, in the broker's words.
func (p *publisher) exchange(i *item) string {
	exchange, _, _ := p.route(i.To)
	return cmp.Or(exchange, namelessExchange)
}

var oversize = regexp.MustCompile(`message size \d+ is larger than .*max size (\d+)`)

// sizeLimit is the broker's limit on the size of a message, in bytes, if err says that one exceeded it, and 0 otherwise.
func sizeLimit(err error) int {
	refused, ok := errors.AsType[*amqp091.Error](err)
	if !ok {
		return 0
	}
	m := oversize.FindStringSubmatch(refused.Reason)
	if m == nil {
		return 0
	}
	limit, _ := strconv.Atoi(m[1]) // the pattern admits digits only
	return limit
}
