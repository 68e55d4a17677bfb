package placement_test

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
)

func ExampleNewNoAuth() {
	ctx := context.Background()
	service := placementtest.New(nil)
	root, _ := service.Placement.CreateProvider("", "compute-1", "")
	client := placement.NewNoAuth("http://placement.invalid", placementtest.Client(service), placement.Config{})

	generation, err := client.Sync(ctx, reconcile.ProviderState{
		UUID: reconcile.ProviderUUID("compute-1_card"), Name: "compute-1_card", Parent: root.UUID,
		Class: "CUSTOM_PCI", Traits: []string{"OWNER_CYBORG"}, Total: 1,
	})
	fmt.Println(generation, err)
	tree, err := client.Tree(ctx, "compute-1")
	fmt.Println(len(tree.Providers), tree.Providers[1].Name, err)
	// Output:
	// 2 <nil>
	// 2 compute-1_card <nil>
}

func ExampleNew() {
	service := placementtest.New(nil)
	// Usually made by openstack.NewPlacementV1 after a login.
	authenticated := &gophercloud.ServiceClient{
		ProviderClient: &gophercloud.ProviderClient{HTTPClient: *placementtest.Client(service), TokenID: "token"},
		Endpoint:       "http://placement.invalid/",
	}
	client := placement.New(authenticated, placement.Config{})
	_, err := client.Tree(context.Background(), "compute-1")
	fmt.Println(err)
	// Output: placement has no resource provider named "compute-1": check that nova-compute of this host runs and that [agent] resource_provider_name is the hypervisor's host name
}
