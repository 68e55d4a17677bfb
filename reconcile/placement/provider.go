package placement

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// ReplaceTraits takes the traits that start with prefix off a provider and puts the wanted ones on; the others stay.
// It is for what a report knows nothing of, such as the function an FPGA was programmed with. The errors are those of
// [Client.Sync].
func (c *Client) ReplaceTraits(ctx context.Context, uuid, prefix string, want ...string) error {
	for try := 1; ; try++ {
		err := c.replaceTraits(ctx, uuid, prefix, want)
		if err == nil || !hasCode(err, codeConcurrentUpdate) || try == maxTries {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

func (c *Client) replaceTraits(ctx context.Context, uuid, prefix string, want []string) error {
	const route = "/resource_providers/{uuid}/traits"
	path := "resource_providers/" + uuid + "/traits"
	var have providerTraits
	err := c.do(ctx, request{method: http.MethodGet, route: route, path: path, answer: &have, ok: []int{http.StatusOK}, says: have.said})
	if err != nil {
		return err
	}
	var old []string
	for _, t := range have.Traits {
		if strings.HasPrefix(t, prefix) {
			old = append(old, t)
		}
	}
	traits := merged(have.Traits, old, want)
	if sameNames(traits, have.Traits) {
		return nil
	}
	var answer providerTraits
	return c.ensuring(ctx, "traits", slices.Clone(want), func() error {
		return c.do(ctx, request{
			method: http.MethodPut, route: route, path: path,
			body: providerTraits{Traits: traits, Generation: have.Generation}, answer: &answer, ok: []int{http.StatusOK}, says: answer.said,
		})
	})
}

// InUse reports whether anything is allocated from a provider. One that is absent is not in use.
func (c *Client) InUse(ctx context.Context, uuid string) (bool, error) {
	var answer struct {
		Usages map[string]int `json:"usages"`
	}
	err := c.do(ctx, request{
		method: http.MethodGet, route: "/resource_providers/{uuid}/usages", path: "resource_providers/" + uuid + "/usages",
		answer: &answer, ok: []int{http.StatusOK}, says: func() bool { return answer.Usages != nil },
	})
	if hasStatus(err, http.StatusNotFound) {
		return false, nil
	}
	for _, used := range answer.Usages {
		if used > 0 {
			return true, err
		}
	}
	return false, err
}
