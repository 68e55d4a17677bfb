// Package agentd is the process cyborg-agent: it makes an agent of package daemons/agent from cyborg.conf and runs
// it over the message bus.
//
// It reads and updates persisted objects through the conductor alone. Object indirection is wired before any object
// operation: the remotable methods are bound to the conductor's client, under the cap [upgrade_levels] conductor,
// when the process starts, and there is nothing else they could run on, since no database driver is linked.
//
//	daemon := agentd.Daemon{Sysfs: "/sys"}
//	os.Exit(daemon.Main(ctx, service.Invocation{…}))
//
// The agent answers on topic cyborg-agent at [DEFAULT] host. No driver of this build programs devices or makes
// mediated devices, so the interface (1.0) has no method yet: calls are answered with NoSuchMethod.
package agentd
