package cyborgrpc

import (
	"fmt"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo"
)

// GroupDicts are the groups of a device profile as its object carries them, in their order.
func GroupDicts(groups []arq.Group) ([]any, error) {
	dicts := make([]any, len(groups))
	for i, g := range groups {
		dict := &ovo.Dict{}
		for _, property := range g {
			var value any = property.Value
			if property.Null {
				value = nil
			}
			if err := dict.Set(property.Key, value); err != nil {
				return nil, fmt.Errorf("group %d: %w", i, err)
			}
		}
		dicts[i] = dict
	}
	return dicts, nil
}

// GroupsOf reads the groups of a peer's device profile. One that is no flat dict of texts is *[arq.GroupError].
func GroupsOf(dicts []any) ([]arq.Group, error) {
	groups := make([]arq.Group, len(dicts))
	for i, value := range dicts {
		dict, ok := value.(*ovo.Dict)
		if !ok {
			return nil, &arq.GroupError{Group: i, Reason: fmt.Sprintf("group is %T, not a dict", value), WrongType: true}
		}
		groups[i] = arq.Group{}
		for k, v := range dict.All() {
			property, err := propertyOf(k, v)
			if err != nil {
				return nil, &arq.GroupError{Group: i, Key: fmt.Sprint(k), Reason: err.Error(), WrongType: true}
			}
			groups[i] = append(groups[i], property)
		}
	}
	return groups, nil
}

func propertyOf(key, value any) (arq.Property, error) {
	name, ok := key.(string)
	if !ok {
		return arq.Property{}, fmt.Errorf("key is %T, not text", key)
	}
	switch v := value.(type) {
	case nil:
		return arq.Property{Key: name, Null: true}, nil
	case string:
		return arq.Property{Key: name, Value: v}, nil
	}
	return arq.Property{}, fmt.Errorf("value is %T, not text", value)
}
