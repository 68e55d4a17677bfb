// Package standalone runs Cyborg's services in one process with embedded defaults: SQLite for the database, an
// in-process bus for RabbitMQ, an in-process Placement behind HTTP, and a notifier that records what Nova would
// be told. It is for trying Cyborg out and for demonstrations; the REST API asks for no token, so it listens on
// loopback addresses only.
//
// Between the services everything is as in a deployment: objects cross the bus as oslo.versionedobjects
// primitives in oslo.messaging envelopes, the conductor talks HTTP to Placement, the agent never sees the
// database.
//
//	services, err := standalone.Open(ctx, standalone.Config{StateDir: dir, Listen: "127.0.0.1:6666", Hosts: []string{"compute-1"}})
//	go services.Run(ctx)
//	err = services.RunAgent(ctx, standalone.AgentConfig{Config: cfg, Sysfs: "/sys"})
package standalone
