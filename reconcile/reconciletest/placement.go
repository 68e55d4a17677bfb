package reconciletest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// Codes of Placement's errors, which it sends from microversion 1.23.
const (
	CodeUndefined        = "placement.undefined_code"
	CodeConcurrentUpdate = "placement.concurrent_update"
	CodeInventoryInUse   = "placement.inventory.inuse"
	CodeDuplicateName    = "placement.duplicate_name"
	CodeProviderInUse    = "placement.resource_provider.inuse"
	CodeParent           = "placement.resource_provider.cannot_delete_parent"
)

// maxUnit is Placement's default max_unit.
const maxUnit = 2147483647

// PlacementError is an answer of Placement with an error status.
type PlacementError struct {
	Status int
	Code   string
	Detail string // without the standard sentence of the status
}

func (e *PlacementError) Error() string {
	return fmt.Sprintf("placement %d %s: %s", e.Status, e.Code, e.Detail)
}

// ResourceProvider is a provider as Placement shows it.
type ResourceProvider struct {
	UUID, Name   string
	Generation   int
	Parent, Root string // uuids; Parent is empty for a root
}

// ResourceInventory is the inventory of one class.
type ResourceInventory struct {
	Total           int     `json:"total"`
	Reserved        int     `json:"reserved"`
	MinUnit         int     `json:"min_unit"`
	MaxUnit         int     `json:"max_unit"`
	StepSize        int     `json:"step_size"`
	AllocationRatio float64 `json:"allocation_ratio"`
}

// NewResourceInventory gives an inventory Placement's defaults.
func NewResourceInventory() ResourceInventory {
	return ResourceInventory{MinUnit: 1, MaxUnit: maxUnit, StepSize: 1, AllocationRatio: 1}
}

// Placement is a Placement service in memory. The zero value is empty and
// ready; it is safe for concurrent use. Every method is one request.
type Placement struct {
	// Fault is asked before every write, with the name of the method; an error
	// is returned instead of writing. Nil never fails.
	Fault func(op string) error
	// Before, if set, is called at the start of every request, without a lock
	// held: a place to wait, so that overlapping runs can be interleaved at
	// will.
	Before func(op string)

	mu        sync.Mutex
	providers map[string]*provider
	classes   map[string]bool // custom ones
	traits    map[string]bool // custom ones
	consumers map[string]*Consumer
	nextID    int
}

type provider struct {
	ResourceProvider
	order       int // of creation
	inventories map[string]ResourceInventory
	traits      []string
}

func (p *Placement) before(op string) {
	if p.Before != nil {
		p.Before(op)
	}
}

func (p *Placement) fault(op string) error {
	if p.Fault == nil {
		return nil
	}
	return p.Fault(op)
}

func notFound(id string) *PlacementError {
	return &PlacementError{404, CodeUndefined, fmt.Sprintf("No resource provider with uuid %s found", id)}
}

// CreateProvider is POST /resource_providers. An empty id is made up.
func (p *Placement) CreateProvider(id, name, parent string) (ResourceProvider, error) {
	p.before("CreateProvider")
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == "" {
		id = uuid.NewString()
	}
	root := id
	if parent != "" {
		up, ok := p.providers[parent]
		if !ok {
			return ResourceProvider{}, &PlacementError{400, CodeUndefined, fmt.Sprintf("Unable to create resource provider %q, %s: Object action create failed because: parent provider UUID does not exist.", name, id)}
		}
		root = up.Root
	}
	duplicate := ""
	if _, ok := p.providers[id]; ok {
		duplicate = "uuid: " + id
	} else if p.named(name) {
		duplicate = "name: " + name
	}
	if duplicate != "" {
		return ResourceProvider{}, &PlacementError{409, CodeDuplicateName, fmt.Sprintf("Conflicting resource provider %s already exists.", duplicate)}
	}
	if err := p.fault("CreateProvider"); err != nil {
		return ResourceProvider{}, err
	}
	if p.providers == nil {
		p.providers = map[string]*provider{}
	}
	p.nextID++
	q := &provider{
		ResourceProvider: ResourceProvider{UUID: id, Name: name, Parent: parent, Root: root},
		order:            p.nextID, inventories: map[string]ResourceInventory{},
	}
	p.providers[id] = q
	return q.ResourceProvider, nil
}

func (p *Placement) named(name string) bool {
	for _, q := range p.providers {
		if q.Name == name {
			return true
		}
	}
	return false
}

// Provider is GET /resource_providers/{uuid}.
func (p *Placement) Provider(id string) (ResourceProvider, error) {
	p.before("Provider")
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.providers[id]
	if !ok {
		return ResourceProvider{}, notFound(id)
	}
	return q.ResourceProvider, nil
}

// Providers is GET /resource_providers in the order of creation, filtered by
// name, uuid and the tree a provider is in; an empty filter lets all pass.
func (p *Placement) Providers(name, id, inTree string) []ResourceProvider {
	p.before("Providers")
	p.mu.Lock()
	defer p.mu.Unlock()
	root := ""
	if inTree != "" {
		q, ok := p.providers[inTree]
		if !ok {
			return nil
		}
		root = q.Root
	}
	var found []*provider
	for _, q := range p.providers {
		if (name == "" || q.Name == name) && (id == "" || q.UUID == id) && (root == "" || q.Root == root) {
			found = append(found, q)
		}
	}
	slices.SortFunc(found, func(a, b *provider) int { return a.order - b.order })
	list := make([]ResourceProvider, len(found))
	for i, q := range found {
		list[i] = q.ResourceProvider
	}
	return list
}

