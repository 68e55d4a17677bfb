package cyborg

import "fmt"

// StaleHandleError says that an attach handle is no longer what the caller read, so that its update wrote
// nothing. The caller reads the state again, decides again, and retries once.
type StaleHandleError struct {
	UUID  string // of the attach handle
	Field string // the first expected value that differs, by its name in the expected dict; "" unknown
}

func (e *StaleHandleError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("attach handle %s changed since it was read", e.UUID)
	}
	return fmt.Sprintf("attach handle %s changed since it was read: %s differs", e.UUID, e.Field)
}

// HandleNotFoundError says that no attach handle has this UUID (any more).
type HandleNotFoundError struct {
	UUID string
}

func (e *HandleNotFoundError) Error() string {
	return fmt.Sprintf("AttachHandle not found with uuid=%s", e.UUID)
}

// InvalidArgumentError says that an argument of a remotable method does not have the shape of its contract.
type InvalidArgumentError struct {
	Method   string // Class.method
	Argument string
	Reason   string
}

func (e *InvalidArgumentError) Error() string {
	return fmt.Sprintf("%s: argument %s: %s", e.Method, e.Argument, e.Reason)
}
