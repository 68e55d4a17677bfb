package conductor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/glance"
)

// functionTrait starts the trait that names the function an FPGA carries.
const functionTrait = "CUSTOM_FPGA_FUNCTION_ID"

// program does the programming that a started bind owes and returns the image that was loaded.
func (m *Manager) program(ctx context.Context, r arq.Request) (bitstream string, err error) {
	image, err := m.image(ctx, r)
	if err != nil {
		return "", err
	}
	d, _, err := m.cfg.Store.Device(ctx, r.Device.UUID)
	if err != nil {
		return "", err
	}
	driver := ""
	for i := range d.Deployables {
		if d.Deployables[i].ID == r.DeployableID {
			driver = deref(d.Deployables[i].DriverName)
		}
	}
	if !json.Valid([]byte(d.ControlPath.Info)) {
		return "", fmt.Errorf("cpid_info of device %s is no JSON: %s", d.UUID, d.ControlPath.Info)
	}
	if err := m.cfg.Store.StartProgramming(ctx, r.UUID); err != nil {
		return "", err
	}
	done, err := m.cfg.Agents.FPGAProgram(ctx, r.Hostname, cyborgrpc.FPGAProgramArgs{
		ControlpathID: cyborgrpc.ControlpathDict{
			ID: d.ControlPath.ID, UUID: d.ControlPath.UUID, DeviceID: d.ID, CpidType: d.ControlPath.Type,
			CpidInfo: json.RawMessage(d.ControlPath.Info),
		},
		BitstreamUUID: image.ID, DriverName: driver,
	})
	switch {
	case err != nil:
		return "", err
	case !done:
		return "", fmt.Errorf("driver %s on %s could not program image %s", driver, r.Hostname, image.ID)
	case image.FunctionID == "":
		return image.ID, nil
	case m.cfg.Providers == nil:
		return "", errors.New("traits of providers cannot be written by this conductor")
	}
	return image.ID, m.cfg.Providers.ReplaceTraits(ctx, r.DeviceRPUUID, functionTrait, functionTraitOf(driver, image.FunctionID))
}

// image looks up what the request's profile wants loaded.
func (m *Manager) image(ctx context.Context, r arq.Request) (glance.Image, error) {
	want, err := r.Group.Program()
	switch {
	case err != nil:
		return glance.Image{}, err
	case m.cfg.Images == nil:
		return glance.Image{}, errors.New("no image service is configured: set auth_type and its options in [glance]")
	case want.FunctionID != "":
		image, err := m.cfg.Images.ByFunction(ctx, want.FunctionID)
		image.FunctionID = want.FunctionID
		return image, err
	}
	return m.cfg.Images.ByID(ctx, want.BitstreamID)
}

var notOfTrait = regexp.MustCompile(`[^A-Z0-9_]`)

// functionTraitOf is the trait of a function. Cyborg 17 writes "_-" for a dash, which Placement refuses.
func functionTraitOf(driver, function string) string {
	return notOfTrait.ReplaceAllString(strings.ToUpper(functionTrait+"_"+driver+"_"+function), "_")
}
