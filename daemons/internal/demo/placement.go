package demo

import (
	"context"
	"encoding/json"
	"net/http"
)

// placementVersion is the microversion of the storyteller's own requests.
const placementVersion = "placement 1.26"

// provider is a resource provider as Placement returns it.
type provider struct {
	Inventories map[string]struct {
		Total    int `json:"total"`
		Reserved int `json:"reserved"`
	} `json:"inventories"`
	Traits []string `json:"traits"`

	inventories, traits json.RawMessage // the bodies
}

// provider reads inventory and traits of one provider.
func (w *world) provider(ctx context.Context, id string) (provider, error) {
	var p provider
	inventories, err := w.askPlacement(ctx, http.StatusOK, http.MethodGet, "/resource_providers/"+id+"/inventories", nil)
	if err != nil {
		return p, err
	}
	traits, err := w.askPlacement(ctx, http.StatusOK, http.MethodGet, "/resource_providers/"+id+"/traits", nil)
	if err != nil {
		return p, err
	}
	p.inventories, p.traits = inventories.Body, traits.Body
	if err := inventories.into(&p); err != nil {
		return p, err
	}
	return p, traits.into(&p)
}

func (w *world) askPlacement(ctx context.Context, status int, method, path string, body any) (answer, error) {
	return w.placement.want(ctx, status, method, path, body, "OpenStack-API-Version", placementVersion)
}
