package glance_test

import (
	"fmt"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/glance"
)

func ExampleNew() {
	client := glance.New(&gophercloud.ServiceClient{ProviderClient: &gophercloud.ProviderClient{}, Endpoint: "http://glance.example/"})
	fmt.Println(client != nil)
	// Output: true
}
