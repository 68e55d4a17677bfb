// Package amqp carries rpc over RabbitMQ, byte for byte as oslo.messaging's rabbit driver does, so that Go and Python
// services share one bus in any mix. Contract: oslo.messaging 18.3; 14.0 and 16.1 interoperate.
//
// # Use
//
//	t, err := amqp.Open(amqp.Config{URL: "rabbit://user:secret@h1:5672,user:secret@h2:5672/vhost", ControlExchange: "cyborg"})
//	defer t.Close(ctx)
//	client := rpc.NewClient(t, rpc.ClientConfig{})
//
// [Open] validates and starts nothing; the first Send or Listen connects. [Config] and [Options] say what can be chosen;
// options have the names and defaults of [oslo_messaging_rabbit] and may also stand in the query of the URL.
//
// # Connections
//
// A link is one connection with one channel and one job: one for publishing, one for the replies, one for each server.
// A connection is the unit of failure: any error, cancelled consumer or refused declaration ends the session, and the link
// opens another, declares everything again under the same names and goes on. It never gives up. [Transport.Health] tells
// the state of each link; what an operator must change (credentials, a mismatching queue) is logged once per change.
//
// # What a lost connection means
//
// A message whose publish did not complete is sent first on the next connection. One that was written but not confirmed is
// sent again only if [rpc.Message] says that it may, or if the broker lost the exchange before; otherwise its sender is told
// [rpc.ErrUnconfirmed]. Messages to an exchange that the user may not write to fail with [AccessError]. While the broker
// is short of memory or disk nothing is taken from the outbox. Messages that wait together are written together; a message
// held back for the others counts as written.
//
// # Concurrency
//
// A Transport is safe for concurrent use. It owns the goroutines of its links; Close stops and waits for them.
package amqp
