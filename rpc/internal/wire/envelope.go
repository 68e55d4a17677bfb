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

// seal gives the envelope around a message.
func seal(message []byte) ([]byte, error) {
	dst := append(make([]byte, 0, len(message)+len(message)/4+64), opening...)
	dst, err := pyjson.AppendString(dst, string(message))
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return append(dst, '}'), nil
}

// open gives the message inside body. A body that lacks one of the two keys of an envelope is the message itself.
func open(body []byte) ([]byte, error) {
	var version, message []byte
	err := members(body, func(key, value []byte) {
		switch string(key) {
		case versionKey:
			version = value
		case messageKey:
			message = value
		}
	})
	switch {
	case err != nil:
		return nil, err
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

// members calls f for each member of the object that doc consists of. The key is only valid during the call.
func members(doc []byte, f func(key, value []byte)) error {
	var (
		r   pyjson.Reader
		buf [64]byte
	)
	r.Reset(doc)
	more, err := r.BeginObject()
	for ; more && err == nil; more, err = r.NextMember() {
		key, err := r.ReadKeyText(buf[:0])
		if err != nil {
			return err
		}
		value, err := r.ReadRaw()
		if err != nil {
			return err
		}
		f(key, value)
	}
	if err != nil {
		return err
	}
	return r.End()
}

// Members lists the members of the object that doc consists of; of a key that occurs twice the last one counts, as in Python.
func Members(doc []byte) ([]Member, error) {
	var list []Member
	seen := map[string]int{}
	err := members(doc, func(key, value []byte) {
		if i, ok := seen[string(key)]; ok {
			list[i].Value = value
			return
		}
		seen[string(key)] = len(list)
		list = append(list, Member{string(key), value})
	})
	return list, err
}

// Text decodes a raw JSON string and reports whether raw is one. Half a surrogate pair becomes the replacement character.
func Text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	var r pyjson.Reader
	r.Reset(raw)
	s, err := r.ReadString()
	if err != nil {
		err = json.Unmarshal(raw, &s)
	}
	return s, err == nil
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
