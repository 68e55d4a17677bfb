package placementtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// Microversions at which allocations changed their shape.
const (
	consumerGenerationSince = 28
	consumerTypeSince       = 38
)

type allocationBody struct {
	Resources  map[string]int `json:"resources"`
	Generation *int           `json:"generation,omitempty"` // of the provider; only in answers, ignored in requests
}

// allocationsBody is what a consumer has, in requests.
type allocationsBody struct {
	Allocations        map[string]allocationBody `json:"allocations"`
	Project            string                    `json:"project_id"`
	User               string                    `json:"user_id"`
	ConsumerGeneration *int                      `json:"consumer_generation"`
	ConsumerType       string                    `json:"consumer_type"`
	Mappings           map[string][]string       `json:"mappings"` // from 1.34; says which request group went where
}

func (b allocationsBody) allocation(minor int) reconciletest.NewAllocation {
	c := reconciletest.Consumer{Project: b.Project, User: b.User, Type: b.ConsumerType, Allocations: map[string]map[string]int{}}
	for id, a := range b.Allocations {
		c.Allocations[id] = a.Resources
	}
	return reconciletest.NewAllocation{Generation: b.ConsumerGeneration, Unchecked: minor < consumerGenerationSince, Consumer: c}
}

func (h *Handler) showAllocations(c call) (answer, error) {
	have, ok := h.Placement.Allocations(c.PathValue("consumer"))
	if !ok {
		return answer{status: http.StatusOK, body: map[string]any{"allocations": map[string]any{}}}, nil
	}
	all := map[string]allocationBody{}
	for id, resources := range have.Allocations {
		generation := have.Generations[id]
		all[id] = allocationBody{Resources: resources, Generation: &generation}
	}
	body := map[string]any{"allocations": all, "project_id": have.Project, "user_id": have.User}
	if c.minor >= consumerGenerationSince {
		body["consumer_generation"] = have.Generation
	}
	if c.minor >= consumerTypeSince {
		body["consumer_type"] = have.Type
	}
	return answer{status: http.StatusOK, body: body}, nil
}

func (h *Handler) putAllocations(c call) (answer, error) {
	var in allocationsBody
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	all := map[string]reconciletest.NewAllocation{c.PathValue("consumer"): in.allocation(c.minor)}
	return answer{status: http.StatusNoContent}, h.Placement.PostAllocations(all)
}

func (h *Handler) postAllocations(c call) (answer, error) {
	var in map[string]allocationsBody
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	all := map[string]reconciletest.NewAllocation{}
	for consumer, b := range in {
		all[consumer] = b.allocation(c.minor)
	}
	return answer{status: http.StatusNoContent}, h.Placement.PostAllocations(all)
}

func (h *Handler) deleteAllocations(c call) (answer, error) {
	return answer{status: http.StatusNoContent}, h.Placement.DeleteAllocations(c.PathValue("consumer"))
}

func (h *Handler) providerAllocations(c call) (answer, error) {
	all, generation, err := h.Placement.ProviderAllocations(c.PathValue("uuid"))
	if err != nil {
		return answer{}, named(err, "Resource provider '%s' not found: ", c)
	}
	allocations := map[string]allocationBody{}
	for consumer, resources := range all {
		allocations[consumer] = allocationBody{Resources: resources}
	}
	return answer{status: http.StatusOK, body: map[string]any{"resource_provider_generation": generation, "allocations": allocations}}, nil
}

// candidates lists the providers that have room for all of the resources asked
// for and carry the required traits. Resources spread over a tree, forbidden
// traits and the other filters of Placement are not known.
func (h *Handler) candidates(c call) (answer, error) {
	q := c.URL.Query()
	for key := range q {
		if !slices.Contains([]string{"resources", "required", "limit"}, key) {
			return answer{}, bad("query parameter %q is not served here", key)
		}
	}
	want, err := resources(q.Get("resources"))
	if err != nil {
		return answer{}, err
	}
	requests, summaries := []any{}, map[string]any{}
	for _, p := range h.Placement.Providers("", "", "") {
		traits, _, err := h.Placement.ProviderTraits(p.UUID)
		if err != nil {
			continue // gone meanwhile
		}
		summary, ok := h.room(p.UUID, want)
		if !ok || !hasAll(traits, q.Get("required")) {
			continue
		}
		requests = append(requests, map[string]any{"allocations": map[string]any{p.UUID: map[string]any{"resources": want}}, "mappings": map[string][]string{"": {p.UUID}}})
		summaries[p.UUID] = map[string]any{
			"resources": summary, "traits": orEmpty(traits),
			"parent_provider_uuid": nullable(p.Parent), "root_provider_uuid": p.Root,
		}
	}
	return answer{status: http.StatusOK, body: map[string]any{"allocation_requests": requests, "provider_summaries": summaries}}, nil
}

// resources reads "FPGA:1,CUSTOM_X:2".
func resources(text string) (map[string]int, error) {
	want := map[string]int{}
	for item := range strings.SplitSeq(text, ",") {
		class, amount, ok := strings.Cut(item, ":")
		n, err := strconv.Atoi(amount)
		if !ok || err != nil || n < 1 {
			return nil, bad("Badly formed resources parameter. Expected resources query string parameter in form: ?resources=VCPU:2,MEMORY_MB:1024. Got: %s", text)
		}
		want[class] = n
	}
	return want, nil
}

func (h *Handler) room(id string, want map[string]int) (summary map[string]any, ok bool) {
	inventories, _, err := h.Placement.Inventories(id)
	if err != nil {
		return nil, false
	}
	used, _, err := h.Placement.Usages(id)
	if err != nil {
		return nil, false
	}
	for class, n := range want {
		v, ok := inventories[class]
		if !ok || used[class]+n > v.Total-v.Reserved || n > v.MaxUnit {
			return nil, false
		}
	}
	summary = map[string]any{}
	for class, v := range inventories {
		summary[class] = map[string]int{"capacity": v.Total - v.Reserved, "used": used[class]}
	}
	return summary, true
}

func hasAll(traits []string, required string) bool {
	if required == "" {
		return true
	}
	for t := range strings.SplitSeq(required, ",") {
		if !slices.Contains(traits, t) {
			return false
		}
	}
	return true
}
