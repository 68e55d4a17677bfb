package ovo

import "reflect"

// List makes the struct that embeds it a list object: Python's ObjectListBase, with X the struct of its members. Its field on the wire is
// "objects", always set and empty by default.
type List[X any] struct {
	objects []*X
	s       state
}

// ListOf returns a list object of type L that holds the given members and is not marked changed:
//
//	list := ovo.ListOf[VolumeList](volumes)
//
// The list keeps the slice.
func ListOf[L, X any, P interface {
	*L
	fill(members []*X)
}](members []*X) *L {
	l := new(L)
	P(l).fill(members)
	return l
}

func (l *List[X]) fill(members []*X) { l.objects = members }

// All returns the members. The slice is the list's own.
func (l *List[X]) All() []*X { return l.objects }

// Len returns the number of members.
func (l *List[X]) Len() int { return len(l.objects) }

// Set replaces the members and marks the list changed. The list keeps the slice.
func (l *List[X]) Set(members []*X) { l.objects, l.s = members, stateSet|stateChanged }

// Changed tells whether the list itself is marked changed; members have their own marks.
func (l *List[X]) Changed() bool { return l.s&stateChanged != 0 }

func (*List[X]) members() reflect.Type { return reflect.TypeFor[X]() }

// listCell is implemented by pointers to List only.
type listCell interface{ members() reflect.Type }
