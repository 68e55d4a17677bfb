package wire

import (
	"bytes"
	"compress/bzip2"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
)

// What every message is labelled as.
const (
	ContentType     = "application/json"
	ContentEncoding = "utf-8"
)

// CompressionHeader names the header that says how a body is compressed; Gzip and Bzip2 are its values. The first one, in
// spite of its name, stands for a zlib stream.
const (
	CompressionHeader = "compression"
	Gzip              = "application/x-gzip"
	Bzip2             = "application/x-bz2"
)

// CheckContent tells whether a message labelled like this may be read. Peers refuse every content type but the exact one;
// the encoding may be absent and in any case.
func CheckContent(contentType, contentEncoding string) error {
	if contentType != ContentType {
		return fmt.Errorf("content type is %.80q, want %q", contentType, ContentType)
	}
	switch strings.ToLower(contentEncoding) {
	case "", ContentEncoding, "utf8", "us-ascii", "ascii":
		return nil
	}
	return fmt.Errorf("content encoding is %.80q, want %q", contentEncoding, ContentEncoding)
}

// Compress gives the body as a peer with kombu_compression = gzip sends it.
func Compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Decompress undoes the compression that a header names, "" for none. More than limit bytes are an error.
func Decompress(body []byte, compression string, limit int) ([]byte, error) {
	var r io.Reader
	switch compression {
	case "":
		return body, nil
	case Gzip:
		z, err := zlib.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("compressed body: %w", err)
		}
		r = z
	case Bzip2:
		r = bzip2.NewReader(bytes.NewReader(body))
	default:
		return nil, fmt.Errorf("compression %.80q is unknown", compression)
	}
	plain, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("compressed body: %w", err)
	case len(plain) > limit:
		return nil, fmt.Errorf("compressed body is larger than %d bytes", limit)
	}
	return plain, nil
}
