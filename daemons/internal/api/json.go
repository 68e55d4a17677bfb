package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// encode writes JSON as Python's json.dumps does, blanks and \u escapes included:
// lengths and bytes are then those of the peer.
func encode(v any) ([]byte, error) {
	var compact bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return respace(bytes.TrimSuffix(compact.Bytes(), []byte("\n"))), nil
}

// respace puts a blank behind commas and colons outside strings and escapes what is
// not ASCII inside them.
func respace(compact []byte) []byte {
	out := make([]byte, 0, len(compact)+len(compact)/8)
	inString := false
	for i := 0; i < len(compact); {
		c := compact[i]
		switch {
		case inString && c == '\\':
			out = append(out, compact[i:i+2]...)
			i += 2
			continue
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(compact[i:])
			out = appendEscaped(out, r)
			i += size
			continue
		case c == '"':
			inString = !inString
		}
		out = append(out, c)
		if !inString && (c == ',' || c == ':') {
			out = append(out, ' ')
		}
		i++
	}
	return out
}

func appendEscaped(out []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
