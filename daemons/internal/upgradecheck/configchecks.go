package upgradecheck

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/drivers"
	pcidriver "github.com/go-cyborg/cyborg/daemons/internal/drivers/pci"
	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

// ssdDriverName is the generic SSD driver's name in [agent] enabled_drivers.
const ssdDriverName = "inspur_nvme_ssd_driver"

// calledDrivers are the drivers whose agent the conductor calls, to program a
// device or to create an mdev.
var calledDrivers = []string{"nvidia_gpu_driver", "intel_fpga_driver", "inspur_fpga_driver", "xilinx_fpga_driver"}

// policyFile is the peer's check: a policy file in JSON is read no longer.
func (c *checks) policyFile(context.Context) Result {
	name := c.config.String("oslo_policy", "policy_file")
	for _, path := range c.candidates(name) {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil && json.Valid(text) {
			return result(Failure, "Your policy file is JSON-formatted which is deprecated. You need to switch to YAML-formatted file."+
				" Use the ``oslopolicy-convert-json-to-yaml`` tool to convert the existing JSON-formatted files to YAML in a backwards-compatible manner:"+
				" https://docs.openstack.org/oslo.policy/latest/cli/oslopolicy-convert-json-to-yaml.html.")
		}
		break
	}
	return Result{Code: Success}
}

// candidates are the places of a file named in the configuration.
func (c *checks) candidates(name string) []string {
	if name == "" || filepath.IsAbs(name) {
		return []string{name}
	}
	var out []string
	for _, file := range c.config.Files() {
		out = append(out, filepath.Join(filepath.Dir(file), name))
	}
	return append(out, filepath.Join("/etc/cyborg", name), filepath.Join("/etc", name))
}

// optionNames finds the name that [pci] device_spec had in 17.0.0.
func (c *checks) optionNames(context.Context) Result {
	var places []string
	for _, e := range c.config.Entries("pci", "device_spec") {
		if e.Origin.As.Option == pci.OptionPassthroughWhitelist {
			places = append(places, e.Origin.String())
		}
	}
	if len(places) == 0 {
		return result(Success, "No former option name is used.")
	}
	return result(Warning, "[pci] passthrough_whitelist is now [pci] device_spec; rename it at %s.", strings.Join(places, ", "))
}

// selector reads the options of the generic PCI driver as its agent will.
func (c *checks) selector() (pci.Selector, error) {
	o := drivers.OptionsOf(c.config)
	spec, specErr := pci.ParseDeviceSpec(o.DeviceSpec, specschema.Check)
	exclude, excludeErr := pci.ParseExcludeList(o.ExcludeList, o.ExcludePlace)
	return pci.Selector{Spec: spec, Exclude: exclude, AllowUnsafe: o.AllowUnsafe}, errors.Join(specErr, excludeErr)
}

// optionValues applies the strict rules of 2027.1 to the configured entries.
func (c *checks) optionValues(context.Context) Result {
	if _, err := c.selector(); err != nil {
		code := Failure
		if !c.enabled(pcidriver.Name) {
			code = Warning // they stop an agent only with the driver
		}
		return result(code, "An agent of 2027.1 refuses these options: %s", flat(err))
	}
	return result(Success, "[pci] device_spec and exclude_list are accepted.")
}

func (c *checks) enabled(names ...string) bool {
	return slices.ContainsFunc(c.config.List("agent", "enabled_drivers"), func(d string) bool { return slices.Contains(names, d) })
}

// flat is an error's text on one line.
func flat(err error) string { return strings.Join(strings.Split(err.Error(), "\n"), "; ") }

// unsafeDevices lets the rules select on this host.
func (c *checks) unsafeDevices(context.Context) Result {
	if !c.enabled(pcidriver.Name) {
		return skipped("%s is not enabled here; run the check with the configuration of each compute host", pcidriver.Name)
	}
	s, err := c.selector()
	switch {
	case err != nil:
		return skipped("the options are not valid, see the check before")
	case c.pci == nil:
		return skipped("this host's PCI tree cannot be read here")
	}
	devices, _, err := c.pci.Scan()
	if err != nil {
		return skipped("this host's PCI tree cannot be read: %v", err)
	}
	selection := s.Select(devices)
	if err := selection.Err(); err != nil {
		return result(Failure, "The agent of this host will not start: %s", flat(err))
	}
	var unsafe []string
	for _, d := range selection.Selected() {
		if d.Unsafe {
			unsafe = append(unsafe, d.Device.Address.String())
		}
	}
	if unsafe != nil {
		return result(Warning, "[workarounds] allow_unsafe_devices admits devices that are never cleaned between tenants: %s", strings.Join(unsafe, ", "))
	}
	return result(Success, "No selected device of this host is of an excluded class.")
}

// ssdDriver finds the driver that 2027.1 loads only with the workaround.
func (c *checks) ssdDriver(context.Context) Result {
	switch {
	case !c.enabled(ssdDriverName):
		return result(Success, "The generic SSD driver is not enabled here.")
	case c.config.Bool("workarounds", "allow_unsafe_devices"):
		return result(Warning, "%s is deprecated: it does not clean devices between tenants. Plan the move to the NVMe driver.", ssdDriverName)
	}
	return result(Failure, "The agent will not start: %s needs [workarounds] allow_unsafe_devices = true, because it does not clean devices between tenants.", ssdDriverName)
}

// upgradeLevels checks the caps of the RPC clients.
func (c *checks) upgradeLevels(context.Context) Result {
	var problems []string
	for _, option := range []string{"conductor", "agent"} {
		if _, err := c.config.Value("upgrade_levels", option); err != nil {
			problems = append(problems, flat(err))
		}
	}
	if problems != nil {
		return result(Failure, "%s", strings.Join(problems, "; "))
	}
	return result(Success, "[upgrade_levels] conductor = %s, agent = %s.",
		c.config.String("upgrade_levels", "conductor"), c.config.String("upgrade_levels", "agent"))
}

// agentAddressing compares the name that ARQs carry with the name that the
// agent listens under.
func (c *checks) agentAddressing(context.Context) Result {
	if !c.enabled(calledDrivers...) {
		return skipped("no driver enabled here is called by the conductor")
	}
	host, provider := c.config.String("DEFAULT", "host"), c.config.String("agent", "resource_provider_name")
	if host == provider {
		return result(Success, "[DEFAULT] host is the name of the host's resource provider.")
	}
	return result(Warning, "[DEFAULT] host is %q and [agent] resource_provider_name is %q: where Placement has a provider of the latter name,"+
		" programming and mdev calls of the conductor do not reach this agent. Set both to the hypervisor's host name.", host, provider)
}
