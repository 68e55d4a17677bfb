package amqp

import (
	"bytes"
	"compress/bzip2"
	"compress/zlib"
	"fmt"
	"io"
)

// What kombu writes: the header names gzip, the body is a zlib stream.
const (
	compressionHeader = "compression"
	compressionGzip   = "application/x-gzip"
	compressionBzip2  = "application/x-bz2"
)

// maxBody is the largest body that is looked at, in bytes, compressed or not.
const maxBody = 64 << 20

func compress(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write(body); err != nil {
		return nil, fmt.Errorf("compress body: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress body: %w", err)
	}
	return out.Bytes(), nil
}

// decompress undoes what the compression header says.
func decompress(header any, body []byte) ([]byte, error) {
	var r io.Reader
	switch header {
	case nil, "":
		return body, nil
	case compressionGzip:
		z, err := zlib.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("decompress body: %w", err)
		}
		r = z
	case compressionBzip2:
		r = bzip2.NewReader(bytes.NewReader(body))
	default:
		return nil, fmt.Errorf("compression %v is not supported", header)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("decompress body: %w", err)
	}
	return out, nil
}
