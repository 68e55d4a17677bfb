package ovo_test

import (
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/ovo"
)

// Volume is an object of an imaginary project.
//
// Versions: 1.1 type ssd; 1.2 size.
type Volume struct {
	ovo.Base
	Name ovo.Field[string]     `ovo:"name"`
	Type ovo.Field[VolumeType] `ovo:"type,default=disk"`
	Size ovo.Null[int64]       `ovo:"size"` // GiB
}

// VolumeType is the kind of a volume.
type VolumeType string

const (
	Disk VolumeType = "disk"
	SSD  VolumeType = "ssd"
)

// Values lists the valid types.
func (VolumeType) Values() ovo.Values { return ovo.OneOf(Disk, SSD) }

// VolumeList is the volumes of a lookup.
type VolumeList struct {
	ovo.List[Volume]
	ovo.Base
}

func volumeClass() *ovo.Class {
	return ovo.NewClass[Volume]("Volume", ovo.History{
		ovo.V("1.0"),
		ovo.V("1.1", ovo.AddsValue("type", SSD)),
		ovo.V("1.2", ovo.Adds("size")),
	})
}

func volumeListClass() *ovo.Class {
	return ovo.NewClass[VolumeList]("VolumeList", ovo.History{ovo.V("1.0", ovo.Members("1.0")), ovo.V("1.1", ovo.Members("1.2"))})
}

func volumes() *ovo.Registry {
	r, err := ovo.NewRegistry(ovo.DefaultNamespace(), volumeClass(), volumeListClass())
	if err != nil {
		panic(err)
	}
	return r
}

func ExampleNewClass() {
	r, err := ovo.NewRegistry(ovo.DefaultNamespace(), volumeClass())
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := r.Append(nil, &Volume{Name: ovo.Of("v1"), Type: ovo.Of(Disk), Size: ovo.NullOf(int64(10))})
	fmt.Println(string(data), err)
	// Output:
	// {"versioned_object.name": "Volume", "versioned_object.namespace": "versionedobjects", "versioned_object.version": "1.2", "versioned_object.data": {"name": "v1", "type": "disk", "size": 10}, "versioned_object.changes": ["name", "size", "type"]} <nil>
}

func ExampleRegistry_AppendAt() {
	r := volumes()
	data, err := r.AppendAt(nil, &Volume{Name: ovo.Stored("v1"), Type: ovo.Stored(Disk), Size: ovo.NullStored[int64](nil)}, "1.0", nil)
	fmt.Println(string(data), err)

	_, err = r.AppendAt(nil, &Volume{Type: ovo.Of(SSD)}, "1.0", nil)
	var refused *ovo.ActionError
	fmt.Println(errors.As(err, &refused), err)
	// Output:
	// {"versioned_object.name": "Volume", "versioned_object.namespace": "versionedobjects", "versioned_object.version": "1.0", "versioned_object.data": {"name": "v1", "type": "disk"}} <nil>
	// true Object action obj_make_compatible failed because: type=ssd not supported in version (1, 0)
}

func ExampleDecode() {
	v, err := ovo.Decode[Volume](volumes(), []byte(`{"versioned_object.name": "Volume", "versioned_object.namespace": "versionedobjects",
		"versioned_object.version": "1.1", "versioned_object.data": {"name": "v1", "type": "ssd"}, "versioned_object.changes": ["type"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, sized := v.Size.Get()
	fmt.Println(v.Name.Value(), v.Type.Value(), v.Type.Changed(), sized, v.Size.IsNull(), ovo.VersionOf(v))

	_, err = ovo.Decode[Volume](volumes(), []byte(`{"versioned_object.name": "Volume", "versioned_object.namespace": "versionedobjects",
		"versioned_object.version": "1.1", "versioned_object.data": {"type": "tape"}}`))
	var at *ovo.FieldError
	fmt.Println(errors.As(err, &at), err)
	// Output:
	// v1 ssd true false false 1.1
	// true Volume.type: Field value tape is invalid
}

func ExampleListOf() {
	list := ovo.ListOf[VolumeList]([]*Volume{{Name: ovo.Stored("a")}, {Name: ovo.Stored("b")}})
	for _, v := range list.All() {
		fmt.Print(v.Name.Value(), " ")
	}
	fmt.Println(list.Len(), list.Changed())
	// Output: a b 2 false
}

func ExampleOf() {
	v := Volume{Name: ovo.Of("v1"), Type: ovo.Stored(Disk), Size: ovo.NullFrom[int64](nil)}
	fmt.Println(v.Name.Changed(), v.Type.Changed(), v.Size.IsSet(), v.Size.IsNull(), v.Size.Or(1))
	v.Size.Set(20)
	v.Name.Unset()
	fmt.Println(v.Size.Value(), *v.Size.Ptr(), v.Name.IsSet(), v.Name.Or("?"))
	// Output:
	// true false true true 1
	// 20 20 false ?
}

func ExampleReadOnlyOf() {
	id := ovo.ReadOnlyOf("a")
	fmt.Println(id.Set("a"), id.Set("b") != nil, id.Value())
	// Output: <nil> true a
}

func ExampleRegistry_View() {
	v, err := volumes().View(&Volume{Name: ovo.Of("v1")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v, v.Changes())
	fmt.Println(v.Assign("size", "12"), v.SetDefaults(), v.Changes())
	fmt.Println(v.Assign("type", "tape"))
	fmt.Println(v)
	// Output:
	// Volume(name='v1',size=<?>,type=<?>) [name]
	// <nil> <nil> [name size type]
	// .type: Field value tape is invalid
	// Volume(name='v1',size=12,type='disk')
}

func ExampleDefinition() {
	class := ovo.Definition{
		Name: "Note", Version: "1.0",
		Fields: []ovo.FieldDefinition{
			{Name: "text", Type: ovo.TypeSpec{Name: "String"}},
			{Name: "tags", Type: ovo.TypeSpec{Name: "List", Element: &ovo.TypeSpec{Name: "String"}}, HasDefault: true, Default: []any{}},
		},
	}.Class()
	r, err := ovo.NewRegistry(ovo.DefaultNamespace(), class)
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := r.Decode([]byte(`{"versioned_object.name": "Note", "versioned_object.namespace": "versionedobjects", "versioned_object.version": "1.0", "versioned_object.data": {"text": "hi"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := r.View(o)
	fmt.Println(v, err, v.Class().Name(), v.Class().Version())
	// Output: Note(tags=<?>,text='hi') <nil> Note 1.0
}

func ExampleNewRegistry() {
	r, err := ovo.NewRegistry(ovo.Namespace{Prefix: "cyborg_object", Project: "cyborg"}, volumeClass(), volumeListClass())
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := r.Manifest("VolumeList")
	fmt.Println(m, err)

	_, err = ovo.NewRegistry(ovo.DefaultNamespace(), volumeListClass()) // every mistake is reported, here that the members are missing
	fmt.Println(err)
	// Output:
	// map[Volume:1.2 VolumeList:1.1] <nil>
	// VolumeList.objects: Volume is referenced by VolumeList but is not registered
}
