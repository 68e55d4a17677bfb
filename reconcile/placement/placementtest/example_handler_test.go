package placementtest_test

import (
	"fmt"
	"io"
	"net/http"

	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

func ExampleNew() {
	service := placementtest.New(nil)
	_, _ = service.Placement.CreateProvider("f867a04d-b2c1-4868-ba39-1dedf0bdd672", "compute-1", "")

	req, _ := http.NewRequest(http.MethodGet, "http://placement.invalid/resource_providers/f867a04d-b2c1-4868-ba39-1dedf0bdd672/usages", nil)
	req.Header.Set("OpenStack-API-Version", "placement 1.26")
	resp, err := placementtest.Client(service).Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Printf("%d %s %s", resp.StatusCode, resp.Header.Get("OpenStack-API-Version"), body)
	// Output: 200 placement 1.26 {"resource_provider_generation":0,"usages":{}}
}
