package nvmesim_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/nvme"
	"github.com/go-cyborg/cyborg/nvme/nvmesim"
)

func ExampleNew() {
	drive, page := nvmesim.New(nvmesim.Config{Model: "simulated", Serial: "S1", SanitizeBlock: true}), make([]byte, nvme.PageSize)
	if err := drive.Admin(context.Background(), nvme.Identify(1, 0), page); err != nil {
		fmt.Println(err)
	}
	controller, err := nvme.DecodeController(page)
	fmt.Println(controller.Model, controller.SanitizeBlock, err)
	// Output: simulated true <nil>
}
