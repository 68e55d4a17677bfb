package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
)

// Spellings of the headers on the wire. Names are compared without case, but
// clients and recordings show these.
const (
	headerVersion   = "OpenStack-API-Version"
	headerMinimum   = "OpenStack-API-Minimum-Version"
	headerMaximum   = "OpenStack-API-Maximum-Version"
	headerRequestID = "x-openstack-request-id"
)

// serviceType is the name of this service in version headers.
const serviceType = "accelerator"

const majorVersion = 2

// versionError is a version that is not served.
type versionError struct {
	text string
	// inRange tells that the header could be read: the answer then names the
	// range in its headers.
	inRange bool
}

func (e *versionError) Error() string { return e.text }

// negotiate reads the version header. No header means 2.0.
func negotiate(header http.Header, highest arq.Microversion) (arq.Microversion, error) {
	values := header.Values(headerVersion)
	if len(values) == 0 {
		return arq.MicroversionMin, nil
	}
	text := versionText(strings.Join(values, ","))
	if strings.EqualFold(text, "latest") {
		return highest, nil
	}
	major, minor, ok := parseVersion(text)
	switch {
	case !ok:
		return 0, &versionError{text: "Invalid value for OpenStack-API-Version header"}
	case major != majorVersion:
		return 0, &versionError{inRange: true, text: fmt.Sprintf("Mutually exclusive versions requested. "+
			"Version %d.%d requested but not supported by this service. The supported version range is: [2.0, %s].", major, minor, highest)}
	case minor < 0 || arq.Microversion(minor) > highest:
		return 0, &versionError{inRange: true, text: fmt.Sprintf("Version %d.%d was requested but the minor version is not "+
			"supported by this service. The supported version range is: [2.0, %s].", major, minor, highest)}
	}
	return arq.Microversion(minor), nil
}

// versionText is the version of the last item of this service; without one the
// whole value is taken for a bare version, as old clients send it.
func versionText(value string) string {
	text := value
	for item := range strings.SplitSeq(value, ",") {
		words := strings.Fields(item)
		if len(words) == 2 && strings.EqualFold(words[0], serviceType) {
			text = words[1]
		}
	}
	return strings.TrimSpace(text)
}

// parseVersion reads MAJOR.MINOR; leading zeros are dropped.
func parseVersion(text string) (major, minor int, ok bool) {
	left, right, found := strings.Cut(text, ".")
	major, err1 := strconv.Atoi(left)
	minor, err2 := strconv.Atoi(right)
	return major, minor, found && err1 == nil && err2 == nil
}

// setVersionHeaders says which version answered.
func setVersionHeaders(h http.Header, highest arq.Microversion) {
	// The map is written directly to keep the spelling.
	h["Vary"] = []string{headerVersion}
	h[headerMinimum] = []string{arq.MicroversionMin.String()}
	h[headerMaximum] = []string{highest.String()}
}
