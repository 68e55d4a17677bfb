// Command rpc measures a call round trip over RabbitMQ: this project's client and server, bare amqp091-go with the same
// confirm and mandatory settings, and the Python peers, all in one run.
//
// Competitors take turns; what counts is the median of the rounds and the ratio within one run. The machine's noise is in
// every column alike.
//
//	rpc -url rabbit://guest:guest@127.0.0.1:5672/vhost [-peer CHROOT] [-rounds 5] [-seconds 2]
//
// -peer names a folder with oslo.messaging (see .ci/peer-chroot); without it the Python columns stay empty.
package main
