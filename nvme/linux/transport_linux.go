package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/go-cyborg/cyborg/nvme"
)

// ioctl requests.
const (
	ioctlAdmin   = 0xc0484e41 // NVME_IOCTL_ADMIN_CMD, linux/nvme_ioctl.h
	ioctlZeroOut = 0x127f     // BLKZEROOUT, linux/fs.h; argument: offset and length in bytes
	alignment    = 4096       // of buffers read with O_DIRECT
)

// Transport is one controller. It implements [nvme.Transport] and is not safe for concurrent use.
type Transport struct {
	control    *os.File
	namespaces map[uint32]*os.File
}

var _ nvme.Transport = (*Transport)(nil)

// Open opens a controller by its character device ("/dev/nvme0") and claims its namespaces by their block devices, keyed by
// namespace identifier. The claim is exclusive: a namespace that is mounted, in a volume group or claimed otherwise is an
// error that names it. Names are read from sysfs by the caller; they never follow from one another.
func Open(control string, namespaces map[uint32]string) (*Transport, error) {
	f, err := os.OpenFile(control, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open nvme controller: %w", err)
	}
	t := &Transport{control: f, namespaces: make(map[uint32]*os.File, len(namespaces))}
	for id, path := range namespaces {
		n, err := os.OpenFile(path, os.O_RDWR|unix.O_EXCL|unix.O_DIRECT, 0)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("claim nvme namespace %d: %w", id, err), t.Close())
		}
		t.namespaces[id] = n
	}
	return t, nil
}

// Admin sends an admin command. EINTR and a vanished controller are a [*nvme.UnknownOutcomeError] and never retried: the
// kernel reports a command that it cancelled with a controller reset as EINTR.
func (t *Transport) Admin(ctx context.Context, c nvme.Command, buf []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if uint32(len(buf)) < c.DataLen {
		return fmt.Errorf("nvme command 0x%02x: buffer of %d bytes for %d bytes of data", c.Opcode, len(buf), c.DataLen)
	}
	var addr unsafe.Pointer
	if len(buf) > 0 {
		addr = unsafe.Pointer(unsafe.SliceData(buf))
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	if addr != nil {
		pin.Pin(addr)
	}
	cmd := c.Passthru(uint64(uintptr(addr)))
	status, _, errno := unix.Syscall(unix.SYS_IOCTL, t.control.Fd(), ioctlAdmin, uintptr(unsafe.Pointer(&cmd)))
	runtime.KeepAlive(t.control)
	switch {
	case errno == unix.EINTR || errno == unix.ENODEV || errno == unix.ENXIO || errno == unix.EIO:
		return &nvme.UnknownOutcomeError{Opcode: c.Opcode, Err: errno}
	case errno != 0:
		return fmt.Errorf("nvme command 0x%02x: %w", c.Opcode, errno)
	case status != 0:
		return &nvme.StatusError{Opcode: c.Opcode, Status: nvme.Status(status)}
	}
	return nil
}

// Zero zeroes a range of a namespace with BLKZEROOUT and flushes it.
func (t *Transport) Zero(ctx context.Context, namespace uint32, offset, length int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := t.namespace(namespace)
	if err != nil {
		return err
	}
	arg := [2]uint64{uint64(offset), uint64(length)}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), ioctlZeroOut, uintptr(unsafe.Pointer(&arg))); errno != 0 {
		return fmt.Errorf("zero namespace %d at %d: %w", namespace, offset, errno)
	}
	return f.Sync()
}

// ReadAt reads from a namespace past the page cache; offset and length are multiples of the block size.
func (t *Transport) ReadAt(ctx context.Context, namespace uint32, buf []byte, offset int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := t.namespace(namespace)
	if err != nil {
		return err
	}
	direct := aligned(len(buf))
	if _, err := f.ReadAt(direct, offset); err != nil {
		return fmt.Errorf("read namespace %d at %d: %w", namespace, offset, err)
	}
	copy(buf, direct)
	return nil
}

// Close releases the controller and its namespaces.
func (t *Transport) Close() error {
	errs := []error{t.control.Close()}
	for _, f := range t.namespaces {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (t *Transport) namespace(id uint32) (*os.File, error) {
	if f, ok := t.namespaces[id]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("nvme namespace %d was not opened", id)
}

// aligned returns n bytes that start at a page boundary, as O_DIRECT wants.
func aligned(n int) []byte {
	b := make([]byte, n+alignment)
	skip := (alignment - int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))%alignment)) % alignment
	return b[skip : skip+n : skip+n]
}
