package main

import (
	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// codec decodes and encodes the report with this project's library. The buffer is the writer's to keep, as it is in a
// client that sends one message after the other.
type codec struct {
	registry *ovo.Registry
	body     []byte
	buffer   []byte
}

// newCodec makes the report as it goes over the wire.
func newCodec() (*codec, error) {
	r, err := cyborg.NewRelease17()
	if err != nil {
		return nil, err
	}
	body, err := ovo.AppendList(r, nil, inventory())
	return &codec{registry: r, body: body}, err
}

func (c *codec) run() error {
	list, err := ovo.DecodeList[cyborg.DriverDevice](c.registry, c.body)
	if err != nil {
		return err
	}
	c.buffer, err = ovo.AppendList(c.registry, c.buffer[:0], list)
	return err
}
