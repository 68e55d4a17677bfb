package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// parseHostAddress accepts an IPv4 or IPv6 literal or a host name by RFC 1123.
func parseHostAddress(text string) (any, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return text, nil
	}
	name := strings.TrimSuffix(text, ".")
	if text == "" || len(text) > 253 || !validHostName(name) {
		return nil, fmt.Errorf("%s is not a valid host address", text)
	}
	return name, nil
}

// validHostName wants labels of letters, digits and inner hyphens, and a last
// label that is no number: a mistyped address is not a name.
func validHostName(name string) bool {
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !isLetter(c) && !isDigit(c) && c != '-' {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return strings.ContainsFunc(last, func(r rune) bool { return r < 0x80 && !isDigit(byte(r)) })
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parseURI wants an absolute URI with a host.
func (d declared) parseURI(text string) (any, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not a URI", text)
	case u.Scheme == "" || u.Host == "":
		return nil, fmt.Errorf("%q has no scheme or no host", text)
	case d.MaxLength > 0 && len(text) > d.MaxLength:
		return nil, fmt.Errorf("value %q exceeds maximum length %d", text, d.MaxLength)
	}
	return text, nil
}
