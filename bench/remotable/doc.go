// Command remotable measures a remotable call over RabbitMQ beside an ordinary RPC call with the same answer, and beside one
// whose answer is ready bytes that nobody reads. They take turns in one run; medians are printed as a section of
// docs/benchmarks.md.
//
//	remotable -url rabbit://guest:guest@127.0.0.1:5672/vhost [-rounds 1000]
package main
