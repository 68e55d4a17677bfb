package reconcile

import (
	"slices"
	"strings"
)

// change compares one stored device with its report.
type change struct {
	*differ
	h, w   *Device
	number int // of the device, as in [differ.owner]

	withdraw, inserts, providers, rows []Step
}

// steps gives what has to be done: off offer, new rows, Placement, rows.
func (c *change) steps() []Step {
	if !sameBoard(c.h, c.w) {
		c.rows = append(c.rows, SetBoard{
			Type: c.w.Type, Vendor: c.w.Vendor, Model: c.w.Model,
			StdBoardInfo: c.w.StdBoardInfo, VendorBoardInfo: c.w.VendorBoardInfo,
		})
	}
	c.deployables()
	return slices.Concat(c.withdraw, c.inserts, c.providers, c.rows)
}

func (c *change) problem(p Problem) {
	p.Device = c.h.ControlPath.Info
	c.differ.problem(p)
}

// deployables pairs the deployables by name.
func (c *change) deployables() {
	taken := make([]bool, len(c.h.Deployables))
	for i := range c.w.Deployables {
		q := &c.w.Deployables[i]
		group := c.named(q.Name)
		for _, k := range group {
			taken[k] = true
		}
		switch keep, ok := c.single(group); {
		case len(group) == 0:
			c.insert(q)
		case ok:
			c.deployable(&c.h.Deployables[keep], q)
		}
	}
	for k := range c.h.Deployables {
		if !taken[k] {
			c.missing(&c.h.Deployables[k])
		}
	}
}

// named lists the stored deployables of a name, lowest id first.
func (c *change) named(name string) []int {
	var group []int
	for k := range c.h.Deployables {
		if c.h.Deployables[k].Name == name {
			group = append(group, k)
		}
	}
	return group
}

// single picks the row of several with one name that stays, and deletes the
// others; ok is false when two are held.
func (c *change) single(group []int) (keep int, ok bool) {
	if len(group) == 1 {
		return group[0], true
	}
	held := 0
	for n, k := range group {
		p := &c.h.Deployables[k]
		switch {
		case p.Held():
			if held++; held == 1 {
				keep = k
			}
		case n == 0, held == 0 && p.ID < c.h.Deployables[keep].ID:
			keep = k
		}
	}
	if held > 1 {
		c.problem(Problem{Reason: ReasonTwins, Deployable: c.h.Deployables[keep].Name})
		return 0, false
	}
	for _, k := range group {
		if k != keep {
			c.rows = append(c.rows, DeleteDeployable{Deployable: c.h.Deployables[k].ID, Name: c.h.Deployables[k].Name})
		}
	}
	return keep, len(group) > 0
}

func (c *change) insert(q *Deployable) {
	if !c.mayCreate(q, matchHandles(nil, q.Handles)) {
		return
	}
	fresh := q
	if c.unclean() {
		fresh = &inUse([]Deployable{*q})[0]
	}
	c.inserts = append(c.inserts, InsertDeployable{Deployable: fresh, Name: q.Name})
	c.providers = append(c.providers, syncNew(c.h, q))
}

// mayCreate reports whether the handles of a reported deployable that have no
// row may get one. The deployable waits otherwise.
func (c *change) mayCreate(q *Deployable, m handleMatch) bool {
	var created []*Handle
	for i := range m.stored {
		if len(m.stored[i]) == 0 {
			created = append(created, &q.Handles[i])
		}
	}
	if len(created) > 0 && c.unknownGuest(q, m) {
		return false
	}
	p, ok := c.newFunctions(c.number, q, created)
	if !ok {
		p.Device = c.h.ControlPath.Info
		c.refuse(c.h.ControlPath, p)
	}
	return ok
}

// unknownGuest reports whether a held handle says no longer which function it
// is: any new one may be that.
func (c *change) unknownGuest(q *Deployable, m handleMatch) bool {
	for _, group := range m.missing {
		for _, h := range group {
			if why := unreadable(h); h.Held() && why != nil {
				c.problem(Problem{
					Reason: ReasonInfo, Deployable: q.Name, Handle: handleName(h), Field: "attach_info", Stored: h.Info,
					Detail: why.Error() + "; correct it, or release attach handle " + h.UUID,
				})
				return true
			}
		}
	}
	return false
}

// unclean reports whether new handles of the device must not be handed out.
func (c *change) unclean() bool { return c.w.Type == "NVME" && c.h.State != StateAvailable }

