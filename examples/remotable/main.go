package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/go-cyborg/cyborg/rpc/memory"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "remotable:", err)
		os.Exit(1)
	}
}

// run makes the same calls locally and over the in-process transport.
func run(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "locally:")
	if err := clean(ctx, out, localMethods(newStore())); err != nil {
		return err
	}
	fmt.Fprintln(out, "in the service:")
	return connected(ctx, memory.New(), newStore(), func(m methods) error { return clean(ctx, out, m) })
}

func newStore() *memoryStore {
	return &memoryStore{rows: []row{
		{"6c5d4b3a-2f1e-4d0c-9b8a-7f6e5d4c3b2a", "compute-1", Cleaning},
		{"7d6e5c4b-3f2e-4d0c-9b8a-7f6e5d4c3b2b", "compute-1", Available},
		{"8e7f6d5c-4f3e-4d0c-9b8a-7f6e5d4c3b2c", "compute-2", Available},
	}}
}

// clean completes the cleaning of the devices of a host. It does not know where the methods run.
func clean(ctx context.Context, out io.Writer, m methods) error {
	list, err := m.DeviceList.GetByHostname(ctx, "compute-1")
	if err != nil {
		return fmt.Errorf("look up devices: %w", err)
	}
	for _, d := range list.All() {
		before := d.State.Value()
		moved, err := m.Device.CompleteCleaning(ctx, d, Available)
		if err != nil {
			return fmt.Errorf("complete the cleaning of %s: %w", d.UUID.Value(), err)
		}
		fmt.Fprintf(out, "  %s: %s, then %s (moved: %t)\n", d.UUID.Value(), before, d.State.Value(), moved)
	}
	return nil
}
