package ovo

// Values is the list of valid values of an enum, in the form that its fingerprint prints.
type Values struct{ list any }

// OneOf returns values that print as a Python tuple: ('a', 'b').
func OneOf[T ~string](values ...T) Values { return Values{Tuple(anySlice(values))} }

// ListedOneOf returns values that print as a Python list: ['a', 'b'].
func ListedOneOf[T ~string](values ...T) Values { return Values{anySlice(values)} }

// SubstringOf returns the values of an enum that was given a plain string: every substring of it is valid, the empty
// one included. Cyborg's ControlpathID.cpid_type is such a field.
func SubstringOf(s string) Values { return Values{s} }

func anySlice[T ~string](values []T) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}
