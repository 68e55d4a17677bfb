package standalone_test

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/go-cyborg/cyborg/daemons/internal/standalone"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "standalone-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	services, err := standalone.Open(ctx, standalone.Config{StateDir: dir, Listen: "127.0.0.1:0", Hosts: []string{"compute-1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- services.Run(ctx) }()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(services.URL() + "/v2/devices")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Status, answer.Body.Close())
	stop()
	fmt.Println(<-ended)
	// Output:
	// 200 OK <nil>
	// <nil>
}
