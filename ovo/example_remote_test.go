package ovo_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-cyborg/cyborg/ovo"
)

// Volumes are the remotable methods of Volume.
type Volumes struct {
	// Get returns a volume.
	Get func(ctx context.Context, name string) (*Volume, error) `ovo:"get(cls, context, name)"`
	// Grow adds to the size of a volume and returns it.
	Grow func(ctx context.Context, v *Volume, by int64) (int64, error) `ovo:"grow(self, by=1)"`
}

// localVolumes are the bodies: what the service that owns the volumes does.
func localVolumes() Volumes {
	return Volumes{
		Get: func(_ context.Context, name string) (*Volume, error) {
			return &Volume{Name: ovo.Stored(name), Size: ovo.NullStored(new(int64))}, nil
		},
		Grow: func(_ context.Context, v *Volume, by int64) (int64, error) {
			v.Size.Set(v.Size.Value() + by)
			return v.Size.Value(), nil
		},
	}
}

// wire carries the calls of this example; package ovorpc does it over RPC.
type wire struct{ *ovo.Dispatcher }

func (w wire) ObjectClassActionVersions(ctx context.Context, object, method string, m ovo.Manifest, args, kwargs json.RawMessage) (json.RawMessage, error) {
	return w.ClassAction(ctx, object, method, m, args, kwargs)
}

func (w wire) ObjectAction(ctx context.Context, object json.RawMessage, method string, args, kwargs json.RawMessage) (json.RawMessage, error) {
	return w.Action(ctx, object, method, args, kwargs)
}

func (w wire) ObjectBackportVersions(_ context.Context, object json.RawMessage, m ovo.Manifest) (json.RawMessage, error) {
	return w.Backport(object, m)
}

// The caller cannot tell whether the functions are bodies or calls.
func ExampleRegistry_Bind() {
	class := ovo.NewClass[Volume]("Volume", ovo.History{ovo.V("1.0")}, ovo.Methods[Volumes]())
	r, err := ovo.NewRegistry(ovo.DefaultNamespace(), class)
	if err != nil {
		fmt.Println(err)
		return
	}
	service, err := r.Dispatcher(localVolumes())
	if err != nil {
		fmt.Println(err)
		return
	}
	var remote Volumes
	if err := r.Bind(wire{service}, &remote); err != nil {
		fmt.Println(err)
		return
	}
	for _, volumes := range []Volumes{localVolumes(), remote} {
		v, err := volumes.Get(context.Background(), "v1")
		if err != nil {
			fmt.Println(err)
			return
		}
		size, err := volumes.Grow(context.Background(), v, 5)
		fmt.Println(size, err, v.Size.Value(), v.Size.Changed())
	}
	// Output:
	// 5 <nil> 5 true
	// 5 <nil> 5 true
}

func ExampleSerializer() {
	s := ovo.Serializer{Registry: volumes()}
	data, err := s.Append(nil, map[string]any{"volumes": []*Volume{{Name: ovo.Stored("v1")}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := s.Decode(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, _ := v.(*ovo.Dict).Get("volumes")
	fmt.Println(list.([]any)[0].(*Volume).Name.Value())
	// Output: v1
}
