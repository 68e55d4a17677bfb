package placementtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

// linkSince is the microversion at which a provider got each of its links.
var linkSince = []struct {
	rel   string
	minor int
}{{"inventories", 0}, {"usages", 0}, {"aggregates", 1}, {"traits", 6}, {"allocations", 11}}

// treesSince is the microversion with nested providers.
const treesSince = 14

func providerBody(p reconciletest.ResourceProvider, minor int) map[string]any {
	self := "/resource_providers/" + p.UUID
	links := []link{{"self", self}}
	for _, l := range linkSince {
		if minor >= l.minor {
			links = append(links, link{l.rel, self + "/" + l.rel})
		}
	}
	body := map[string]any{"uuid": p.UUID, "name": p.Name, "generation": p.Generation, "links": links}
	if minor >= treesSince {
		body["parent_provider_uuid"], body["root_provider_uuid"] = nullable(p.Parent), p.Root
	}
	return body
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (h *Handler) listProviders(c call) (answer, error) {
	q := c.URL.Query()
	for key := range q {
		known := []string{"name", "uuid"}
		if c.minor >= treesSince {
			known = append(known, "in_tree")
		}
		if !slices.Contains(known, key) {
			return answer{}, bad("Invalid query string parameters: Additional properties are not allowed ('%s' was unexpected)", key)
		}
	}
	for _, key := range []string{"uuid", "in_tree"} {
		if v := q.Get(key); v != "" && uuid.Validate(v) != nil {
			return answer{}, bad("Invalid query string parameters: '%s' is not a 'uuid'", v)
		}
	}
	list := []any{}
	for _, p := range h.Placement.Providers(q.Get("name"), q.Get("uuid"), q.Get("in_tree")) {
		list = append(list, providerBody(p, c.minor))
	}
	return answer{status: http.StatusOK, body: map[string]any{"resource_providers": list}}, nil
}

// bodySince is the microversion at which a created provider is shown.
const bodySince = 20

func (h *Handler) createProvider(c call) (answer, error) {
	var in struct {
		UUID   string  `json:"uuid"`
		Name   string  `json:"name"`
		Parent *string `json:"parent_provider_uuid"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	parent := ""
	if in.Parent != nil {
		parent = *in.Parent
	}
	switch {
	case in.Name == "":
		return answer{}, bad("JSON does not validate: 'name' is a required property")
	case len(in.Name) > 200:
		return answer{}, bad("JSON does not validate: '%s' is too long", in.Name)
	case in.UUID != "" && uuid.Validate(in.UUID) != nil:
		return answer{}, bad("JSON does not validate: '%s' is not a 'uuid'", in.UUID)
	case in.Parent != nil && c.minor < treesSince:
		return answer{}, bad("JSON does not validate: Additional properties are not allowed ('parent_provider_uuid' was unexpected)")
	}
	p, err := h.Placement.CreateProvider(in.UUID, in.Name, parent)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusCreated, location: "/resource_providers/" + p.UUID}
	if c.minor >= bodySince {
		a.status, a.body = http.StatusOK, providerBody(p, c.minor)
	}
	return a, nil
}

func (h *Handler) showProvider(c call) (answer, error) {
	p, err := h.Placement.Provider(c.PathValue("uuid"))
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: providerBody(p, c.minor)}, nil
}

func (h *Handler) deleteProvider(c call) (answer, error) {
	return answer{status: http.StatusNoContent}, h.Placement.DeleteProvider(c.PathValue("uuid"))
}

// fullSince is the microversion from which reserved may reach total.
const fullSince = 26

func (h *Handler) listInventories(c call) (answer, error) {
	inventories, generation, err := h.Placement.Inventories(c.PathValue("uuid"))
	if err != nil {
		return answer{}, named(err, "No resource provider with uuid %s found : ", c)
	}
	return inventoriesAnswer(inventories, generation), nil
}

func inventoriesAnswer(inventories map[string]reconciletest.ResourceInventory, generation int) answer {
	return answer{status: http.StatusOK, body: map[string]any{"resource_provider_generation": generation, "inventories": inventories}}
}

// inventoryIn is an inventory in a request; absent keys get defaults.
type inventoryIn struct {
	Total           *int     `json:"total"`
	Reserved        *int     `json:"reserved"`
	MinUnit         *int     `json:"min_unit"`
	MaxUnit         *int     `json:"max_unit"`
	StepSize        *int     `json:"step_size"`
	AllocationRatio *float64 `json:"allocation_ratio"`
}

func (in inventoryIn) inventory() (reconciletest.ResourceInventory, error) {
	v := reconciletest.NewResourceInventory()
	if in.Total == nil {
		return v, bad("JSON does not validate: 'total' is a required property")
	}
	for _, f := range []struct{ to, from *int }{
		{&v.Total, in.Total}, {&v.Reserved, in.Reserved}, {&v.MinUnit, in.MinUnit}, {&v.MaxUnit, in.MaxUnit}, {&v.StepSize, in.StepSize},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if in.AllocationRatio != nil {
		v.AllocationRatio = *in.AllocationRatio
	}
	for _, f := range []struct {
		name       string
		value, min int
	}{{"total", v.Total, 1}, {"reserved", v.Reserved, 0}, {"min_unit", v.MinUnit, 1}, {"max_unit", v.MaxUnit, 1}, {"step_size", v.StepSize, 1}} {
		if f.value < f.min {
			return v, bad("JSON does not validate: %d is less than the minimum of %d  Failed validating 'minimum' in schema['properties']['%s']:     {'type': 'integer', 'maximum': 2147483647, 'minimum': %d}  On instance['%s']:     %d", f.value, f.min, f.name, f.min, f.name, f.value)
		}
	}
	return v, nil
}

func (h *Handler) putInventories(c call) (answer, error) {
	var in struct {
		Generation  *int                   `json:"resource_provider_generation"`
		Inventories map[string]inventoryIn `json:"inventories"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if in.Generation == nil || in.Inventories == nil {
		return answer{}, bad("JSON does not validate: 'resource_provider_generation' and 'inventories' are required properties")
	}
	want := map[string]reconciletest.ResourceInventory{}
	for class, i := range in.Inventories {
		v, err := i.inventory()
		if err != nil {
			return answer{}, err
		}
		want[class] = v
	}
	generation, err := h.Placement.PutInventories(c.PathValue("uuid"), *in.Generation, want, c.minor >= fullSince)
	if err != nil {
		return answer{}, err
	}
	return inventoriesAnswer(want, generation), nil
}

func (h *Handler) showInventory(c call) (answer, error) {
	inventories, generation, err := h.Placement.Inventories(c.PathValue("uuid"))
	if err != nil {
		return answer{}, named(err, "No resource provider with uuid %s found : ", c)
	}
	v, ok := inventories[c.PathValue("rc")]
	if !ok {
		return answer{}, missing("No inventory of class %s for %s", c.PathValue("rc"), c.PathValue("uuid"))
	}
	return inventoryAnswer(v, generation), nil
}

func inventoryAnswer(v reconciletest.ResourceInventory, generation int) answer {
	return answer{status: http.StatusOK, body: struct {
		reconciletest.ResourceInventory
		Generation int `json:"resource_provider_generation"`
	}{v, generation}}
}

func (h *Handler) putInventory(c call) (answer, error) {
	var in struct {
		Generation *int `json:"resource_provider_generation"`
		inventoryIn
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	v, err := in.inventory()
	if err == nil && in.Generation == nil {
		err = bad("JSON does not validate: 'resource_provider_generation' is a required property")
	}
	if err != nil {
		return answer{}, err
	}
	generation, err := h.Placement.PutInventory(c.PathValue("uuid"), c.PathValue("rc"), *in.Generation, v, c.minor >= fullSince)
	if err != nil {
		return answer{}, err
	}
	return inventoryAnswer(v, generation), nil
}

type traitsBody struct {
	Traits     []string `json:"traits"`
	Generation *int     `json:"resource_provider_generation"`
}

func (h *Handler) listProviderTraits(c call) (answer, error) {
	traits, generation, err := h.Placement.ProviderTraits(c.PathValue("uuid"))
	if err != nil {
		return answer{}, named(err, "No resource provider with uuid %s found: ", c)
	}
	return answer{status: http.StatusOK, body: traitsBody{orEmpty(traits), &generation}}, nil
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (h *Handler) putProviderTraits(c call) (answer, error) {
	var in traitsBody
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if in.Generation == nil || in.Traits == nil {
		return answer{}, bad("JSON does not validate: 'resource_provider_generation' and 'traits' are required properties")
	}
	generation, err := h.Placement.PutTraits(c.PathValue("uuid"), *in.Generation, in.Traits)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: traitsBody{slices.Compact(slices.Sorted(slices.Values(in.Traits))), &generation}}, nil
}

func (h *Handler) usages(c call) (answer, error) {
	used, generation, err := h.Placement.Usages(c.PathValue("uuid"))
	if err != nil {
		return answer{}, named(err, "No resource provider with uuid %s found: ", c)
	}
	return answer{status: http.StatusOK, body: map[string]any{"resource_provider_generation": generation, "usages": used}}, nil
}

func (h *Handler) listTraits(c call) (answer, error) {
	traits := h.Placement.CustomTraits()
	if filter := c.URL.Query().Get("name"); filter != "" {
		op, value, _ := strings.Cut(filter, ":")
		switch op {
		case "startswith":
			traits = slices.DeleteFunc(traits, func(t string) bool { return !strings.HasPrefix(t, value) })
		case "in":
			names := strings.Split(value, ",")
			traits = slices.DeleteFunc(traits, func(t string) bool { return !slices.Contains(names, t) })
		default:
			return answer{}, bad("Badly formatted name parameter. Expected name query string parameter in form: ?name=[in|startswith]:[name1,name2|prefix]. Got: %q", filter)
		}
	}
	return answer{status: http.StatusOK, body: map[string]any{"traits": orEmpty(traits)}}, nil
}

func (h *Handler) showTrait(c call) (answer, error) {
	return answer{status: http.StatusNoContent}, h.Placement.Trait(c.PathValue("name"))
}

func (h *Handler) putTrait(c call) (answer, error) {
	created, err := h.Placement.EnsureTrait(c.PathValue("name"))
	return ensured(created, "/traits/"+c.PathValue("name")), err
}

func (h *Handler) deleteTrait(c call) (answer, error) {
	return answer{status: http.StatusNoContent}, h.Placement.DeleteTrait(c.PathValue("name"))
}

func (h *Handler) showClass(c call) (answer, error) {
	name := c.PathValue("name")
	if err := h.Placement.Class(name); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: map[string]any{
		"name": name, "links": []link{{"self", fmt.Sprintf("/resource_classes/%s", name)}},
	}}, nil
}

func (h *Handler) putClass(c call) (answer, error) {
	created, err := h.Placement.EnsureClass(c.PathValue("name"))
	return ensured(created, "/resource_classes/"+c.PathValue("name")), err
}

func ensured(created bool, location string) answer {
	if created {
		return answer{status: http.StatusCreated, location: location}
	}
	return answer{status: http.StatusNoContent, location: location}
}
