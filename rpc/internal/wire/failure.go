package wire

import (
	"errors"
	"strings"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// Failure is an exception on the wire.
type Failure struct {
	Class, Module, Message string
	Traceback              []string
	Args                   [][]byte // raw values
	Kwargs                 []Member
}

// Encode gives the raw value of a reply's member "failure": a string holding JSON.
func (f *Failure) Encode() ([]byte, error) {
	var e encoder
	e.open('{')
	e.key("class").text(f.Class)
	e.key("module").text(f.Module)
	e.key("message").text(f.Message)
	e.key("tb").open('[')
	for _, line := range f.Traceback {
		e.item().text(line)
	}
	e.close(']').key("args").open('[')
	for _, arg := range f.Args {
		e.item().raw(arg)
	}
	e.close(']').key("kwargs").open('{')
	for _, m := range f.Kwargs {
		e.key(m.Key).raw(m.Value)
	}
	e.close('}').close('}')
	if e.err != nil {
		return nil, e.err
	}
	return pyjson.AppendString(nil, string(e.b))
}

// encoder writes JSON with Python's separators and keeps the first error.
type encoder struct {
	b     []byte
	first bool
	err   error
}

func (e *encoder) open(bracket byte) *encoder {
	e.b, e.first = append(e.b, bracket), true
	return e
}

func (e *encoder) close(bracket byte) *encoder {
	e.b, e.first = append(e.b, bracket), false
	return e
}

func (e *encoder) item() *encoder {
	if !e.first {
		e.b = append(e.b, pyjson.ItemSeparator...)
	}
	e.first = false
	return e
}

func (e *encoder) key(name string) *encoder {
	e.item().text(name)
	e.b = append(e.b, pyjson.KeySeparator...)
	return e
}

func (e *encoder) text(s string) {
	b, err := pyjson.AppendString(e.b, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil && e.err == nil {
		e.err = err
	}
	e.b = b
}

func (e *encoder) raw(value []byte) { e.b = append(e.b, value...) }

// Decode reads the raw value of a reply's member "failure". Members of another type than expected are left out; an error
// means that there is nothing to read.
func (f *Failure) Decode(raw []byte) error {
	*f = Failure{}
	text, ok := Text(raw)
	if !ok {
		return errors.New("failure is no string")
	}
	s := scanner{doc: []byte(text)}
	for s.next() {
		switch string(s.key) {
		case "class":
			f.Class, _ = Text(s.value)
		case "module":
			f.Module, _ = Text(s.value)
		case "message":
			f.Message, _ = Text(s.value)
		case "tb":
			f.Traceback = texts(s.value)
		case "args":
			f.Args = Elements(s.value)
		case "kwargs":
			f.Kwargs, _ = Members(s.value)
		}
	}
	return s.err
}

func texts(raw []byte) []string {
	if s, ok := Text(raw); ok {
		return []string{s}
	}
	var list []string
	for _, e := range Elements(raw) {
		if s, ok := Text(e); ok {
			list = append(list, s)
		}
	}
	return list
}
