package ovo

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// versionTuple is a version as oslo.utils converts it for comparing targets: the dotted integers.
type versionTuple []int

var preReleaseSuffix = regexp.MustCompile(`(\d+)(a|alpha|b|beta|rc)\d+$`)

// parseTuple is convert_version_to_tuple: "1.2" is (1, 2), the suffix of "1.2rc1" is cut. A part that int() refuses is a *ValueError.
func parseTuple(version string) (versionTuple, error) {
	if strings.Trim(version, "0123456789.") != "" {
		version = preReleaseSuffix.ReplaceAllString(version, "$1")
	}
	parts := strings.Split(version, ".")
	t := make(versionTuple, len(parts))
	for i, p := range parts {
		n, err := parseTuplePart(p)
		if err != nil {
			return nil, err
		}
		t[i] = n
	}
	return t, nil
}

// isPlainVersion tells texts of digits and single dots between them, which parseTuple takes unless a number is beyond all reason.
func isPlainVersion(version string) bool {
	digit := false
	for i := range len(version) {
		switch c := version[i]; {
		case c >= '0' && c <= '9':
			digit = true
		case c == '.' && digit:
			digit = false
		default:
			return false
		}
	}
	return digit && len(version) < 16
}

func parseTuplePart(text string) (int, error) {
	digits := strings.TrimSpace(text)
	// Python allows single underscores between digits and one sign.
	plain := strings.ReplaceAll(digits, "_", "")
	if !strings.HasPrefix(digits, "_") && !strings.HasSuffix(digits, "_") && !strings.Contains(digits, "__") {
		if n, err := strconv.Atoi(plain); err == nil {
			return n, nil
		}
	}
	return 0, &ValueError{"invalid literal for int() with base 10: " + pyReprString(text)}
}

func (t versionTuple) compare(u versionTuple) int { return slices.Compare(t, u) }

// String is the Python text of the tuple: (1, 3).
func (t versionTuple) String() string {
	var b strings.Builder
	b.WriteByte('(')
	for i, n := range t {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n))
	}
	if len(t) == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(')')
	return b.String()
}

// release is a version as PEP 440 orders it, which is how class lookup compares.
type release struct {
	epoch   *big.Int
	numbers []*big.Int // without trailing zeros
	major   *big.Int
	pre     []*big.Int // stage and number; nil for none
	post    *big.Int
	dev     *big.Int
	local   []localPart
}

type localPart struct {
	number *big.Int // nil for text
	text   string
}

var pep440 = regexp.MustCompile(`(?i)^\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)` +
	`(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?` +
	`(?:-(\d+)|[-_.]?(?:post|rev|r)[-_.]?(\d*))?` +
	`(?:[-_.]?(dev)[-_.]?(\d+)?)?` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$`)

// maxVersion is the longest text that is taken for a version.
const maxVersion = 1000

// parseRelease reads a PEP 440 version. Other text is an *InvalidVersionError.
func parseRelease(version string) (*release, error) {
	m := pep440.FindStringSubmatchIndex(version[:min(len(version), maxVersion+1)])
	if m == nil || len(version) > maxVersion {
		return nil, &InvalidVersionError{version}
	}
	group := func(i int) (string, bool) {
		if m[2*i] < 0 {
			return "", false
		}
		return version[m[2*i]:m[2*i+1]], true
	}
	r := &release{epoch: new(big.Int)}
	if text, ok := group(1); ok {
		r.epoch = pepNumber(text)
	}
	numbers, _ := group(2)
	for n := range strings.SplitSeq(numbers, ".") {
		r.numbers = append(r.numbers, pepNumber(n))
	}
	r.major = r.numbers[0]
	for len(r.numbers) > 0 && r.numbers[len(r.numbers)-1].Sign() == 0 {
		r.numbers = r.numbers[:len(r.numbers)-1]
	}
	if stage, ok := group(3); ok {
		n, _ := group(4)
		r.pre = []*big.Int{big.NewInt(int64(stageOrder(stage))), pepNumber(n)}
	}
	if n, ok := group(5); ok {
		r.post = pepNumber(n)
	} else if n, ok := group(6); ok {
		r.post = pepNumber(n)
	}
	if _, ok := group(7); ok {
		n, _ := group(8)
		r.dev = pepNumber(n)
	}
	if text, ok := group(9); ok {
		r.local = parseLocal(text)
	}
	return r, nil
}

func pepNumber(text string) *big.Int {
	n := new(big.Int)
	n.SetString(text, 10) // digits only; "" stays 0, as an omitted number counts as 0
	return n
}

func stageOrder(stage string) int {
	switch strings.ToLower(stage) {
	case "a", "alpha":
		return 1
	case "b", "beta":
		return 2
	}
	return 3
}

func parseLocal(text string) []localPart {
	var parts []localPart
	for _, p := range strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return c == '-' || c == '_' || c == '.' }) {
		if strings.Trim(p, "0123456789") == "" {
			parts = append(parts, localPart{number: pepNumber(p)})
		} else {
			parts = append(parts, localPart{text: p})
		}
	}
	return parts
}

// compare orders two releases: development before pre-releases before the release before post-releases, local versions last.
func (r *release) compare(o *release) int {
	if c := r.epoch.Cmp(o.epoch); c != 0 {
		return c
	}
	if c := slices.CompareFunc(r.numbers, o.numbers, (*big.Int).Cmp); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(r.preRank(), o.preRank()), slices.CompareFunc(r.pre, o.pre, (*big.Int).Cmp)); c != 0 {
		return c
	}
	if c := compareOptional(r.post, o.post, -1); c != 0 {
		return c
	}
	if c := compareOptional(r.dev, o.dev, 1); c != 0 {
		return c
	}
	return compareLocal(r.local, o.local)
}

// preRank puts a bare development release before pre-releases, and those before everything else.
func (r *release) preRank() int {
	switch {
	case r.pre != nil:
		return 1
	case r.post == nil && r.dev != nil:
		return 0
	}
	return 2
}

// compareOptional compares numbers of which one may be missing; missing says on which side that stands.
func compareOptional(a, b *big.Int, missing int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return missing
	case b == nil:
		return -missing
	}
	return a.Cmp(b)
}

// compareLocal compares part by part: numbers are above text, and a missing local version is below any.
func compareLocal(a, b []localPart) int {
	return slices.CompareFunc(a, b, func(p, q localPart) int {
		switch {
		case p.number != nil && q.number != nil:
			return p.number.Cmp(q.number)
		case p.number != nil:
			return 1
		case q.number != nil:
			return -1
		}
		return cmp.Compare(p.text, q.text)
	})
}

// compatible is oslo.utils' is_compatible: a class of version current can read what was written at version requested.
func compatible(requested, current string, sameMajor bool) (bool, error) {
	r, err := parseRelease(requested)
	if err != nil {
		return false, err
	}
	c, err := parseRelease(current)
	if err != nil {
		return false, err
	}
	if sameMajor && r.major.Cmp(c.major) != 0 {
		return false, nil
	}
	return c.compare(r) >= 0, nil
}
