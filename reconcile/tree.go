package reconcile

// Tree is what one read of Placement showed under a host's root.
type Tree struct {
	Root string // uuid of the host's own provider
	// Providers are all of them, the root included, in Placement's order: that
	// of their creation, which is nearly that of the rows.
	Providers []Provider
}

// Provider is one resource provider of a tree.
type Provider struct {
	UUID, Name string
	Parent     string // uuid; empty for the root
	Generation int
}

// finder looks providers of a tree up by uuid. As long as they are asked for
// nearly in the tree's order it only steps through the list; a map of 100,000
// providers would cost more than the rest of a [Diff].
type finder struct {
	list []Provider
	next int // where the last one was found, and one
	at   map[string]int
}

// window is how far ahead a finder looks before it builds its map.
const window = 8

func (f *finder) find(uuid string) (Provider, bool) {
	for i := f.next; i < len(f.list) && i < f.next+window; i++ {
		if f.list[i].UUID == uuid {
			f.next = i + 1
			return f.list[i], true
		}
	}
	if f.at == nil {
		f.at = make(map[string]int, len(f.list))
		for i := range f.list {
			f.at[f.list[i].UUID] = i
		}
	}
	i, ok := f.at[uuid]
	if !ok {
		return Provider{}, false
	}
	f.next = i + 1
	return f.list[i], true
}
