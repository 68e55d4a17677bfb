package reconcile

import (
	"strconv"

	"github.com/go-cyborg/cyborg/arq"
)

// handles compares the attach handles of a deployable. missing counts the
// held ones that are not reported; removed says that a free one goes without
// being replaced, so the number of units in Placement may change. m is empty
// when they are the same.
func (c *change) handles(p, q *Deployable, m handleMatch) (missing int, removed bool) {
	for i, group := range m.stored {
		switch {
		case len(group) == 0:
			c.rows = append(c.rows, InsertHandle{Deployable: p.ID, Type: q.Handles[i].Type, Info: q.Handles[i].Info, InUse: q.Handles[i].InUse || c.unclean()})
		default:
			keep, doubled, ok := c.singleHandle(p, group)
			removed = removed || doubled
			if ok {
				c.handle(p, keep, &q.Handles[i])
			}
		}
	}
	for _, group := range m.missing {
		for _, h := range group {
			if h.Held() {
				missing++
				c.problem(Problem{Reason: ReasonMissing, Deployable: p.Name, Handle: handleName(h)})
				continue
			}
			removed = true
			c.rows = append(c.rows, DeleteHandle{Deployable: p.ID, Handle: h.ID, Info: h.Info})
		}
	}
	return missing, removed
}

// handleMatch pairs the handles of one deployable.
type handleMatch struct {
	stored  [][]*Handle // by reported handle; more than one are twins
	missing [][]*Handle // stored, not reported
}

// matchHandles pairs by the bytes first, what is left over by its key.
func matchHandles(have, want []Handle) handleMatch {
	m := handleMatch{stored: make([][]*Handle, len(want))}
	if len(have) == 1 && len(want) == 1 && (have[0].Info == want[0].Info || handleKeyOf(&have[0]) == handleKeyOf(&want[0])) {
		m.stored[0] = []*Handle{&have[0]}
		return m
	}
	byInfo := make(map[string]int, len(want))
	byKey := make(map[key]int, len(want))
	for i := range want {
		byInfo[want[i].Info] = i
		byKey[handleKeyOf(&want[i])] = i
	}
	for j := range have {
		h := &have[j]
		i, ok := byInfo[h.Info]
		if !ok {
			i, ok = byKey[handleKeyOf(h)]
		}
		if ok {
			m.stored[i] = append(m.stored[i], h)
		} else {
			m.missing = append(m.missing, []*Handle{h})
		}
	}
	return m
}

// singleHandle picks the row of several for one function that stays (the held
// one, else the lowest id) and deletes the others; ok is false when two are
// held.
func (c *change) singleHandle(p *Deployable, group []*Handle) (keep *Handle, doubled, ok bool) {
	held := 0
	for _, h := range group {
		switch {
		case h.Held():
			if held++; held == 1 {
				keep = h
			}
		case keep == nil, held == 0 && h.ID < keep.ID:
			keep = h
		}
	}
	if held > 1 {
		c.problem(Problem{Reason: ReasonTwins, Deployable: p.Name, Handle: handleName(keep)})
		return nil, false, false
	}
	for _, h := range group {
		if h != keep {
			doubled = true
			c.rows = append(c.rows, DeleteHandle{Deployable: p.ID, Handle: h.ID, Info: h.Info})
		}
	}
	return keep, doubled, true
}

