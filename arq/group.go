package arq

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Prefixes of the keys of a group.
const (
	prefixResources = "resources:"
	prefixTrait     = "trait:"
	prefixAccel     = "accel:"
)

// Property is one entry of a device profile's group.
type Property struct {
	Key   string // resources:RC, trait:T or accel:NAME
	Value string
	Null  bool // the value is JSON null (accel keys only)
}

// Group is one group of a device profile, in stored order: the first
// resources key decides the class of a request at bind.
type Group []Property

// GroupError says what is wrong with a device profile.
type GroupError struct {
	Group  int    // index; -1 when it is not about one group
	Key    string // of the property; may be empty
	Reason string // the text Cyborg answers with
	// WrongType: a JSON value of the wrong type, which Cyborg 17 answers with
	// status 500 instead of 400.
	WrongType bool
}

func (e *GroupError) Error() string { return e.Reason }

var profileName = regexp.MustCompile(`^[a-zA-Z0-9-_]+$`)

// CheckProfileName checks the name of a new device profile: letters, digits,
// hyphen and underscore. The error is a *[GroupError].
func CheckProfileName(name string) error {
	if profileName.MatchString(name) {
		return nil
	}
	return &GroupError{Group: -1, Reason: "Device profile name must be of the form " + profileName.String()}
}

// supportedClasses are the resource classes without the CUSTOM_ prefix, and
// three with it, that a group may ask for.
var supportedClasses = []string{"FPGA", "GPU", "VGPU", "PGPU", "CUSTOM_QAT", "CUSTOM_NIC", "CUSTOM_SSD"}

// CheckGroups applies the rules of POST /v2/device_profiles to groups as
// decoded by [ParseGroups] and returns them with blanks around trait and class
// names stripped; a rewritten property moves to the end of its group, as in
// Cyborg 17. The error is a *[GroupError].
func CheckGroups(groups []Group) ([]Group, error) {
	if len(groups) == 0 {
		return nil, &GroupError{Group: -1, Reason: "DeviceProfile needs groups field.", WrongType: true}
	}
	checked := make([]Group, len(groups))
	for i, g := range groups {
		var kept, rewritten Group
		for _, p := range g {
			q, err := checkProperty(p)
			if err != nil {
				err.Group, err.Key = i, p.Key
				return nil, err
			}
			if q.Key == p.Key {
				kept = append(kept, q)
			} else {
				rewritten = append(rewritten, q)
			}
		}
		for _, q := range rewritten {
			kept = kept.set(q)
		}
		checked[i] = kept
	}
	return checked, nil
}

// set puts p where its key stands, or at the end.
func (g Group) set(p Property) Group {
	for i := range g {
		if g[i].Key == p.Key {
			g[i] = p
			return g
		}
	}
	return append(g, p)
}

func checkProperty(p Property) (Property, *GroupError) {
	switch {
	case strings.HasPrefix(p.Key, prefixTrait):
		return checkTrait(p)
	case strings.HasPrefix(p.Key, prefixResources):
		return checkResources(p)
	case strings.HasPrefix(p.Key, prefixAccel):
		return p, nil
	}
	return p, &GroupError{Reason: "Device profile group keys must be of the form ^(resources:|trait:|accel:)"}
}

func checkTrait(p Property) (Property, *GroupError) {
	name := strings.Trim(p.Key[len(prefixTrait):], " ")
	if !strings.HasPrefix(name, "CUSTOM_") {
		return p, &GroupError{Reason: fmt.Sprintf("Unsupported trait name format %s, should start with CUSTOM_", name)}
	}
	if p.Null || p.Value != "required" && p.Value != "forbidden" {
		v := p.Value
		if p.Null {
			v = "None"
		}
		return p, &GroupError{Reason: fmt.Sprintf("Unsupported trait value %s, the value must be one among ['required', 'forbidden']", v)}
	}
	return Property{Key: prefixTrait + name, Value: p.Value}, nil
}

