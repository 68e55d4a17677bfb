package wire

import "testing"

// BenchmarkCodec encodes and decodes the request and the reply of one call.
func BenchmarkCodec(b *testing.B) {
	var context []byte
	for _, key := range usualKeys {
		context, _ = AppendContext(context, key, []byte(`"8f0c4b1f5e3a4d0fa5b0a0f0d3c1e2b4"`))
	}
	context = escaped(b, context)
	b.ReportAllocs()
	for b.Loop() {
		r := Request{Method: []byte(`"report"`), Args: []byte(`{"hostname": "compute-1", "devices": ["a", "b", "c"]}`), MsgID: NewID(), ReplyQueue: "reply_x", UniqueID: NewID()}
		body, err := r.Encode(context)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Decode(body); err != nil {
			b.Fatal(err)
		}
		p := Reply{Result: []byte(`"compute-1"`), Ending: true, MsgID: r.MsgID}
		if body, err = p.Encode(NewID()); err != nil {
			b.Fatal(err)
		}
		if err := p.Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}