// handle compares a stored handle with its report; both are the same function.
func (c *change) handle(p *Deployable, h, q *Handle) {
	if h.Type != q.Type {
		if h.Held() {
			c.heldProblem(p, h, "attach_type", string(h.Type), string(q.Type))
			return
		}
		c.rows = append(c.rows, SetHandleType{Deployable: p.ID, Handle: h.ID, From: h.Type, To: q.Type})
	}
	if h.Info == q.Info {
		return
	}
	have, err := parseStored(h)
	if err != nil {
		c.problem(Problem{Reason: ReasonInfo, Deployable: p.Name, Handle: handleName(h), Field: "attach_info", Stored: h.Info, Detail: err.Error()})
		return
	}
	want, _ := arq.ParseHandleInfo(q.Info) // the report was checked
	switch verdict := compareInfo(h.Type, have, want); {
	case verdict == infoSame:
	case verdict == infoReplace && h.Held():
		c.heldProblem(p, h, "attach_info", h.Info, q.Info)
	case verdict == infoReplace:
		c.rows = append(c.rows,
			DeleteHandle{Deployable: p.ID, Handle: h.ID, Info: h.Info},
			InsertHandle{Deployable: p.ID, Type: q.Type, Info: q.Info, InUse: c.unclean()})
	case verdict == infoManaged && h.Held():
		c.managedProblem(p, h, have, want)
	case verdict == infoManaged:
		c.rows = append(c.rows, SetHandleInfo{Deployable: p.ID, Handle: h.ID, From: h.Info, To: q.Info, Free: true})
	default:
		c.rows = append(c.rows, SetHandleInfo{Deployable: p.ID, Handle: h.ID, From: h.Info, To: refreshed(have, want)})
	}
}

func (c *change) heldProblem(p *Deployable, h *Handle, field, stored, reported string) {
	c.problem(Problem{Reason: ReasonHandleHeld, Deployable: p.Name, Handle: handleName(h), Field: field, Stored: stored, Reported: reported})
}

func (c *change) managedProblem(p *Deployable, h *Handle, have, want arq.HandleInfo) {
	was, _ := have.Managed()
	is, _ := want.Managed()
	c.problem(Problem{
		Reason: ReasonManaged, Deployable: p.Name, Handle: handleName(h), Field: arq.KeyManaged,
		Stored: strconv.FormatBool(was), Reported: strconv.FormatBool(is),
	})
}

// parseStored reads a stored handle's text and checks its metadata.
func parseStored(h *Handle) (arq.HandleInfo, error) {
	info, err := arq.ParseHandleInfo(h.Info)
	if err != nil {
		return info, err
	}
	return info, checkMetadata(h.Type, info)
}

// infoVerdict is how two texts of one function differ.
type infoVerdict uint8

const (
	infoSame    infoVerdict = iota // in spelling only
	infoRefresh                    // in stateful or numa_node
	infoManaged                    // in the effective managed mode
	infoReplace                    // in a key nobody here knows
)

// compareInfo compares two valid texts of one function.
func compareInfo(t arq.HandleType, have, want arq.HandleInfo) infoVerdict {
	if otherKeys(t, have) != otherKeys(t, want) {
		return infoReplace
	}
	if t == arq.HandlePCI {
		a, _ := have.Managed()
		b, _ := want.Managed()
		if a != b {
			return infoManaged
		}
	}
	if sameMetadata(have, want) {
		return infoSame
	}
	return infoRefresh
}

// sameMetadata compares stateful and numa_node by their effective values.
func sameMetadata(have, want arq.HandleInfo) bool {
	s, _ := have.Stateful()
	t, _ := want.Stateful()
	n, known, _ := have.NUMANode()
	m, wanted, _ := want.NUMANode()
	return s == t && n == m && known == wanted
}

// addressKeys and the metadata are what [otherKeys] leaves out of a PCI handle.
var addressKeys = map[string]string{
	"domain": "", "bus": "", "device": "", "function": "",
	arq.KeyManaged: "", arq.KeyStateful: "", arq.KeyNUMANode: "",
}

// otherKeys is what a text says beyond address and metadata.
func otherKeys(t arq.HandleType, info arq.HandleInfo) string {
	drop := addressKeys
	if _, err := info.Address(); err != nil || t == arq.HandleMDEV {
		drop = metadataKeys
	}
	for _, k := range info.Keys() {
		if _, known := drop[k]; !known {
			return canonicalJSON(info, drop)
		}
	}
	return ""
}

// refreshed is the stored text with the reported stateful and numa_node; the
// managed key keeps its spelling, absent or not.
func refreshed(have, want arq.HandleInfo) string {
	set := map[string]string{arq.KeyStateful: "", arq.KeyNUMANode: ""}
	for k := range set {
		set[k], _ = want.Value(k)
	}
	return have.Compose(set)
}
