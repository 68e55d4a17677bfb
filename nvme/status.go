package nvme

import "fmt"

// Status is the status field of an NVMe completion as Linux returns it: SC in bits 7:0, SCT 10:8, CRD 12:11, More 13, DNR 14.
// Zero is success (NVM Express Base Specification, "Status Field").
type Status uint16

// Statuses that decide what happens next; compare with [Status.Code].
const (
	StatusSuccess            Status = 0x000
	StatusInvalidOpcode      Status = 0x001
	StatusInvalidField       Status = 0x002
	StatusInternal           Status = 0x006
	StatusInvalidNamespace   Status = 0x00b
	StatusSanitizeFailed     Status = 0x01c
	StatusSanitizeInProgress Status = 0x01d
	StatusWriteProtected     Status = 0x020
	StatusFormatInProgress   Status = 0x084
	StatusInvalidLogPage     Status = 0x109
	StatusInvalidFormat      Status = 0x10a
	StatusUnwritten          Status = 0x287
	StatusHostPath           Status = 0x370
	StatusAbortedByHost      Status = 0x371
)

const codeMask = 0x7ff

// Code is the status without retry delay, More and DNR, for comparing with the constants.
func (s Status) Code() Status { return s & codeMask }

// Type is the status code type (SCT).
func (s Status) Type() uint8 { return uint8(s >> 8 & 7) }

// DoNotRetry reports the DNR bit: the same command would fail again.
func (s Status) DoNotRetry() bool { return s>>14&1 == 1 }

// Unsupported reports whether a drive rejected an erase command before starting it, so that the next attempt of a plan may run.
func (s Status) Unsupported() bool {
	return s.Code() == StatusInvalidOpcode || s.Code() == StatusInvalidField
}

// String is the masked code in hexadecimal, as logs and tables write it: "0x01d".
func (s Status) String() string { return fmt.Sprintf("0x%03x", uint16(s.Code())) }

// StatusError is a command that the drive completed with an error.
type StatusError struct {
	Opcode uint8
	Status Status
}

// Error names opcode and status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("nvme command 0x%02x ended with status %s (do not retry: %t)", e.Opcode, e.Status, e.Status.DoNotRetry())
}

// UnknownOutcomeError is a command whose effect on the drive is not known: the host cancelled it or lost the controller
// (EINTR after a controller reset, ENODEV). Inspect the drive before anything is repeated.
type UnknownOutcomeError struct {
	Opcode uint8
	Err    error
}

// Error names opcode and cause.
func (e *UnknownOutcomeError) Error() string {
	return fmt.Sprintf("nvme command 0x%02x: outcome unknown: %v", e.Opcode, e.Err)
}

// Unwrap returns the cause.
func (e *UnknownOutcomeError) Unwrap() error { return e.Err }
