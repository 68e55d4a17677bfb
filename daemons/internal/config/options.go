package config

import "slices"

// Facts are what the defaults of some options depend on.
type Facts struct {
	// Hostname and FQDN are the host's names; the RPC server takes the first,
	// the lookup of the compute provider the second.
	Hostname, FQDN string
	// Program is the daemon's name: cyborg-agent, cyborg-conductor, ….
	Program string
}

// Options declares every option of the daemons: those of Cyborg 17.0.0 with its
// libraries, and our own ([Option.Ours]). One table serves all daemons, since
// they share one file.
func Options(f Facts) []Option {
	return slices.Concat(
		defaultOptions(f),
		agentOptions(f),
		apiOptions(),
		conductorOptions(),
		databaseOptions(),
		gpuOptions(),
		authTokenOptions(),
		nicOptions(),
		adapterOptions("nova", "compute"),
		nvmeOptions(),
		rabbitOptions(f),
		notificationOptions(),
		policyOptions(),
		middlewareOptions(),
		pciOptions(),
		adapterOptions("placement", "placement"),
		serviceUserOptions(),
		upgradeLevelOptions(),
		operationsOptions(),
		inertOptions(),
	)
}

// group puts the options into a group.
func group(name string, options []Option) []Option {
	for i := range options {
		options[i].Group = name
	}
	return options
}
