package keystone_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/internal/keystone"
)

func ExampleNew() {
	session, err := keystone.New(keystone.Options{Section: "placement", AuthType: "none", EndpointOverride: "http://placement.example"})
	fmt.Println(session.Service("placement").Type, err)
	// Output: placement <nil>
}
