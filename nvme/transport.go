package nvme

import "context"

// Transport carries commands to one controller. It is used by one goroutine at a time.
//
// An error is a [*StatusError] when the drive completed the command with one, a [*UnknownOutcomeError] when nobody knows
// whether it ran, and anything else when it certainly did not. A command that was issued cannot be interrupted: the context
// is looked at before it starts.
type Transport interface {
	// Admin sends an admin command; buf receives or provides its data and may be nil.
	Admin(ctx context.Context, c Command, buf []byte) error
	// Zero writes zeroes over length bytes of a namespace from offset, both multiples of the block size, and flushes.
	Zero(ctx context.Context, namespace uint32, offset, length int64) error
	// ReadAt reads len(buf) bytes of a namespace from offset, past every cache of the host.
	ReadAt(ctx context.Context, namespace uint32, buf []byte, offset int64) error
	// Close releases the controller.
	Close() error
}

// Host answers who uses a controller's namespaces and moves it between host drivers.
type Host interface {
	// Users names what holds the controller at address open: mounts, device-mapper, a guest. Empty means idle.
	Users(ctx context.Context, address string) ([]string, error)
	// Driver is the host driver bound to address, "" for none.
	Driver(ctx context.Context, address string) (string, error)
	// Bind binds address to driver ("" unbinds) and waits until that is done.
	Bind(ctx context.Context, address, driver string) error
}
