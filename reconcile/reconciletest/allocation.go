package reconciletest

import (
	"fmt"
	"maps"
	"slices"
)

// Consumer is who has something allocated.
type Consumer struct {
	Generation    int
	Project, User string
	Type          string
	Allocations   map[string]map[string]int // provider uuid -> class -> amount
	Generations   map[string]int            // of the providers when read
}

// Allocations is GET /allocations/{consumer}; ok is false when it has none.
func (p *Placement) Allocations(consumer string) (c Consumer, ok bool) {
	p.before("Allocations")
	p.mu.Lock()
	defer p.mu.Unlock()
	have, ok := p.consumers[consumer]
	if !ok {
		return Consumer{}, false
	}
	c = *have
	c.Allocations, c.Generations = map[string]map[string]int{}, map[string]int{}
	for id, resources := range have.Allocations {
		c.Allocations[id] = maps.Clone(resources)
		c.Generations[id] = p.providers[id].Generation
	}
	return c, true
}

// PutAllocations is PUT /allocations/{consumer}: it replaces what the consumer
// has. generation is the consumer's as its caller knows it, nil for a new one.
// Capacity is checked against total and reserved, but not for amounts that the
// consumer has already.
func (p *Placement) PutAllocations(consumer string, generation *int, c Consumer) error {
	return p.PostAllocations(map[string]NewAllocation{consumer: {Generation: generation, Consumer: c}})
}

// NewAllocation is one consumer of [Placement.PostAllocations].
type NewAllocation struct {
	Generation *int
	// Unchecked takes any generation, as Placement did before 1.28.
	Unchecked bool
	Consumer  Consumer
}

// PostAllocations is POST /allocations: all consumers or none. One with no
// allocations loses what it has.
func (p *Placement) PostAllocations(all map[string]NewAllocation) error {
	p.before("PostAllocations")
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if all[id].Unchecked {
			continue
		}
		if err := p.consumerGeneration(id, all[id].Generation); err != nil {
			return err
		}
	}
	if err := p.fits(all); err != nil {
		return err
	}
	if err := p.fault("PostAllocations"); err != nil {
		return err
	}
	touched := map[string]bool{}
	for id, a := range all {
		p.replace(id, a.Consumer, touched)
	}
	for id := range touched {
		p.providers[id].Generation++
	}
	return nil
}

func (p *Placement) consumerGeneration(id string, want *int) error {
	have, ok := p.consumers[id]
	switch {
	case !ok && want == nil, ok && want != nil && *want == have.Generation:
		return nil
	case ok:
		got := "None"
		if want != nil {
			got = fmt.Sprint(*want)
		}
		return &PlacementError{409, CodeConcurrentUpdate, fmt.Sprintf("consumer generation conflict - expected %d but got %s", have.Generation, got)}
	}
	return &PlacementError{409, CodeConcurrentUpdate, fmt.Sprintf("consumer generation conflict - expected null but got %d", *want)}
}

// fits checks the capacity of every provider as it would be afterwards.
func (p *Placement) fits(all map[string]NewAllocation) error {
	for _, consumer := range slices.Sorted(maps.Keys(all)) {
		for _, id := range slices.Sorted(maps.Keys(all[consumer].Consumer.Allocations)) {
			q, ok := p.providers[id]
			if !ok {
				return &PlacementError{400, CodeUndefined, fmt.Sprintf("Allocation for resource provider '%s' that does not exist.", id)}
			}
			for class, amount := range all[consumer].Consumer.Allocations[id] {
				if err := p.fitsClass(q, class, amount, all); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *Placement) fitsClass(q *provider, class string, amount int, all map[string]NewAllocation) error {
	v, ok := q.inventories[class]
	if !ok {
		return &PlacementError{409, CodeUndefined, fmt.Sprintf("Unable to allocate inventory: Inventory for '%s' on resource provider '%s' invalid.", class, q.UUID)}
	}
	if amount < v.MinUnit || amount > v.MaxUnit || amount%v.StepSize != 0 {
		return &PlacementError{409, CodeUndefined, fmt.Sprintf("Unable to allocate inventory: Unable to create allocation for '%s' on resource provider '%s'. The requested amount would violate inventory constraints.", class, q.UUID)}
	}
	before, after := p.usages(q.UUID)[class], 0
	for id, c := range p.consumers {
		if _, replaced := all[id]; !replaced {
			after += c.Allocations[q.UUID][class]
		}
	}
	for _, a := range all {
		after += a.Consumer.Allocations[q.UUID][class]
	}
	room := int(float64(v.Total-v.Reserved) * v.AllocationRatio)
	if after > room && after > before {
		return &PlacementError{409, CodeUndefined, fmt.Sprintf("Unable to allocate inventory: Unable to create allocation for '%s' on resource provider '%s'. The requested amount would exceed the capacity.", class, q.UUID)}
	}
	return nil
}

// replace gives a consumer what it asked for and notes the providers touched.
func (p *Placement) replace(id string, c Consumer, touched map[string]bool) {
	have, existed := p.consumers[id]
	if existed {
		for provider := range have.Allocations {
			touched[provider] = true
		}
		c.Generation = have.Generation
	}
	if len(c.Allocations) == 0 {
		delete(p.consumers, id)
		return
	}
	c.Generation++
	for provider := range c.Allocations {
		touched[provider] = true
	}
	if p.consumers == nil {
		p.consumers = map[string]*Consumer{}
	}
	p.consumers[id] = &c
}

// DeleteAllocations is DELETE /allocations/{consumer}.
func (p *Placement) DeleteAllocations(consumer string) error {
	p.before("DeleteAllocations")
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.consumers[consumer]; !ok {
		return &PlacementError{404, CodeUndefined, fmt.Sprintf("No allocations for consumer '%s'", consumer)}
	}
	if err := p.fault("DeleteAllocations"); err != nil {
		return err
	}
	delete(p.consumers, consumer)
	return nil
}

// Usages is GET /resource_providers/{uuid}/usages.
func (p *Placement) Usages(id string) (map[string]int, int, error) {
	p.before("Usages")
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.providers[id]
	if !ok {
		return nil, 0, notFound(id)
	}
	used := p.usages(id)
	all := map[string]int{}
	for class := range q.inventories {
		all[class] = used[class]
	}
	return all, q.Generation, nil
}

// ProviderAllocations is GET /resource_providers/{uuid}/allocations, by
// consumer and class.
func (p *Placement) ProviderAllocations(id string) (map[string]map[string]int, int, error) {
	p.before("ProviderAllocations")
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.providers[id]
	if !ok {
		return nil, 0, notFound(id)
	}
	all := map[string]map[string]int{}
	for consumer, c := range p.consumers {
		if r := c.Allocations[id]; len(r) > 0 {
			all[consumer] = maps.Clone(r)
		}
	}
	return all, q.Generation, nil
}

func (p *Placement) usages(id string) map[string]int {
	used := map[string]int{}
	for _, c := range p.consumers {
		for class, amount := range c.Allocations[id] {
			used[class] += amount
		}
	}
	return used
}
