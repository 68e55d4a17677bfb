//go:build !linux

package linux

import (
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/nvme"
)

// Open is not available on this system.
func Open(string, map[uint32]string) (nvme.Transport, error) {
	return nil, fmt.Errorf("nvme ioctls: %w", errors.ErrUnsupported)
}
