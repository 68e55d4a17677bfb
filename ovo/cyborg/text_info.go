package cyborg

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// metadata are the keys of attach_handle_info that peers below ARQ 1.2 do not know.
func metadata(key any) bool { return key == "managed" || key == "stateful" || key == "numa_node" }

// textInfo makes attach_handle_info what ARQ 1.1 can hold: the metadata keys go, scalars become their Python
// text. A null or a nested value has no text there and refuses the conversion.
func textInfo(d *ovo.Data) error {
	const field = "attach_handle_info"
	v, ok, err := d.Get(field)
	if err != nil || !ok || v == nil {
		return err
	}
	dict, ok := v.(*ovo.Dict)
	if !ok {
		return &ovo.TypeError{Message: fmt.Sprintf("%s is no dict but %T", field, v)}
	}
	texts := &ovo.Dict{}
	for key, value := range dict.All() {
		if metadata(key) {
			continue
		}
		text, err := pythonText(value)
		if err != nil {
			return &ovo.ActionError{
				Action: "obj_make_compatible", Reason: fmt.Sprintf("%s[%v] %v in version 1.1", field, key, err),
			}
		}
		if err := texts.Set(key, text); err != nil {
			return err
		}
	}
	d.Set(field, texts)
	return nil
}

// pythonText is Python's str() of a scalar.
func pythonText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case *big.Int:
		return v.String(), nil
	case float64:
		return string(pyjson.AppendFloat(nil, v)), nil
	case nil:
		return "", fmt.Errorf("is null, which is not supported")
	}
	return "", fmt.Errorf("is %T, which is not supported", v)
}
