package ovo

// Object is a versioned object: a pointer to a struct that embeds [Base], or a [*Record].
type Object interface {
	base() *Base
}

// Base makes the struct that embeds it an [Object]. It remembers the version that the object was received with.
type Base struct {
	received string // version text of the primitive, verbatim; "" for an object made here
	class    *Class // class that decoded the object; only for the registry that owns it
}

func (b *Base) base() *Base { return b }

// VersionOf returns the version that o was received with, verbatim, and "" for an object that was made here: that one has its class's version.
func VersionOf(o Object) string { return o.base().received }
