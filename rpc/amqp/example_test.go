package amqp_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/rpc/amqp"
)

func ExampleOpen() {
	t, err := amqp.Open(amqp.Config{
		URL:             "rabbit://user:secret@h1:5672,user:secret@h2:5672/vhost?rabbit_quorum_queue=true",
		ControlExchange: "cyborg",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(t.Health()), "links until the first call")
	fmt.Println(t.Close(context.Background()))

	_, err = amqp.Open(amqp.Config{URL: "amqp://h/", Options: amqp.Options{StreamFanout: true, Prefetch: 10}})
	fmt.Println(err)
	// Output:
	// 0 links until the first call
	// <nil>
	// transport_url: scheme amqp:// is not supported: use rabbit://
	// [oslo_messaging_rabbit] rabbit_stream_fanout = "true": needs rabbit_transient_quorum_queue = true
}

func ExampleParseURL() {
	u, err := amqp.ParseURL("rabbit://nova:p%40ss@[::1]:5673,nova:x@h2/cell%2F1")
	fmt.Println(u.Hosts[0].Address(), u.Hosts[1].Address(), u.VHost, err)
	// Output: [::1]:5673 h2:5672 cell/1 <nil>
}
