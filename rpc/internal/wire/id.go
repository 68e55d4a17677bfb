package wire

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// NewID returns a random UUID (version 4) as 32 hexadecimal digits, the form of all ids in messages and queue names.
func NewID() string {
	var text [32]byte
	b := uuid4()
	hex.Encode(text[:], b[:])
	return string(text[:])
}

// NewUUID returns a random UUID (version 4) with dashes.
func NewUUID() string {
	var text [36]byte
	b := uuid4()
	hex.Encode(text[:8], b[:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:], b[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

func uuid4() [16]byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return b
}