// DeleteProvider is DELETE /resource_providers/{uuid}.
func (p *Placement) DeleteProvider(id string) error {
	p.before("DeleteProvider")
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.providers[id]; !ok {
		return &PlacementError{404, CodeUndefined, fmt.Sprintf("No resource provider with uuid %s found for delete", id)}
	}
	for _, q := range p.providers {
		if q.Parent == id {
			return &PlacementError{409, CodeParent, fmt.Sprintf("Unable to delete parent resource provider %s: It has child resource providers.", id)}
		}
	}
	if len(p.usages(id)) > 0 {
		return &PlacementError{409, CodeProviderInUse, fmt.Sprintf("Unable to delete resource provider %s: Resource provider has allocations.", id)}
	}
	if err := p.fault("DeleteProvider"); err != nil {
		return err
	}
	delete(p.providers, id)
	return nil
}

// Inventories is GET /resource_providers/{uuid}/inventories.
func (p *Placement) Inventories(id string) (map[string]ResourceInventory, int, error) {
	p.before("Inventories")
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.providers[id]
	if !ok {
		return nil, 0, notFound(id)
	}
	return maps.Clone(q.inventories), q.Generation, nil
}

// PutInventories is PUT /resource_providers/{uuid}/inventories: it replaces
// all of them and raises the generation, also when nothing changes. full
// allows reserved to reach total (microversion 1.26).
func (p *Placement) PutInventories(id string, generation int, want map[string]ResourceInventory, full bool) (int, error) {
	p.before("PutInventories")
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.providers[id]
	if !ok {
		return 0, notFound(id)
	}
	if q.Generation != generation {
		return 0, &PlacementError{409, CodeConcurrentUpdate, "resource provider generation conflict"}
	}
	for _, class := range slices.Sorted(maps.Keys(want)) {
		if !p.knownClass(class) {
			return 0, &PlacementError{400, CodeUndefined, fmt.Sprintf("Unknown resource class in inventory for resource provider %s: No such resource class %s.", id, class)}
		}
		if err := capacity(id, class, want[class], full); err != nil {
			return 0, err
		}
	}
	used := p.usages(id)
	for _, class := range slices.Sorted(maps.Keys(used)) {
		if _, ok := want[class]; !ok && used[class] > 0 {
			return 0, &PlacementError{409, CodeInventoryInUse, fmt.Sprintf("update conflict: Inventory for '%s' on resource provider '%s' in use.", class, id)}
		}
	}
	if err := p.fault("PutInventories"); err != nil {
		return 0, err
	}
	q.inventories = maps.Clone(want)
	if q.inventories == nil {
		q.inventories = map[string]ResourceInventory{}
	}
	q.Generation++
	return q.Generation, nil
}

// PutInventory is PUT /resource_providers/{uuid}/inventories/{class}, for a
// class the provider has.
func (p *Placement) PutInventory(id, class string, generation int, want ResourceInventory, full bool) (int, error) {
	p.before("PutInventory")
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.providers[id]
	switch {
	case !ok:
		return 0, notFound(id)
	case q.Generation != generation:
		return 0, &PlacementError{409, CodeConcurrentUpdate, "resource provider generation conflict"}
	}
	if _, ok := q.inventories[class]; !ok {
		return 0, &PlacementError{400, CodeUndefined, fmt.Sprintf("No inventory record with resource class for resource provider %s: No inventory of class %s found.", id, class)}
	}
	if err := capacity(id, class, want, full); err != nil {
		return 0, err
	}
	if err := p.fault("PutInventory"); err != nil {
		return 0, err
	}
	q.inventories[class] = want
	q.Generation++
	return q.Generation, nil
}

// capacity is Placement's check of one inventory.
func capacity(id, class string, v ResourceInventory, full bool) error {
	invalid := func(why string) error {
		return &PlacementError{400, CodeUndefined, fmt.Sprintf("Unable to update inventory for resource provider %s: Invalid inventory for '%s' on resource provider '%s'. The reserved value is greater than %s.", id, class, id, why)}
	}
	switch {
	case v.Total < 1:
		return &PlacementError{400, CodeUndefined, fmt.Sprintf("JSON does not validate: %d is less than the minimum of 1", v.Total)}
	case v.Reserved < 0:
		return &PlacementError{400, CodeUndefined, fmt.Sprintf("JSON does not validate: %d is less than the minimum of 0", v.Reserved)}
	case v.Reserved > v.Total:
		if full {
			return invalid("total")
		}
		return invalid("or equal to total")
	case v.Reserved == v.Total && !full:
		return invalid("or equal to total")
	}
	return nil
}

// ProviderTraits is GET /resource_providers/{uuid}/traits.
func (p *Placement) ProviderTraits(id string) ([]string, int, error) {
	p.before("ProviderTraits")
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.providers[id]
	if !ok {
		return nil, 0, notFound(id)
	}
	return slices.Clone(q.traits), q.Generation, nil
}

// PutTraits is PUT /resource_providers/{uuid}/traits: it replaces all of them.
// The generation rises only when something changes.
func (p *Placement) PutTraits(id string, generation int, want []string) (int, error) {
	p.before("PutTraits")
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.providers[id]
	switch {
	case !ok:
		return 0, notFound(id)
	case q.Generation != generation:
		return 0, &PlacementError{409, CodeConcurrentUpdate, "Resource provider's generation already changed. Please update the generation and try again."}
	}
	want = slices.Compact(slices.Sorted(slices.Values(want)))
	var unknown []string
	for _, t := range want {
		if !p.knownTrait(t) {
			unknown = append(unknown, t)
		}
	}
	if len(unknown) > 0 {
		return 0, &PlacementError{400, CodeUndefined, "No such trait " + strings.Join(unknown, ", ")}
	}
	if err := p.fault("PutTraits"); err != nil {
		return 0, err
	}
	if !slices.Equal(q.traits, want) {
		q.traits = want
		q.Generation++
	}
	return q.Generation, nil
}
