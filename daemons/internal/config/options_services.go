package config

import (
	"slices"

	"github.com/go-cyborg/cyborg/daemons/internal/upgradelevels"
)

func agentOptions(f Facts) []Option {
	return group("agent", []Option{
		{Name: "enabled_drivers", Kind: List, Default: []string{"fake_driver"}, Help: "driver names loaded in order"},
		{Name: "resource_provider_name", Default: f.FQDN, Help: "Placement provider (hypervisor) name of this host; falls back to [DEFAULT] host"},
		{Name: "resource_provider_startup_retries", Kind: Int, Default: 3, Min: new(0.0), Help: "provider lookups repeated at start (min 0), sleeps 1,2,4,... s"},
	})
}

func apiOptions() []Option {
	return group("api", []Option{
		{Name: "api_paste_config", Default: "api-paste.ini", Inert: true, Help: "paste file, searched in config dirs"},
		{Name: "api_workers", Kind: Int, Inert: true, Help: "workers (default CPU count)"},
		{Name: "enable_ssl_api", Kind: Bool, Default: false, Help: "TLS in the built-in server"},
		{Name: "host_ip", Kind: HostAddr, Default: "127.0.0.1", Help: "listen address of the built-in server"},
		{Name: "port", Kind: Port, Default: 6666, Help: "listen port"},
		{Name: "public_endpoint", Help: "base URL for links"},
		{Name: "auth_strategy", Default: "keystone", Choices: []string{"keystone", "noauth"}, Ours: true, Help: "keystone checks tokens; noauth makes every caller an administrator and listens on loopback addresses only"},
	})
}

// conductorOptions are ours alone.
func conductorOptions() []Option {
	return group("conductor", []Option{
		{Name: "report_reply_budget", Kind: Float, Default: 5.0, Min: new(0.0), Ours: true, Help: "seconds a report waits for Placement before it is answered; the run goes on"},
		{Name: "placement_workers", Kind: Int, Default: 4, Min: new(1.0), Ours: true, Help: "devices of a report written to Placement at once"},
	})
}

func gpuOptions() []Option {
	return group("gpu_devices", []Option{
		{Name: "enabled_vgpu_types", Kind: List, Default: []string{}, Help: "mdev types; each needs a [vgpu_TYPE] section with device_addresses"},
		{Name: "filter_sriov_vfs", Kind: Bool, Default: false, Help: "skip GPU virtual functions"},
	})
}

func nicOptions() []Option {
	return group("nic_devices", []Option{
		{Name: "enabled_nic_types", Kind: List, Default: []string{}, Help: "section names registered for NIC mappings; the driver itself reads only [x710_static]"},
	})
}

func nvmeOptions() []Option {
	return group("nvme", []Option{
		{Name: "cleanup_timeout", Kind: Int, Default: 900, Min: new(60.0), Help: "cleanup time limit s (min 60); unused in 17.0.0"},
		{Name: "device_spec", Kind: MultiStr, Help: "JSON objects selecting NVMe devices (vendor_id, product_id, address glob or dict, clear_action auto/sanitize/zero, clear_strategy auto/crypto/block); registered but used by no code in 17.0.0"},
	})
}

// pciOptions select the host's PCI devices; device_spec has its former name of
// 17.0.0 beside it.
func pciOptions() []Option {
	return group("pci", []Option{
		{Name: "device_spec", Kind: MultiStr, Deprecated: []Name{{Option: "passthrough_whitelist"}}, Help: "JSON object or list of objects selecting devices of pci_driver"},
		{Name: "exclude_list", Kind: List, Default: []string{}, Ours: true, Help: "PCI addresses that are never selected"},
	})
}

// upgradeLevelOptions are the caps of the RPC clients (specification "Versioned
// Object Indirection Support").
func upgradeLevelOptions() []Option {
	conductor, agent := upgradelevels.Conductor(), upgradelevels.Agent()
	return group("upgrade_levels", []Option{
		{Name: conductor.Option, Default: conductor.Default, Ours: true, Validate: versionCap(conductor.Allowed), Help: "highest conductor RPC version that clients send"},
		{Name: agent.Option, Default: agent.Default, Ours: true, Validate: versionCap(agent.Allowed), Help: "highest agent RPC version that clients send"},
	})
}

// operationsOptions are ours alone: what operators need around the daemons.
func operationsOptions() []Option {
	return slices.Concat(
		group("workarounds", []Option{
			{Name: "allow_unsafe_devices", Kind: Bool, Default: false, Ours: true, Help: "admit devices of classes that the class guard refuses"},
		}),
		group("operations", []Option{
			{Name: "listen", Ours: true, Help: "address:port or unix:/path of the operations listener (/healthz, /readyz, /metrics, /debug/report); unset: none"},
		}),
		group("oslo_reports", []Option{
			{Name: "log_dir", Ours: true, Help: "directory for reports made on SIGUSR2; unset: standard error"},
		}),
		group("healthcheck", []Option{
			{Name: "disable_by_file_path", Ours: true, Help: "while this file exists /healthcheck answers 503"},
		}),
	)
}
