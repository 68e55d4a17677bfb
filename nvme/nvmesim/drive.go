package nvmesim

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/go-cyborg/cyborg/nvme"
)

// Config describes the drive. The zero value is one namespace of 1 MiB with 512-byte blocks and no erase command at all.
type Config struct {
	Model, Serial  string
	Namespaces     int  // 0 = 1
	NamespaceSize  int  // bytes of each; 0 = 1 MiB
	SanitizeCrypto bool // SANICAP bit 0
	SanitizeBlock  bool // SANICAP bit 1
	Format         bool // OACS bit 1
	FormatCrypto   bool // FNA bit 2
	Steps          int  // log reads until a sanitize ends; 0 = 1
	Stall          bool // a sanitize starts and never ends
	Fail           bool // a sanitize starts and fails
	Reject         map[uint8]nvme.Status
}

// Drive is a controller with its namespaces. It implements [nvme.Transport] and is not safe for concurrent use.
type Drive struct {
	config  Config
	data    [][]byte
	sent    []nvme.Command
	running bool
	command uint32
	step    int
	status  nvme.SanitizeStatus
}

var _ nvme.Transport = (*Drive)(nil)

const blockSize = 512

// New makes a drive whose namespaces are numbered from 1 and hold zeroes.
func New(c Config) *Drive {
	if c.Namespaces == 0 {
		c.Namespaces = 1
	}
	if c.NamespaceSize == 0 {
		c.NamespaceSize = 1 << 20
	}
	if c.Steps == 0 {
		c.Steps = 1
	}
	d := &Drive{config: c, data: make([][]byte, c.Namespaces)}
	for i := range d.data {
		d.data[i] = make([]byte, c.NamespaceSize)
	}
	return d
}

// Write stores data in a namespace, as a guest would.
func (d *Drive) Write(namespace uint32, data []byte, offset int64) error {
	ns, err := d.namespace(namespace)
	if err != nil {
		return err
	}
	if offset < 0 || offset+int64(len(data)) > int64(len(ns)) {
		return fmt.Errorf("write of %d bytes at %d is outside namespace %d", len(data), offset, namespace)
	}
	copy(ns[offset:], data)
	return nil
}

// Holds reports whether secret is anywhere on the drive.
func (d *Drive) Holds(secret []byte) bool {
	for _, ns := range d.data {
		if bytes.Contains(ns, secret) {
			return true
		}
	}
	return false
}

// Sent returns the admin commands received so far.
func (d *Drive) Sent() []nvme.Command { return append([]nvme.Command(nil), d.sent...) }

// Admin executes Identify, Get Log Page (81h), Sanitize and Format NVM; any other opcode is an invalid opcode.
func (d *Drive) Admin(ctx context.Context, c nvme.Command, buf []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.sent = append(d.sent, c)
	if status, ok := d.config.Reject[c.Opcode]; ok {
		return &nvme.StatusError{Opcode: c.Opcode, Status: status}
	}
	var status nvme.Status
	switch c.Opcode {
	case nvme.OpIdentify:
		status = d.identify(c, buf)
	case nvme.OpGetLog:
		status = d.sanitizeLog(c, buf)
	case nvme.OpSanitize:
		status = d.sanitize(nvme.SanitizeAction(c.CDW10 & 7))
		if status == nvme.StatusSuccess {
			d.command = c.CDW10
		}
	case nvme.OpFormat:
		status = d.format(c)
	default:
		status = nvme.StatusInvalidOpcode
	}
	if status != nvme.StatusSuccess {
		return &nvme.StatusError{Opcode: c.Opcode, Status: status}
	}
	return nil
}

// Zero zeroes a range of a namespace.
func (d *Drive) Zero(ctx context.Context, namespace uint32, offset, length int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.Write(namespace, make([]byte, length), offset)
}

// ReadAt reads from a namespace.
func (d *Drive) ReadAt(ctx context.Context, namespace uint32, buf []byte, offset int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ns, err := d.namespace(namespace)
	if err != nil {
		return err
	}
	if offset < 0 || offset+int64(len(buf)) > int64(len(ns)) {
		return fmt.Errorf("read of %d bytes at %d is outside namespace %d", len(buf), offset, namespace)
	}
	copy(buf, ns[offset:])
	return nil
}

// Close does nothing.
func (d *Drive) Close() error { return nil }

