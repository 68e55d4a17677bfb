package placement

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-cyborg/cyborg/reconcile"
)

// provider is a resource provider as Placement writes it from 1.14 on.
type provider struct {
	UUID       string `json:"uuid"`
	Name       string `json:"name"`
	Generation int    `json:"generation"`
	Parent     string `json:"parent_provider_uuid"`
	Root       string `json:"root_provider_uuid"`
}

// Tree implements [reconcile.Placement] with one request: every provider in
// the tree of the host's root. The root's uuid is remembered; it is looked up
// by name the first time and when the tree no longer shows that name.
func (c *Client) Tree(ctx context.Context, host string) (reconcile.Tree, error) {
	root, known := c.root(host)
	if known {
		t, ok, err := c.tree(ctx, host, root)
		if err != nil || ok {
			return t, err
		}
		c.dropRoot(root)
	}
	found, err := c.providers(ctx, "name="+url.QueryEscape(host))
	if err != nil {
		return reconcile.Tree{}, err
	}
	if len(found) == 0 {
		return reconcile.Tree{}, &reconcile.NoRootError{Host: host}
	}
	c.setRoot(host, found[0].UUID)
	t, ok, err := c.tree(ctx, host, found[0].UUID)
	if err == nil && !ok {
		c.dropRoot(found[0].UUID)
		err = &reconcile.NoRootError{Host: host}
	}
	return t, err
}

// tree reads a tree; ok is false when it does not hold a root of that name,
// whatever its case: Placement on MySQL finds "Host" for "host", and Nova may
// have written it so.
func (c *Client) tree(ctx context.Context, host, root string) (t reconcile.Tree, ok bool, err error) {
	found, err := c.providers(ctx, "in_tree="+root)
	if err != nil {
		return reconcile.Tree{}, false, err
	}
	t = reconcile.Tree{Root: root, Providers: make([]reconcile.Provider, len(found))}
	for i, p := range found {
		t.Providers[i] = reconcile.Provider{UUID: p.UUID, Name: p.Name, Parent: p.Parent, Generation: p.Generation}
		ok = ok || p.UUID == root && strings.EqualFold(p.Name, host)
	}
	return t, ok, nil
}

func (c *Client) providers(ctx context.Context, query string) ([]provider, error) {
	var answer struct {
		Providers []provider `json:"resource_providers"`
	}
	err := c.do(ctx, request{
		method: http.MethodGet, route: "/resource_providers", path: "resource_providers?" + query,
		answer: &answer, ok: []int{http.StatusOK},
	})
	return answer.Providers, err
}

// provider reads one provider; an *[Error] with status 404 when it is absent.
func (c *Client) provider(ctx context.Context, uuid string) (provider, error) {
	var p provider
	err := c.do(ctx, request{
		method: http.MethodGet, route: "/resource_providers/{uuid}", path: "resource_providers/" + uuid,
		answer: &p, ok: []int{http.StatusOK}, says: func() bool { return p.UUID == uuid },
	})
	return p, err
}

// Drop implements [reconcile.Placement].
func (c *Client) Drop(ctx context.Context, uuid, root string) error {
	if root != "" {
		p, err := c.provider(ctx, uuid)
		if hasStatus(err, http.StatusNotFound) || err == nil && p.Root != root {
			return nil
		}
		if err != nil {
			return err
		}
	}
	err := c.do(ctx, request{
		method: http.MethodDelete, route: "/resource_providers/{uuid}", path: "resource_providers/" + uuid,
		ok: []int{http.StatusNoContent, http.StatusNotFound},
	})
	if hasStatus(err, http.StatusConflict) {
		return &reconcile.InUseError{UUID: uuid, Detail: detail(err)}
	}
	return err
}

func (c *Client) root(host string) (uuid string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	uuid, ok = c.roots[host]
	return uuid, ok
}

func (c *Client) setRoot(host, uuid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.roots[host] = uuid
}

// dropRoot forgets a root and says whose it was.
func (c *Client) dropRoot(uuid string) (host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for h, u := range c.roots {
		if u == uuid {
			host = h
			delete(c.roots, h)
		}
	}
	return host
}
