package linux_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-cyborg/cyborg/nvme/linux"
)

func TestOpenNamesWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "nvme7")
	if _, err := linux.Open(missing, nil); err == nil {
		t.Fatal("a controller that does not exist was opened")
	}
	control := filepath.Join(t.TempDir(), "nvme0")
	if err := os.WriteFile(control, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := linux.Open(control, map[uint32]string{1: missing}); err == nil {
		t.Fatal("a namespace that does not exist was claimed")
	}
}
