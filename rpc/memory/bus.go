// Package memory carries RPC within a process.
package memory

import (
	"context"

	"github.com/go-cyborg/cyborg/rpc"
)

// Bus is a message broker inside the process; it implements [rpc.Transport].
type Bus struct{}

// New returns an empty bus.
func New() *Bus { return &Bus{} }

// Send implements [rpc.Transport].
func (b *Bus) Send(ctx context.Context, m rpc.Message, done func(error)) { panic("not yet") }

// Listen implements [rpc.Transport].
func (b *Bus) Listen(ctx context.Context, s rpc.Source, r rpc.Receiver) error { panic("not yet") }

// NewReplyQueue implements [rpc.Transport].
func (b *Bus) NewReplyQueue() string { panic("not yet") }
