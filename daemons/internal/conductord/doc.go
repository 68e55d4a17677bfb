// Package conductord is the process cyborg-conductor: it makes a conductor of package conductor from cyborg.conf and
// serves it on the message bus, topic cyborg-conductor.
//
//	daemon := conductord.Daemon{}
//	os.Exit(daemon.Main(ctx, service.Invocation{…}))
//
// Remotable methods run here against the database: indirection is never set in this process. [upgrade_levels] limits
// what its clients send to agents, never what it accepts.
//
// # Placement and Nova
//
// [placement] and [nova] hold the credentials that log in to Keystone (package keystone); auth_type = none with
// endpoint_override names a service that asks for no token. Without auth_type in [placement] a Placement in the process
// stands in, which knows the host of [agent] resource_provider_name; without one in [nova] what Nova would be told is
// logged.
//
// # Commands
//
//	cyborg-conductor plan --hostname HOST [--report FILE] [--json]
//	cyborg-conductor forget-host HOST [--orphans]
//
// plan shows what the next report of a host would change and writes nothing; without a file the drivers of this machine
// say what there is. forget-host removes the rows and providers that a dead compute node left, and refuses while
// anything of it is allocated; with --orphans it removes only the providers without a row that plan names.
//
// # Database
//
// A SQLite file is created and brought to the current schema; a server's database must have it (cyborg-dbsync).
package conductord
