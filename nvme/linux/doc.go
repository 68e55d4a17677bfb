// Package linux carries NVMe commands to drives of this host through the kernel's ioctl interface.
//
// It is the only code that issues ioctls. On other systems [Open] returns an error that is [errors.ErrUnsupported].
// It needs CAP_SYS_ADMIN and access to the character device of the controller and the block devices of its namespaces.
//
// Numbers and layouts are those of linux/nvme_ioctl.h and linux/fs.h.
package linux
