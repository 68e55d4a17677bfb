// Package agent is Cyborg's compute-host agent as an importable package: it asks drivers for the host's
// accelerators, checks them against what is persisted, and reports them to the conductor.
//
// # Use
//
// A custom agent is a main package that makes the drivers and an [Agent] and runs it:
//
//	conductor, err := agent.Connect(transport, agent.ConnectConfig{})
//	a, err := agent.New(agent.Config{
//		Hostname:  "compute-1.example.org", // name of the host's resource provider
//		Drivers:   []agent.Driver{mine},
//		Conductor: conductor,
//		Inventory: conductor.Inventory(),
//	})
//	err = a.Run(ctx)
//
// # Phases
//
// Run starts in two phases (specification "Support VFIO variant driver managed mode", Startup and periodic
// reporting). Phase one validates local configuration: [Driver.InitHost] of every driver, the check of the
// conductor's RPC cap included. It sends nothing. Phase two is the first discovery, the reconciliation of
// managed mode with persisted state, and the first report. A [ConfigError] in either phase ends Run; anything
// else in phase two is logged and left to the periodic report, which repeats phase two every Config.Interval
// until the context ends. A ConfigError there withholds that report and the agent goes on.
//
// # What a report carries
//
// Persisted handles keep their identity: the report sends the persisted bytes of cpid_info and attach_info for
// every device it matched, after any in-place update, so that a conductor which compares text sees no change.
// A withheld report changes nothing. While a driver fails, the others' devices are reported and every persisted
// device that none of them found is sent as a stub, which freezes it: whose it is cannot be told, and nothing is
// taken for missing. That needs indirection; without it the whole report waits.
//
// # What it does not do
//
// It never reads configuration files, opens a database or talks to Placement. The objects it reads and updates
// are run by the conductor through the indirection it is given.
package agent
