package nvme_test

import (
	"fmt"

	"github.com/go-cyborg/cyborg/nvme"
)

func ExampleNewPlan() {
	controller := nvme.Controller{SanitizeBlock: true, Format: true}
	plan, err := nvme.NewPlan(controller, nvme.Topology{Exclusive: true, Writable: true}, nvme.Policy{})
	fmt.Println(plan.Attempts, err)

	_, err = nvme.NewPlan(controller, nvme.Topology{Exclusive: true}, nvme.Policy{Strategy: nvme.StrategyCrypto})
	fmt.Println(err)
	// Output:
	// [sanitize-block format-user zero] <nil>
	// clear_action auto with clear_strategy crypto is not possible: the controller does not support it (SANICAP=0x0, FNA=0x0, format=true, write zeroes=false)
}
