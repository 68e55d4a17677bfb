package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

const (
	envelopeVersion = "2.0"
	versionKey      = "oslo.version"
	messageKey      = "oslo.message"
	maxScratch      = 1 << 20
	opening         = `{"` + versionKey + `": "` + envelopeVersion + `", "` + messageKey + `": `
)

// Member is one member of an object; its value is raw JSON.
type Member struct {
	Key   string
	Value []byte
}

// scratch is a buffer for a message on its way into the envelope.
type scratch struct{ b []byte }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func takeScratch() *scratch {
	s := scratches.Get().(*scratch)
	s.b = s.b[:0]
	return s
}

func (s *scratch) giveBack() {
	if cap(s.b) <= maxScratch {
		scratches.Put(s)
	}
}

// seal gives the envelope around a message that lacks its closing brace; more is escaped text to go before that.
func seal(message, more []byte) ([]byte, error) {
	dst := make([]byte, 0, len(opening)+len(message)+len(message)/4+len(more)+16)
	dst, err := pyjson.AppendBytes(append(dst, opening...), message)
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	dst = append(dst[:len(dst)-len(`"`)], more...)
	return append(dst, `}"}`...), nil
}

// open gives the message inside body. A body that lacks one of the two keys of an envelope is the message itself.
func open(body []byte) ([]byte, error) {
	var r pyjson.Reader
	r.Reset(body)
	if r.Accept(opening) { // the text that every peer writes
		inner, err := r.ReadText(make([]byte, 0, len(body)))
		if err == nil && r.Accept("}") && r.End() == nil {
			return inner, nil
		}
	}
	return openAny(body)
}

// openAny reads an envelope in any spelling.
func openAny(body []byte) ([]byte, error) {
	var version, message []byte
	s := scanner{doc: body}
	for s.next() {
		switch string(s.key) {
		case versionKey:
			version = s.value
		case messageKey:
			message = s.value
		}
	}
	switch {
	case s.err != nil:
		return nil, s.err
	case version == nil || message == nil:
		return body, nil
	}
	text, ok := Text(version)
	if !ok {
		return nil, fmt.Errorf("envelope version is %.40s, want a string", version)
	}
	if ok, err := Compatible(envelopeVersion, text); err != nil || !ok {
		return nil, fmt.Errorf("envelope version is %.40q, want %s", text, envelopeVersion)
	}
	if message[0] != '"' {
		return nil, fmt.Errorf("member %s is no string", messageKey)
	}
	inner, err := pyjson.NewReader(message).ReadText(make([]byte, 0, len(message)))
	if err != nil {
		return nil, fmt.Errorf("member %s: %w", messageKey, err)
	}
	return inner, nil
}

// scanner walks over the members of the object that a document consists of.
type scanner struct {
	doc        []byte
	key, value []byte // of the current member
	err        error

	reader  pyjson.Reader
	started bool
}

// next goes to the next member and reports whether there is one; at the end err says whether the document is sound.
func (s *scanner) next() bool {
	var more bool
	if s.started {
		more, s.err = s.reader.NextMember()
	} else {
		s.started = true
		s.reader.Reset(s.doc)
		more, s.err = s.reader.BeginObject()
	}
	if s.err == nil && more {
		if s.key, s.err = s.reader.ReadKeyText(nil); s.err == nil {
			s.value, s.err = s.reader.ReadRaw()
		}
	}
	if s.err == nil && !more {
		s.err = s.reader.End()
	}
	return more && s.err == nil
}

// Members lists the members of the object that doc consists of; of a key that occurs twice the last one counts, as in Python.
func Members(doc []byte) ([]Member, error) {
	var list []Member
	seen := map[string]int{}
	s := scanner{doc: doc}
	for s.next() {
		if i, ok := seen[string(s.key)]; ok {
			list[i].Value = s.value
			continue
		}
		seen[string(s.key)] = len(list)
		list = append(list, Member{string(s.key), s.value})
	}
	return list, s.err
}

// Elements lists the elements of the array that raw consists of, as far as they can be read; none if it is no array.
func Elements(raw []byte) [][]byte {
	n := 0
	for a := NewArray(raw); a.Next(); {
		n++
	}
	if n == 0 {
		return nil
	}
	list := make([][]byte, 0, n)
	for a := NewArray(raw); a.Next(); {
		list = append(list, a.Value)
	}
	return list
}

// Array walks over the elements of an array as far as they can be read.
type Array struct {
	Value []byte // of the current element, raw

	reader  pyjson.Reader
	started bool
}

// NewArray stands before the first element of raw, which has none if it is no array.
func NewArray(raw []byte) Array {
	var a Array
	a.reader.Reset(raw)
	return a
}

// Next goes to the next element and reports whether there is one.
func (a *Array) Next() bool {
	var more bool
	var err error
	if a.started {
		more, err = a.reader.NextElement()
	} else {
		a.started = true
		more, err = a.reader.BeginArray()
	}
	if more && err == nil {
		a.Value, err = a.reader.ReadRaw()
	}
	return more && err == nil
}

// Text decodes a raw JSON string and reports whether raw is one. Half a surrogate pair becomes the replacement character.
func Text(raw []byte) (string, bool) {
	var buf [64]byte
	text, ok := AppendText(buf[:0], raw)
	return string(text), ok
}

// AppendText appends what [Text] gives to dst.
func AppendText(dst, raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return dst, false
	}
	var r pyjson.Reader
	r.Reset(raw)
	text, err := r.ReadText(dst[len(dst):])
	if err != nil || r.End() != nil {
		return appendPatched(dst, raw)
	}
	return append(dst, text...), true
}

// appendPatched is the slow way, for strings that are not Unicode.
func appendPatched(dst, raw []byte) ([]byte, bool) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return dst, false
	}
	return append(dst, s...), true
}

// Truthy reports whether Python counts a raw JSON value as true; nil is a missing value.
func Truthy(raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	switch raw[0] {
	case 'n', 'f':
		return false
	case 't', 'N', 'I':
		return true
	case '"':
		return len(raw) > 2
	case '{', '[':
		return len(bytes.TrimSpace(raw[1:len(raw)-1])) > 0
	default:
		return pyjson.ParseFloat(raw) != 0
	}
}
