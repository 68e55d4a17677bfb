// Package messaging makes the daemons' parts of the message bus from their configuration. It is the one place that
// reads [DEFAULT] transport_url, control_exchange, rpc_response_timeout, executor_thread_pool_size,
// graceful_shutdown_timeout and rpc_ping_enabled, [oslo_messaging_rabbit] and [upgrade_levels].
//
//	metrics := messaging.NewMetrics(registry, "cyborg-agent")
//	bus, err := messaging.Open(cfg, log, metrics)
//	client := messaging.NewClient(cfg, bus, wire, log, metrics)
//	limits, err := messaging.Limits(cfg)
//	conductor, err := cyborgrpc.NewConductorAPI(client, wire, limits)
//
// Nothing here connects: the transport does with the first message, and tries for ever. [Check] finds what no
// transport could be opened with.
package messaging
