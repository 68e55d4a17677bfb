package nvme

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// PageSize is the length in bytes of an Identify data structure.
const PageSize = 4096

// Controller is the part of Identify Controller (CNS 01h) that erase planning and identity need.
type Controller struct {
	VendorID          uint16 // VID
	Serial, Model, FW string // SN, MN, FR with the padding removed
	Shared            bool   // CMIC bit 1: the subsystem may hold several controllers
	VirtualFunction   bool   // CMIC bit 2: this controller belongs to an SR-IOV virtual function
	ID                uint16 // CNTLID
	Format            bool   // OACS bit 1: Format NVM
	NamespaceMgmt     bool   // OACS bit 3
	WriteZeroes       bool   // ONCS bit 3
	SanitizeCrypto    bool   // SANICAP bit 0
	SanitizeBlock     bool   // SANICAP bit 1
	SanitizeOverwrite bool   // SANICAP bit 2
	FormatAll         bool   // FNA bit 0: Format touches all namespaces
	EraseAll          bool   // FNA bit 1: secure erase touches all namespaces
	FormatCrypto      bool   // FNA bit 2: Format can erase by changing the key
	Namespaces        uint32 // NN, the highest namespace identifier
	SubsystemNQN      string // SUBNQN

	sanicap uint32
	fna     uint8
}

// DecodeController reads an Identify Controller structure. A buffer shorter than 4096 bytes or one that is all zero is an
// error: an absent answer must not look like a drive without capabilities.
func DecodeController(b []byte) (Controller, error) {
	if err := wholePage("identify controller", b); err != nil {
		return Controller{}, err
	}
	oacs, oncs := binary.LittleEndian.Uint16(b[256:]), binary.LittleEndian.Uint16(b[520:])
	sanicap, fna := binary.LittleEndian.Uint32(b[328:]), b[524]
	return Controller{
		VendorID: binary.LittleEndian.Uint16(b), Serial: padded(b[4:24]), Model: padded(b[24:64]), FW: padded(b[64:72]),
		Shared: b[76]>>1&1 == 1, VirtualFunction: b[76]>>2&1 == 1, ID: binary.LittleEndian.Uint16(b[78:]),
		Format: oacs>>1&1 == 1, NamespaceMgmt: oacs>>3&1 == 1, WriteZeroes: oncs>>3&1 == 1,
		SanitizeCrypto: sanicap&1 == 1, SanitizeBlock: sanicap>>1&1 == 1, SanitizeOverwrite: sanicap>>2&1 == 1,
		FormatAll: fna&1 == 1, EraseAll: fna>>1&1 == 1, FormatCrypto: fna>>2&1 == 1,
		Namespaces: binary.LittleEndian.Uint32(b[516:]), SubsystemNQN: strings.TrimRight(padded(b[768:1024]), "\x00"),
		sanicap: sanicap, fna: fna,
	}, nil
}

// Capabilities prints the fields that decide an erase, for refusals and reports.
func (c Controller) Capabilities() string {
	return fmt.Sprintf("SANICAP=0x%x, FNA=0x%x, format=%t, write zeroes=%t", c.sanicap, c.fna, c.Format, c.WriteZeroes)
}

// Namespace is the part of Identify Namespace (CNS 00h) that erase planning and layout comparison need.
type Namespace struct {
	Size, Capacity uint64 // NSZE and NCAP, in blocks
	BlockSize      uint32 // bytes of data in a block; 0 = the current format is not usable
	MetadataSize   uint16 // bytes of metadata in a block
	FormatIndex    uint8  // the LBA format in use
	Shared         bool   // NMIC bit 0: may be attached to several controllers
	WriteProtected bool   // NSATTR bit 0
}

// DecodeNamespace reads an Identify Namespace structure. A namespace that does not exist is all zero and an error.
func DecodeNamespace(b []byte) (Namespace, error) {
	if err := wholePage("identify namespace", b); err != nil {
		return Namespace{}, err
	}
	index := b[26]&0xf | b[26]>>5&3<<4
	format := b[128+4*int(index):]
	var size uint32
	if shift := format[2]; shift != 0 && shift < 32 {
		size = 1 << shift
	}
	return Namespace{
		Size: binary.LittleEndian.Uint64(b), Capacity: binary.LittleEndian.Uint64(b[8:]), BlockSize: size,
		MetadataSize: binary.LittleEndian.Uint16(format), FormatIndex: index, Shared: b[30]&1 == 1, WriteProtected: b[99]&1 == 1,
	}, nil
}

// DecodeNamespaceList reads the active (CNS 02h) or allocated (CNS 10h) namespace identifiers, ascending, 0 ends the list.
func DecodeNamespaceList(b []byte) []uint32 {
	var ids []uint32
	for ; len(b) >= 4; b = b[4:] {
		id := binary.LittleEndian.Uint32(b)
		if id == 0 {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

// DecodeControllerList reads the controller identifiers of CNS 12h (attached to a namespace) or 13h (in the subsystem).
// A count beyond the buffer is an error.
func DecodeControllerList(b []byte) ([]uint16, error) {
	if len(b) < 2 {
		return nil, fmt.Errorf("controller list has %d bytes", len(b))
	}
	n := int(binary.LittleEndian.Uint16(b))
	if len(b) < 2+2*n {
		return nil, fmt.Errorf("controller list announces %d identifiers in %d bytes", n, len(b))
	}
	ids := make([]uint16, n)
	for i := range ids {
		ids[i] = binary.LittleEndian.Uint16(b[2+2*i:])
	}
	return ids, nil
}

func wholePage(what string, b []byte) error {
	if len(b) < PageSize {
		return fmt.Errorf("%s has %d bytes, want %d", what, len(b), PageSize)
	}
	for _, c := range b[:PageSize] {
		if c != 0 {
			return nil
		}
	}
	return fmt.Errorf("%s is all zero", what)
}

func padded(b []byte) string { return strings.TrimRight(string(b), " \x00") }
