package dbsync

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/keystone"
)

// computeVersion is the compute API microversion of every request of Cyborg.
const computeVersion = "2.82"

// NovaServers asks Nova for owners, with a client of type compute.
func NovaServers(client *gophercloud.ServiceClient) Servers {
	own := *client
	own.Type, own.Microversion = "compute", computeVersion
	return &novaServers{&own}
}

type novaServers struct{ client *gophercloud.ServiceClient }

// ProjectOf implements [Servers].
func (n *novaServers) ProjectOf(ctx context.Context, instance string) (string, error) {
	var body struct {
		Server struct {
			TenantID string `json:"tenant_id"`
		} `json:"server"`
	}
	_, err := n.client.Get(ctx, n.client.ServiceURL("servers", url.PathEscape(instance)), &body, nil)
	switch {
	case gophercloud.ResponseCodeIs(err, http.StatusNotFound):
		return "", ErrNoServer
	case err != nil:
		return "", fmt.Errorf("nova: server %s: %w", instance, err)
	case body.Server.TenantID == "":
		return "", fmt.Errorf("nova: server %s: the answer names no tenant_id", instance)
	}
	return body.Server.TenantID, nil
}

// Nova makes the client from the credentials in [nova]. It is a [NovaFunc].
func Nova(_ context.Context, c *config.Config) (Servers, error) {
	session, err := keystone.New(keystone.OptionsOf(c, "nova"))
	if err != nil {
		return nil, err
	}
	return NovaServers(session.Service("compute")), nil
}
