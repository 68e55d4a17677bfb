package nvmesim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/nvme"
	"github.com/go-cyborg/cyborg/nvme/nvmesim"
)

func TestSanitizeErasesEverything(t *testing.T) {
	t.Parallel()
	d := nvmesim.New(nvmesim.Config{SanitizeCrypto: true, Namespaces: 2, Steps: 3})
	secret := []byte("a tenant's secret")
	if err := d.Write(2, secret, 4096); err != nil {
		t.Fatal(err)
	}
	command := nvme.Sanitize(nvme.SanitizeCrypto)
	if err := d.Admin(t.Context(), command, nil); err != nil {
		t.Fatal(err)
	}
	if !d.Holds(secret) {
		t.Error("completion of the command already erased: it only starts the sanitize")
	}
	buf := make([]byte, 512)
	for range 3 {
		if err := d.Admin(t.Context(), nvme.GetLog(0x81, 512), buf); err != nil {
			t.Fatal(err)
		}
	}
	if log := nvme.DecodeSanitizeLog(buf); !log.Done(command.CDW10) {
		t.Errorf("log = %+v", log)
	}
	if d.Holds(secret) {
		t.Error("the secret survived")
	}
}

func TestUnsupportedIsRejected(t *testing.T) {
	t.Parallel()
	d := nvmesim.New(nvmesim.Config{})
	for _, c := range []nvme.Command{nvme.Sanitize(nvme.SanitizeBlock), nvme.Format(1, 0, nvme.EraseUserData, time.Second)} {
		status, ok := errors.AsType[*nvme.StatusError](d.Admin(t.Context(), c, nil))
		if !ok || !status.Status.Unsupported() {
			t.Errorf("command 0x%02x: %v", c.Opcode, status)
		}
	}
}

func TestStalledAndFailedSanitize(t *testing.T) {
	t.Parallel()
	for want, c := range map[nvme.SanitizeStatus]nvmesim.Config{
		nvme.SanitizeInProgress: {SanitizeBlock: true, Stall: true},
		nvme.SanitizeFailed:     {SanitizeBlock: true, Fail: true},
	} {
		d, buf := nvmesim.New(c), make([]byte, 512)
		if err := d.Admin(t.Context(), nvme.Sanitize(nvme.SanitizeBlock), nil); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if err := d.Admin(t.Context(), nvme.GetLog(0x81, 512), buf); err != nil {
				t.Fatal(err)
			}
		}
		if got := nvme.DecodeSanitizeLog(buf).Status; got != want {
			t.Errorf("status %d, want %d", got, want)
		}
	}
}
