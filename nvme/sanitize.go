package nvme

import "encoding/binary"

// SanitizeAction is the SANACT field of a Sanitize command.
type SanitizeAction uint8

// The actions of Sanitize; overwrite is decoded but never chosen.
const (
	SanitizeExitFailure SanitizeAction = 1
	SanitizeBlock       SanitizeAction = 2
	SanitizeOverwrite   SanitizeAction = 3
	SanitizeCrypto      SanitizeAction = 4
)

// SanitizeStatus is the outcome in SSTAT bits 2:0 of the Sanitize Status log.
type SanitizeStatus uint8

// What the drive says of its most recent sanitize.
const (
	SanitizeNever      SanitizeStatus = 0
	SanitizeOK         SanitizeStatus = 1
	SanitizeInProgress SanitizeStatus = 2
	SanitizeFailed     SanitizeStatus = 3
	SanitizeOKForced   SanitizeStatus = 4 // succeeded and deallocated although "no deallocate" was asked
)

// SanitizeLog is the Sanitize Status log page (81h).
type SanitizeLog struct {
	Status           SanitizeStatus
	GlobalDataErased bool    // nothing was written since the last successful sanitize
	Progress         float64 // 0 to 1 while in progress, else 0
	PassesDone       uint8   // overwrite passes completed
	Command          uint32  // SCDW10: dword 10 of the Sanitize that this log speaks of
	BlockSeconds     uint32  // estimated seconds of a block erase; 0xffffffff = not reported
	CryptoSeconds    uint32  // estimated seconds of a crypto erase; 0xffffffff = not reported
	StateInformation uint8   // SSI, newer revisions
}

const idleProgress = 0xffff

// DecodeSanitizeLog reads log page 81h. Older drives return fewer bytes: what is absent counts as zero.
func DecodeSanitizeLog(b []byte) SanitizeLog {
	var page [40]byte
	copy(page[:], b)
	progress, status := binary.LittleEndian.Uint16(page[0:]), binary.LittleEndian.Uint16(page[2:])
	log := SanitizeLog{
		Status: SanitizeStatus(status & 7), GlobalDataErased: status>>8&1 == 1, PassesDone: uint8(status >> 3 & 0x1f),
		Command:      binary.LittleEndian.Uint32(page[4:]),
		BlockSeconds: binary.LittleEndian.Uint32(page[12:]), CryptoSeconds: binary.LittleEndian.Uint32(page[16:]),
		StateInformation: page[36],
	}
	if log.Status == SanitizeInProgress && progress != idleProgress {
		log.Progress = float64(progress) / 65536
	}
	return log
}

// Action is the action of the Sanitize that the log speaks of.
func (l SanitizeLog) Action() SanitizeAction { return SanitizeAction(l.Command & 7) }

// Restricted reports whether a failure leaves the drive refusing everything but a new Sanitize (AUSE was 0).
func (l SanitizeLog) Restricted() bool { return l.Command>>3&1 == 0 }

// Done reports whether the Sanitize sent with dword 10 = command has succeeded. A success of another command is not ours.
func (l SanitizeLog) Done(command uint32) bool {
	return (l.Status == SanitizeOK || l.Status == SanitizeOKForced) && l.Command == command
}
