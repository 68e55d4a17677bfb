package nova_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/nova"
)

func ExampleRecorder() {
	events, err := nova.Events([]arq.Request{{UUID: "arq-1", State: arq.Bound, InstanceUUID: "instance-1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var r nova.Recorder
	if err := r.Notify(context.Background(), events); err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range r.Bodies()[0].Events {
		fmt.Println(e.Name, e.ServerUUID, e.Tag, e.Status)
	}
	// Output: accelerator-request-bound instance-1 arq-1 completed
}
