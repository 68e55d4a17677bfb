package rpc

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is the version of an RPC interface, of a request, or a cap. The zero Version means "no version" in a request
// and "no cap" in a [Remote].
type Version struct{ Major, Minor, Revision int }

// ParseVersion reads "major.minor" or "major.minor.revision", each a decimal number. A version without a minor part ("1",
// "auto") is an error, as is 0.0, since that value means "no version".
func ParseVersion(s string) (Version, error) {
	parts := strings.SplitN(s, ".", 4)
	if len(parts) != 2 && len(parts) != 3 {
		return Version{}, fmt.Errorf("rpc version %.40q: want major.minor", s)
	}
	var n [3]int
	for i, part := range parts {
		v, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return Version{}, fmt.Errorf("rpc version %.40q: %.40q is not a number", s, part)
		}
		n[i] = int(v)
	}
	v := Version{n[0], n[1], n[2]}
	if v.IsZero() {
		return Version{}, fmt.Errorf("rpc version %.40q: must be above zero", s)
	}
	return v, nil
}

// IsZero reports whether v is "no version".
func (v Version) IsZero() bool { return v == Version{} }

// String gives "major.minor", with the revision only if it is not zero, and "" for no version.
func (v Version) String() string {
	switch {
	case v.IsZero():
		return ""
	case v.Revision != 0:
		return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Revision)
	default:
		return strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor)
	}
}

// Supports reports whether an interface of version v, or a cap v, admits a request of the given version: the majors are
// equal and the request's minor, and its revision if the minors are equal, are not above v's. No cap admits everything;
// otherwise a request without version is refused.
func (v Version) Supports(requested Version) bool {
	switch {
	case v.IsZero():
		return true
	case requested.IsZero(), requested.Major != v.Major, requested.Minor > v.Minor:
		return false
	default:
		return requested.Minor < v.Minor || requested.Revision <= v.Revision
	}
}
