// Package memory carries RPC within a process: a message broker in a value, for embedded services and for tests.
//
// A [Bus] is an [rpc.Transport] with the semantics of RabbitMQ as oslo.messaging uses it: topic and fanout exchanges, queues that stay
// when their consumers leave, competing consumers, prefetch, expiry, redelivery of what was not acknowledged, and messages that no
// queue takes. Bodies are the encoded ones, so whatever works here uses the same codec as over a real broker.
//
// Nothing survives the process, nothing is bounded but by the messages' expiry, and the bus never loses a connection.
// It starts no goroutines: messages are delivered by the goroutines that call [Bus.Listen].
package memory