// missing plans a stored deployable that is not reported.
func (c *change) missing(p *Deployable) {
	if p.Held() {
		c.problem(Problem{Reason: ReasonMissing, Deployable: p.Name})
		for _, s := range c.keep(c.h, p) {
			if _, ok := s.(Withdraw); ok {
				c.withdraw = append(c.withdraw, s)
			} else {
				c.providers = append(c.providers, s)
			}
		}
		return
	}
	c.off(p)
	c.providers = append(c.providers, DropProvider{Deployable: p.ID, Name: p.Name})
	c.rows = append(c.rows, DeleteDeployable{Deployable: p.ID, Name: p.Name})
}

// off takes a deployable off offer.
func (c *change) off(p *Deployable) {
	if p.Offer != "" {
		c.withdraw = append(c.withdraw, Withdraw{Deployable: p.ID, Name: p.Name})
	}
}

// deployable compares a stored deployable with its report.
func (c *change) deployable(p, q *Deployable) {
	var m handleMatch
	if !sameHandles(p.Handles, q.Handles) {
		if m = matchHandles(p.Handles, q.Handles); !c.mayCreate(q, m) {
			return
		}
	}
	class, traits := c.attributes(p, q)
	if p.NumAccelerators != q.NumAccelerators {
		c.rows = append(c.rows, SetNumAccelerators{Deployable: p.ID, From: p.NumAccelerators, To: q.NumAccelerators})
	}
	if p.DriverName == nil && q.DriverName != nil {
		c.rows = append(c.rows, SetDriverName{Deployable: p.ID, To: *q.DriverName})
	}
	missing, removed := c.handles(p, q, m)
	retained := uncounted(q, missing)

	known := c.inTree(p)
	sameTraits := sameSet(p.Traits(), traits)
	changed := class != p.Class() || !sameTraits || p.NumAccelerators != q.NumAccelerators || removed
	offered := Offered(c.h, true)
	total, reserved := DesiredReserved(c.h, q, true, retained)
	if offered && p.Offer != "" && known && !changed && retained == 0 {
		return
	}
	c.off(p)
	c.providers = append(c.providers, SyncProvider{
		Deployable: p.ID, Name: p.Name, Class: class, Traits: traits, Total: total, Reserved: reserved, Offer: offered,
		accelerators: q.NumAccelerators, retained: retained, oldTraits: p.Traits(),
		sameTraits: known && p.Offer != "" && sameTraits,
		repeated:   known && !changed && (p.Offer != "" || !offered),
	})
}

// uncounted is how many missing, held handles need units of their own: those by
// which the rows outnumber num_accelerators. A driver whose number stays when a
// handle goes missing still counts the unit, and its report says nothing new
// when the handle comes back: the inventory has to be the same before and
// after. What can be had is the same either way, total less reserved.
func uncounted(q *Deployable, missing int) int {
	return max(0, min(missing, len(q.Handles)+missing-q.NumAccelerators))
}

// attributes compares the attributes by key, the first of a repeated key
// counting, and returns the class and traits that Placement shall show. The
// class of a held deployable stays: Placement would refuse another.
func (c *change) attributes(p, q *Deployable) (class string, traits []string) {
	class, traits = q.Class(), q.Traits()
	keepClass := class != p.Class() && p.Held()
	if keepClass {
		c.problem(Problem{Reason: ReasonClassHeld, Deployable: p.Name, Field: "attribute rc", Stored: p.Class(), Reported: class})
		class = p.Class()
	}
	if sameAttributes(p.Attributes, q.Attributes) {
		return class, traits
	}
	for i := range p.Attributes {
		a := &p.Attributes[i]
		if !firstOfKey(p.Attributes, i) || keepClass && a.Key == keyClass {
			continue
		}
		switch b := attribute(q.Attributes, a.Key); {
		case b == nil:
			c.rows = append(c.rows, DeleteAttribute{Deployable: p.ID, Attribute: a.ID, Key: a.Key})
		case b.Value != a.Value:
			c.rows = append(c.rows, SetAttribute{Deployable: p.ID, Attribute: a.ID, Key: a.Key, From: a.Value, To: b.Value})
		}
	}
	for i := range q.Attributes {
		b := &q.Attributes[i]
		if firstOfKey(q.Attributes, i) && attribute(p.Attributes, b.Key) == nil && !(keepClass && b.Key == keyClass) {
			c.rows = append(c.rows, InsertAttribute{Deployable: p.ID, Key: b.Key, Value: b.Value})
		}
	}
	return class, traits
}

// attribute finds the first attribute of a key.
func attribute(as []Attribute, key string) *Attribute {
	for i := range as {
		if as[i].Key == key {
			return &as[i]
		}
	}
	return nil
}

func sameSet(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.Equal(a, b) {
		return true
	}
	return strings.Join(slices.Sorted(slices.Values(a)), ",") == strings.Join(slices.Sorted(slices.Values(b)), ",")
}
