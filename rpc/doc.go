// Package rpc calls methods of other processes, and serves such calls, the way OpenStack's oslo.messaging does: by topic,
// with versions, over a message broker. Programs written with it and services written in Python call each other in both
// directions.
//
// # Model
//
// A [Method] is a value that names a remote method, its arguments, its result and the version of the interface which
// introduced it. Clients call it, servers implement it:
//
//	var Ping = rpc.NewMethod[PingArgs, string]("ping", "1.0")
//
//	answer, err := Ping.Call(ctx, remote, PingArgs{Who: "you"})
//	Ping.Handle(endpoint, func(ctx context.Context, a PingArgs) (string, error) { … })
//
// A [Target] says where: an exchange, a topic, one server of the topic or all of them. A [Remote] is a target together
// with the [Client] that reaches it and the version cap that applies; it is a plain value, derived by copying. A [Server]
// consumes a topic and hands requests to its [Endpoint] values, each with a namespace and a version.
//
// Call waits for the answer. Cast returns when the broker has taken the request and put it into a queue; whether it is run
// is never known. CastAll casts to every server of the topic.
//
// # Versions
//
// Versions are major.minor and follow one rule, [Version.Supports]: equal major, minor not above. A server refuses what its
// endpoint does not support; a client refuses, before anything is sent, what its remote's cap does not allow. A cap is a
// ceiling: it never changes the version of what is sent.
//
// # Errors
//
// A failure of the remote method is a [RemoteError] with the Python class, or, if the [Exceptions] table of the client
// knows the class, an error that also unwraps to the program's own type. See the table's comment for the rules. A call that got no answer
// in time is a [TimeoutError], which says how far the message got; a request no queue takes is [ErrUndeliverable].
//
// # Delivery
//
// A request is acknowledged before it is run, so a crash while it runs loses it: at most once. A client sends a request a
// second time only if the method is declared [Method.Idempotent] and the connection was lost before the broker confirmed
// it, or before the reply came. Servers drop repetitions they can recognise.
//
// # Transports
//
// Package rpc knows no broker. It speaks through the [Transport] interface, which carries encoded bodies; package rpc/amqp
// implements it for RabbitMQ and package rpc/memory within the process. Everything else, from correlation to heartbeats,
// is here and so the same over both.
//
// All types are safe for concurrent use unless their comment says otherwise. The wire format is envelope 2.0 of
// oslo.messaging, as written by versions 14 to 18.
package rpc
