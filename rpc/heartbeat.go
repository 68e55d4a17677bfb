package rpc

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// maxHeartbeat is the longest interval between signs of life.
const maxHeartbeat = 24 * time.Hour

// startHeartbeat sends signs of life to a caller that asked for them, until the returned function is called, which returns
// when the last one has been handed over. It must be called before the final reply is sent.
func (a *acceptor) startHeartbeat(q *incoming) (stop func()) {
	interval := heartbeatInterval(q.wire.Timeout)
	if interval == 0 {
		if wire.Truthy(q.wire.Timeout) {
			a.log.Debug("call monitor timeout ignored", "message_id", q.wire.MsgID, "timeout", string(q.wire.Timeout))
		}
		return func() {}
	}
	halt, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		a.heartbeat(q, interval, halt)
	}()
	return func() {
		close(halt)
		<-ended
	}
}

// heartbeat also ends when the caller's queue does not exist.
func (a *acceptor) heartbeat(q *incoming, interval time.Duration, halt <-chan struct{}) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	gone := make(chan struct{}, 1)
	for {
		select {
		case <-halt:
			return
		case <-gone:
			return
		case <-ticker.C:
		}
		r := wire.Reply{MsgID: q.wire.MsgID}
		body, err := r.Encode(wire.NewID())
		if err != nil {
			return
		}
		m := Message{To: Address{Queue: q.wire.ReplyQueue}, Body: body}
		a.transport.Send(a.base, m, func(err error) {
			if errors.Is(err, ErrUndeliverable) {
				select {
				case gone <- struct{}{}:
				default:
				}
			}
		})
	}
}

// heartbeatInterval is half the call monitor timeout, cut to whole seconds first; 0 if that is less than a second or no
// number.
func heartbeatInterval(timeout json.RawMessage) time.Duration {
	if len(timeout) == 0 || timeout[0] == 'n' {
		return 0
	}
	text := string(timeout)
	if s, ok := wire.Text(timeout); ok {
		if _, err := strconv.ParseInt(s, 10, 64); err != nil {
			return 0
		}
		text = s
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 2) {
		return 0
	}
	if seconds >= 2*maxHeartbeat.Seconds() {
		return maxHeartbeat
	}
	return time.Duration(int64(seconds)) * time.Second / 2
}
