package linux_test

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-cyborg/cyborg/nvme/linux"
)

// A controller is opened together with the namespaces that are to be erased; what is missing is named.
func ExampleOpen() {
	_, err := linux.Open("/dev/nvme-that-is-gone", map[uint32]string{1: "/dev/nvme-that-is-gone-n1"})
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}