func checkResources(p Property) (Property, *GroupError) {
	class := strings.Trim(p.Key[len(prefixResources):], " ")
	if !slices.Contains(supportedClasses, class) && !strings.HasPrefix(class, "CUSTOM_") {
		return p, &GroupError{Reason: "Unsupported resource class " + class}
	}
	if p.Null {
		return p, &GroupError{Reason: "Resources number None is invalid", WrongType: true}
	}
	if _, err := amount(p.Value); err != nil {
		return p, &GroupError{Reason: fmt.Sprintf("Resources number %s is invalid", p.Value)}
	}
	return Property{Key: prefixResources + class, Value: p.Value}, nil
}

// amount reads a number as Python's int(str) does: surrounding white space, a
// sign and single underscores between digits are allowed.
func amount(s string) (int, error) {
	t := strings.TrimSpace(s)
	digits := strings.TrimPrefix(strings.TrimPrefix(t, "+"), "-")
	if digits == "" || strings.HasPrefix(digits, "_") || strings.HasSuffix(digits, "_") || strings.Contains(digits, "__") || strings.ContainsAny(digits, "+-") {
		return 0, fmt.Errorf("%q is no number", s)
	}
	n, err := strconv.Atoi(strings.ReplaceAll(t, "_", ""))
	if err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return n, nil
}

// Get returns the value of a key; "" when it is missing or null.
func (g Group) Get(key string) string {
	for _, p := range g {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// Class returns the resource class that decides how a request of this group is
// bound: that of the first resources key. Without one it is a *[GroupError].
func (g Group) Class() (string, error) {
	for _, p := range g {
		if class, ok := strings.CutPrefix(p.Key, prefixResources); ok {
			return class, nil
		}
	}
	return "", &GroupError{Group: -1, Reason: "No resources in device_profile_group: " + g.python()}
}

// python writes a group as the message of Cyborg 17 has it.
func (g Group) python() string {
	parts := make([]string, len(g))
	for i, p := range g {
		parts[i] = "'" + p.Key + "': '" + p.Value + "'"
		if p.Null {
			parts[i] = "'" + p.Key + "': None"
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Requests returns how many requests a group makes: the sum of its resources
// amounts. A group that requires CUSTOM_FPGA_XILINX makes two for every FPGA,
// because such a card is usable only when its management and its user function
// are both bound. A negative sum makes none. The error is a *[GroupError].
func (g Group) Requests() (int, error) {
	if g.Get(prefixTrait+"CUSTOM_FPGA_XILINX") == "required" {
		n, err := amount(g.Get(prefixResources + "FPGA"))
		if err != nil {
			return 0, &GroupError{Group: -1, Key: prefixResources + "FPGA", Reason: err.Error(), WrongType: true}
		}
		return max(2*n, 0), nil
	}
	sum := 0
	for _, p := range g {
		if !strings.HasPrefix(p.Key, prefixResources) {
			continue
		}
		n, err := amount(p.Value)
		if err != nil {
			return 0, &GroupError{Group: -1, Key: p.Key, Reason: err.Error(), WrongType: true}
		}
		sum += n
	}
	return max(sum, 0), nil
}

// Program is what a group wants loaded onto an FPGA before the bind.
type Program struct {
	BitstreamID string // accel:bitstream_id
	FunctionID  string // accel:function_id
}

// Program returns what the group wants loaded. Only FPGA requests are
// programmed. Asking for a bitstream and a function at once is a *[GroupError].
func (g Group) Program() (Program, error) {
	if class, err := g.Class(); err != nil || class != "FPGA" {
		return Program{}, err
	}
	p := Program{BitstreamID: g.Get(prefixAccel + "bitstream_id"), FunctionID: g.Get(prefixAccel + "function_id")}
	if p.BitstreamID != "" && p.FunctionID != "" {
		return Program{}, &GroupError{Group: -1, Key: prefixAccel + "function_id", Reason: "In device profile {0}, only one among bitstream_id and function_id must be set, but both are set"}
	}
	return p, nil
}

// Needed reports whether a deployable that carries current has to be
// programmed first.
func (p Program) Needed(current string) bool {
	return p.FunctionID != "" || p.BitstreamID != "" && p.BitstreamID != current
}
