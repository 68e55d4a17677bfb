package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/pci/sysfs"
)

// settings are what the operator of the story changes between two starts of the agent.
type settings struct {
	DeviceSpec  []string // values of [pci] device_spec
	Exclude     []string
	AllowUnsafe bool
	Cap         string // [upgrade_levels] conductor; "" is the default
}

// hostName is both [DEFAULT] host and the name of the host's resource provider.
const hostName = "compute-1"

// conf is the configuration file.
func (s settings) conf() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[DEFAULT]\nhost = %s\n\n[agent]\nenabled_drivers = pci_driver\nresource_provider_name = %s\n\n[pci]\n", hostName, hostName)
	for _, spec := range s.DeviceSpec {
		fmt.Fprintf(&b, "device_spec = %s\n", strings.ReplaceAll(spec, "$", "$$"))
	}
	fmt.Fprintf(&b, "exclude_list = %s\n\n[workarounds]\nallow_unsafe_devices = %t\n", strings.Join(s.Exclude, ","), s.AllowUnsafe)
	if s.Cap != "" {
		fmt.Fprintf(&b, "\n[upgrade_levels]\nconductor = %s\n", s.Cap)
	}
	return b.String()
}

// check finds what no step could play on: rules that are no JSON, a tree that cannot be read.
func (s settings) check(root string) error {
	for _, text := range s.DeviceSpec {
		if _, _, err := rulesOf(text); err != nil {
			return err
		}
	}
	_, _, err := sysfs.New(root).Scan()
	return err
}

// withManaged sets managed in every rule.
func (s settings) withManaged(managed bool) (settings, error) {
	return s.mapRules(func(rule map[string]any) { rule["managed"] = managed })
}

// withMisspelt misspells a key of the first rule; a rule without keys gets a misspelt one.
func (s settings) withMisspelt() (out settings, bad string, err error) {
	out, err = s.mapRules(func(rule map[string]any) {
		if bad != "" {
			return
		}
		key := "vendor_id"
		if len(rule) > 0 {
			key = slices.Max(slices.Collect(maps.Keys(rule)))
		}
		if bad = strings.ReplaceAll(key, "_", ""); bad == key {
			bad += "x"
		}
		rule[bad] = rule[key]
		delete(rule, key)
	})
	return out, bad, err
}

func (s settings) excluding(address string) settings {
	s.Exclude = append(slices.Clone(s.Exclude), address)
	return s
}

func (s settings) selecting(address string) settings {
	s.DeviceSpec = append(slices.Clone(s.DeviceSpec), fmt.Sprintf(`{"address": %q}`, address))
	return s
}

// mapRules changes every rule of every value.
func (s settings) mapRules(change func(rule map[string]any)) (settings, error) {
	out := s
	out.DeviceSpec = nil
	for _, text := range s.DeviceSpec {
		rules, list, err := rulesOf(text)
		if err != nil {
			return s, err
		}
		for _, r := range rules {
			change(r)
		}
		var value any = rules
		if !list {
			value = rules[0]
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return s, err
		}
		out.DeviceSpec = append(out.DeviceSpec, string(raw))
	}
	return out, nil
}

// rulesOf reads a value: one rule, or a list of them.
func rulesOf(text string) (rules []map[string]any, list bool, err error) {
	if json.Unmarshal([]byte(text), &rules) == nil {
		return rules, true, nil
	}
	rule := map[string]any{}
	if err := json.Unmarshal([]byte(text), &rule); err != nil {
		return nil, false, fmt.Errorf("device_spec %s: %w", text, err)
	}
	return []map[string]any{rule}, false, nil
}
