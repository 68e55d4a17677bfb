package policy_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/internal/policy"
)

func ExampleNew() {
	e, err := policy.New(policy.Defaults(), nil, policy.Config{EnforceScope: true})
	if err != nil {
		panic(err)
	}
	member := policy.Values{"roles": []string{"member", "reader"}, "project_id": "p1", "is_admin": false}
	target := policy.Values{"project_id": "p1"}
	fmt.Println(e.Authorize("cyborg:arq:create", target, member))
	fmt.Println(e.Authorize("cyborg:device:disable", target, member))
	// Output:
	// <nil>
	// Access was denied to the following resource: cyborg:device:disable
}