func (d *Drive) namespace(id uint32) ([]byte, error) {
	if id == 0 || int(id) > len(d.data) {
		return nil, &nvme.StatusError{Status: nvme.StatusInvalidNamespace}
	}
	return d.data[id-1], nil
}

// Data structures of Identify that the drive answers.
const (
	cnsNamespace  = 0x00
	cnsController = 0x01
	cnsActive     = 0x02
)

func (d *Drive) identify(c nvme.Command, buf []byte) nvme.Status {
	var page [nvme.PageSize]byte
	switch c.CDW10 & 0xff {
	case cnsController:
		d.controller(page[:])
	case cnsNamespace:
		ns, err := d.namespace(c.Namespace)
		if err != nil {
			return nvme.StatusInvalidNamespace
		}
		binary.LittleEndian.PutUint64(page[0:], uint64(len(ns)/blockSize))
		binary.LittleEndian.PutUint64(page[8:], uint64(len(ns)/blockSize))
		page[130] = 9 // LBADS of format 0: 2^9 bytes
	case cnsActive:
		for i := range d.data {
			binary.LittleEndian.PutUint32(page[4*i:], uint32(i+1))
		}
	default:
		return nvme.StatusInvalidField
	}
	copy(buf, page[:])
	return nvme.StatusSuccess
}

func (d *Drive) controller(page []byte) {
	binary.LittleEndian.PutUint16(page, 0x1b36)
	copy(page[4:24], fmt.Sprintf("%-20s", d.config.Serial))
	copy(page[24:64], fmt.Sprintf("%-40s", d.config.Model))
	copy(page[64:72], fmt.Sprintf("%-8s", "1.0"))
	if d.config.Format {
		page[256] = 1 << 1
	}
	var sanicap uint32
	if d.config.SanitizeCrypto {
		sanicap |= 1
	}
	if d.config.SanitizeBlock {
		sanicap |= 1 << 1
	}
	binary.LittleEndian.PutUint32(page[328:], sanicap)
	binary.LittleEndian.PutUint32(page[516:], uint32(len(d.data)))
	page[520] = 1 << 3 // ONCS: Write Zeroes
	if d.config.FormatCrypto {
		page[524] = 1 << 2
	}
}

func (d *Drive) sanitize(action nvme.SanitizeAction) nvme.Status {
	switch {
	case d.running:
		return nvme.StatusSanitizeInProgress
	case action == nvme.SanitizeCrypto && !d.config.SanitizeCrypto, action == nvme.SanitizeBlock && !d.config.SanitizeBlock,
		action != nvme.SanitizeCrypto && action != nvme.SanitizeBlock:
		return nvme.StatusInvalidField
	}
	d.running, d.step, d.status = true, 0, nvme.SanitizeInProgress
	return nvme.StatusSuccess
}

func (d *Drive) sanitizeLog(c nvme.Command, buf []byte) nvme.Status {
	if c.CDW10&0xff != 0x81 {
		return nvme.StatusInvalidLogPage
	}
	var page [512]byte
	progress := uint16(0xffff)
	if d.running {
		d.step++
		progress = uint16(min(d.step*65535/d.config.Steps, 65534))
		d.advance()
	}
	binary.LittleEndian.PutUint16(page[0:], progress)
	page[2] = byte(d.status)
	binary.LittleEndian.PutUint32(page[4:], d.command)
	copy(buf, page[:])
	return nvme.StatusSuccess
}

func (d *Drive) advance() {
	switch {
	case d.config.Stall || d.step < d.config.Steps:
	case d.config.Fail:
		d.running, d.status = false, nvme.SanitizeFailed
	default:
		d.running, d.status = false, nvme.SanitizeOK
		for _, ns := range d.data {
			clear(ns)
		}
	}
}

func (d *Drive) format(c nvme.Command) nvme.Status {
	erase := nvme.SecureErase(c.CDW10 >> 9 & 7)
	switch {
	case !d.config.Format:
		return nvme.StatusInvalidOpcode
	case d.running:
		return nvme.StatusSanitizeInProgress
	case erase == nvme.EraseCrypto && !d.config.FormatCrypto:
		return nvme.StatusInvalidField
	}
	for i, ns := range d.data {
		if c.Namespace == nvme.AllNamespaces || c.Namespace == uint32(i+1) {
			clear(ns)
		}
	}
	return nvme.StatusSuccess
}
