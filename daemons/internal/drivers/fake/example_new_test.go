package fake_test

import (
	"context"
	"fmt"

	"github.com/go-cyborg/cyborg/daemons/internal/drivers/fake"
)

func ExampleNew() {
	devices, err := fake.New("compute-1").Discover(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	deployable := devices[0].DeployableList.Value()[0]
	fmt.Println(deployable.Name.Value(), deployable.NumAccelerators.Value())
	// Output: compute-1_FakeDevice 16
}
