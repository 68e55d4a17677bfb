package pyjson

// Kind is the kind of a JSON value, told by its first byte.
type Kind byte

// The kinds of JSON values. The zero Kind is "none of them".
const (
	Invalid Kind = iota
	Null
	Bool
	Number // NaN, Infinity and -Infinity included
	String
	Array
	Object
)

var kindNames = [...]string{"invalid", "null", "bool", "number", "string", "array", "object"}

// String is the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Invalid]
}

// kinds tells the kind from the first byte of a value.
var kinds = [256]Kind{
	'n': Null, 't': Bool, 'f': Bool, '"': String, '[': Array, '{': Object,
	'-': Number, '0': Number, '1': Number, '2': Number, '3': Number, '4': Number, '5': Number, '6': Number, '7': Number, '8': Number, '9': Number,
	'N': Number, 'I': Number,
}

// Reader walks over one JSON document in memory. It never copies or changes the document; whoever keeps a slice that a Read method
// returned keeps the document. The zero Reader reads an empty document.
type Reader struct {
	data  []byte
	pos   int
	depth int
}

// NewReader returns a Reader that stands before the first value of data.
func NewReader(data []byte) *Reader { return &Reader{data: data} }

// Reset makes r stand before the first value of data.
func (r *Reader) Reset(data []byte) { *r = Reader{data: data} }

// Offset is the position in the document: everything before it has been read.
func (r *Reader) Offset() int { return r.pos }

// Slice returns the bytes of the document between two offsets, capped so that appending to it cannot reach the document.
func (r *Reader) Slice(from, to int) []byte { return r.data[from:to:to] }

// Rewind goes back (or forward) to an offset that [Reader.Offset] returned at the same nesting level.
func (r *Reader) Rewind(offset int) { r.pos = offset }

// space skips white space and returns the byte after it, 0 at the end of the document.
func (r *Reader) space() byte {
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		r.pos++
	}
	return 0
}

// fail returns a *SyntaxError at the current position.
func (r *Reader) fail(reason string) error { return &SyntaxError{Offset: r.pos, Reason: reason} }

// Peek tells the kind of the next value without reading it; [Invalid] when no value starts there.
func (r *Reader) Peek() Kind { return kinds[r.space()] }

// End checks that nothing but white space follows.
func (r *Reader) End() error {
	if r.space(); r.pos < len(r.data) {
		return r.fail("want the end of the document")
	}
	return nil
}

// Accept reads text if the document goes on with exactly these bytes, white space included, and tells whether it did. It is the fast path
// for text that a known writer always writes the same way. Brackets in text must be announced with [Reader.Descend] or [Reader.Ascend].
func (r *Reader) Accept(text string) bool {
	end := r.pos + len(text)
	if end > len(r.data) || string(r.data[r.pos:end]) != text {
		return false
	}
	r.pos = end
	return true
}

// Descend counts levels that [Reader.Accept] opened; more than [MaxDepth] in all is [ErrDepth].
func (r *Reader) Descend(levels int) error {
	r.depth += levels
	if r.depth > MaxDepth {
		return ErrDepth
	}
	return nil
}

// Ascend counts levels that [Reader.Accept] closed.
func (r *Reader) Ascend(levels int) { r.depth -= levels }

// ReadNull reads null.
func (r *Reader) ReadNull() error {
	if r.space(); !r.Accept("null") {
		return r.fail("want null")
	}
	return nil
}

// ReadBool reads true or false.
func (r *Reader) ReadBool() (bool, error) {
	switch r.space(); {
	case r.Accept("true"):
		return true, nil
	case r.Accept("false"):
		return false, nil
	}
	return false, r.fail("want true or false")
}

// BeginObject reads the opening brace. More says that a member follows; otherwise the closing brace has been read too.
func (r *Reader) BeginObject() (more bool, err error) { return r.begin('{', '}', "want an object") }

// NextMember goes on after a member's value: to the next member, or past the closing brace.
func (r *Reader) NextMember() (more bool, err error) {
	return r.next('}', "want a comma or a closing brace")
}

// BeginArray reads the opening bracket. More says that an element follows; otherwise the closing bracket has been read too.
func (r *Reader) BeginArray() (more bool, err error) { return r.begin('[', ']', "want an array") }

// NextElement goes on after an element: to the next one, or past the closing bracket.
func (r *Reader) NextElement() (more bool, err error) {
	return r.next(']', "want a comma or a closing bracket")
}

func (r *Reader) begin(open, shut byte, reason string) (bool, error) {
	if r.space() != open {
		return false, r.fail(reason)
	}
	r.pos++
	r.depth++
	if r.depth > MaxDepth {
		return false, ErrDepth
	}
	if r.space() == shut {
		r.pos++
		r.depth--
		return false, nil
	}
	return true, nil
}

func (r *Reader) next(shut byte, reason string) (bool, error) {
	switch r.space() {
	case ',':
		r.pos++
		if c := r.space(); c == shut {
			return false, r.fail("want a value after the comma")
		}
		return true, nil
	case shut:
		r.pos++
		r.depth--
		return false, nil
	}
	return false, r.fail(reason)
}

// colon reads the colon after a key.
func (r *Reader) colon() error {
	if r.space() != ':' {
		return r.fail("want a colon after the key")
	}
	r.pos++
	return nil
}

// ReadKey reads a member's key and the colon after it.
func (r *Reader) ReadKey() (string, error) {
	key, err := r.ReadString()
	if err != nil {
		return "", err
	}
	return key, r.colon()
}

// ReadKeyText is [Reader.ReadKey] without the copy, in the manner of [Reader.ReadText].
func (r *Reader) ReadKeyText(buf []byte) ([]byte, error) {
	key, err := r.ReadText(buf)
	if err != nil {
		return nil, err
	}
	return key, r.colon()
}

// ReadRaw reads the next value, whatever it is, and returns its text. The text is checked for well-formedness, but strings are not decoded, so
// half a surrogate pair passes.
func (r *Reader) ReadRaw() ([]byte, error) {
	r.space()
	start := r.pos
	if err := r.Skip(); err != nil {
		return nil, err
	}
	return r.Slice(start, r.pos), nil
}

// Skip reads the next value and forgets it. Its well-formedness is checked.
func (r *Reader) Skip() error {
	switch r.Peek() {
	case Null:
		return r.ReadNull()
	case Bool:
		_, err := r.ReadBool()
		return err
	case Number:
		_, _, err := r.ReadNumber()
		return err
	case String:
		_, err := r.scanText()
		return err
	case Array:
		more, err := r.BeginArray()
		for ; more && err == nil; more, err = r.NextElement() {
			if err := r.Skip(); err != nil {
				return err
			}
		}
		return err
	case Object:
		return r.skipObject()
	}
	return r.fail("want a value")
}

func (r *Reader) skipObject() error {
	more, err := r.BeginObject()
	for ; more && err == nil; more, err = r.NextMember() {
		if _, err := r.scanText(); err != nil {
			return err
		}
		if err := r.colon(); err != nil {
			return err
		}
		if err := r.Skip(); err != nil {
			return err
		}
	}
	return err
}
