package nvme

import (
	"encoding/binary"
	"time"
)

// Opcodes of the admin and I/O commands that are used.
const (
	OpGetLog      uint8 = 0x02
	OpIdentify    uint8 = 0x06
	OpFormat      uint8 = 0x80
	OpSanitize    uint8 = 0x84
	OpWriteZeroes uint8 = 0x08 // I/O
)

// AllNamespaces is the broadcast namespace identifier.
const AllNamespaces uint32 = 0xffffffff

// Command is a submission without its buffer: what struct nvme_passthru_cmd of linux/nvme_ioctl.h carries.
type Command struct {
	Opcode    uint8
	Namespace uint32
	CDW10     uint32
	CDW11     uint32
	CDW12     uint32
	Timeout   time.Duration // 0 = the kernel's default of 60 s
	DataLen   uint32        // bytes transferred
}

// PassthruSize is the size in bytes of struct nvme_passthru_cmd.
const PassthruSize = 72

// Passthru lays the command out as struct nvme_passthru_cmd, little endian; addr is the buffer's address.
func (c Command) Passthru(addr uint64) [PassthruSize]byte {
	var b [PassthruSize]byte
	b[0] = c.Opcode
	binary.LittleEndian.PutUint32(b[4:], c.Namespace)
	binary.LittleEndian.PutUint64(b[24:], addr)
	binary.LittleEndian.PutUint32(b[36:], c.DataLen)
	binary.LittleEndian.PutUint32(b[40:], c.CDW10)
	binary.LittleEndian.PutUint32(b[44:], c.CDW11)
	binary.LittleEndian.PutUint32(b[48:], c.CDW12)
	binary.LittleEndian.PutUint32(b[64:], uint32(c.Timeout/time.Millisecond))
	return b
}

// Identify asks for the data structure cns of a namespace (0 for the controller's own).
func Identify(cns uint8, namespace uint32) Command {
	return Command{Opcode: OpIdentify, Namespace: namespace, CDW10: uint32(cns), DataLen: PageSize}
}

// GetLog asks for the first length bytes of a log page; length is a multiple of 4.
func GetLog(page uint8, length uint32) Command {
	dwords := length/4 - 1
	return Command{
		Opcode: OpGetLog, Namespace: AllNamespaces, CDW10: uint32(page) | dwords&0xffff<<16, CDW11: dwords >> 16, DataLen: length,
	}
}

// sanitizeTimeout bounds the command, not the sanitize: completion only means that it started.
const sanitizeTimeout = 10 * time.Second

// Sanitize starts action in restricted mode (AUSE=0): a drive whose sanitize fails refuses user data by itself.
func Sanitize(action SanitizeAction) Command {
	return Command{Opcode: OpSanitize, CDW10: uint32(action), Timeout: sanitizeTimeout}
}

// SecureErase is the SES field of Format NVM.
type SecureErase uint8

// The erases of Format NVM.
const (
	EraseNone     SecureErase = 0
	EraseUserData SecureErase = 1
	EraseCrypto   SecureErase = 2
)

// Format formats a namespace, or all of them, with LBA format index and the given erase. It is one synchronous command:
// once issued it cannot be interrupted, so timeout is the time left for the whole cleanup.
func Format(namespace uint32, index uint8, erase SecureErase, timeout time.Duration) Command {
	return Command{
		Opcode: OpFormat, Namespace: namespace, Timeout: timeout,
		CDW10: uint32(index)&0xf | uint32(erase)<<9 | uint32(index)>>4&3<<12,
	}
}

// WriteZeroes zeroes blocks (1 to 65536) starting at lba and asks for deallocation (DEAC).
func WriteZeroes(namespace uint32, lba uint64, blocks uint32) Command {
	return Command{
		Opcode: OpWriteZeroes, Namespace: namespace, CDW10: uint32(lba), CDW11: uint32(lba >> 32), CDW12: (blocks-1)&0xffff | 1<<25,
	}
}
