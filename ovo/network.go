package ovo

import (
	"math/big"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// ipAddressType is IPAddress, IPV4Address, IPV6Address or IPV4AndV6Address, the types of IPAddressField,
// IPV4AddressField, IPV6AddressField and IPV4AndV6AddressField. It takes text without a prefix length, integers and
// networks, whose address it uses. The wire has the canonical text.
type ipAddressType struct {
	plainText
	name    string
	version int // 0 is any
}

func (t ipAddressType) Name() string { return t.name }

func (t ipAddressType) coerce(at place, v any) (any, error) {
	a, err := toAddr(v)
	if err != nil {
		return nil, err
	}
	if t.version != 0 && t.version != ipVersion(a) {
		return nil, &ValueError{`Network "` + at.text(v) + `" is not valid in field ` + at.String()}
	}
	return a, nil
}

func (ipAddressType) toPrimitive(_ place, v any) (any, error) { return pyStr(v), nil }

func (t ipAddressType) fromPrimitive(at place, v any) (any, error) { return t.coerce(at, v) }

func ipVersion(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}

// toAddr is netaddr's IPAddress(v).
func toAddr(v any) (netip.Addr, error) {
	switch v := v.(type) {
	case netip.Addr:
		return v, nil
	case netip.Prefix:
		return v.Addr(), nil
	case bool:
		return addrOfInt(big.NewInt(intOf(v)))
	case int64:
		return addrOfInt(big.NewInt(v))
	case *big.Int:
		return addrOfInt(v)
	case string:
		if strings.Contains(v, "/") {
			return netip.Addr{}, &ValueError{"IPAddress() does not support netmasks or subnet prefixes! See documentation for details."}
		}
		a, ok := parseAddr(v)
		if !ok {
			return netip.Addr{}, &ValueError{"failed to detect a valid IP address from " + pyReprString(v)}
		}
		return a, nil
	case nil, float64, time.Time:
		return netip.Addr{}, &TypeError{"argument of type '" + pyQualifiedName(v) + "' is not a container or iterable"}
	}
	return netip.Addr{}, &AttributeError{"'" + pyQualifiedName(v) + "' object has no attribute 'split'"}
}

// parseAddr reads an address as inet_pton does; a zone is refused.
func parseAddr(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Zone() == "" && !strings.Contains(s, "%")
}

func addrOfInt(i *big.Int) (netip.Addr, error) {
	var b [16]byte
	if i.Sign() < 0 || i.BitLen() > 128 {
		return netip.Addr{}, &ValueError{"failed to detect a valid IP address from " + i.String()}
	}
	i.FillBytes(b[:])
	if i.BitLen() <= 32 {
		return netip.AddrFrom4([4]byte(b[12:])), nil
	}
	return netip.AddrFrom16(b), nil
}

// addrText is the text of an address as inet_ntop writes it: an IPv4-compatible address ends in dotted form, which
// netip does only for mapped ones.
func addrText(a netip.Addr) string {
	if b := a.As16(); a.Is6() && [12]byte(b[:12]) == [12]byte{} && (b[12] != 0 || b[13] != 0) {
		return "::" + netip.AddrFrom4([4]byte(b[12:])).String()
	}
	return a.String()
}

// prefixText is the text of a network, host bits kept.
func prefixText(p netip.Prefix) string { return addrText(p.Addr()) + "/" + strconv.Itoa(p.Bits()) }

// ipNetworkType is IPNetwork, IPV4Network or IPV6Network, the types of IPNetworkField, IPV4NetworkField and
// IPV6NetworkField. It takes address/prefix, address/netmask, address/hostmask, a plain address and address values. Host
// bits are kept.
type ipNetworkType struct {
	plainText
	name    string
	version int // 0 is any; values that are networks or addresses already pass whatever their version
}

func (t ipNetworkType) Name() string { return t.name }

func (t ipNetworkType) coerce(_ place, v any) (any, error) {
	switch v := v.(type) {
	case netip.Prefix:
		return v, nil
	case netip.Addr:
		return netip.PrefixFrom(v, v.BitLen()), nil
	case string:
		return t.parse(v)
	}
	return nil, &TypeError{"unexpected type <class '" + pyQualifiedName(v) + "'> for addr arg"}
}

func (ipNetworkType) toPrimitive(_ place, v any) (any, error) { return pyStr(v), nil }

func (t ipNetworkType) fromPrimitive(at place, v any) (any, error) { return t.coerce(at, v) }

// parse reads a network from text.
func (t ipNetworkType) parse(s string) (any, error) {
	base, suffix, hasSuffix := strings.Cut(s, "/")
	a, ok := parseAddr(base)
	if !ok || t.version != 0 && t.version != ipVersion(a) {
		if t.version != 0 {
			return nil, &ValueError{"base address " + pyReprString(base) + " is not IPv" + strconv.Itoa(t.version)}
		}
		return nil, &ValueError{"invalid IPNetwork " + s}
	}
	n := a.BitLen()
	if hasSuffix {
		if n, ok = prefixLength(suffix, a); !ok {
			return nil, &ValueError{"invalid IPNetwork " + s}
		}
	}
	return netip.PrefixFrom(a, n), nil
}

// prefixLength reads what follows the slash: a number in any form that int() takes, a netmask or a hostmask.
func prefixLength(s string, a netip.Addr) (int, bool) {
	if i, err := parseInt(s); err == nil {
		n, ok := i.(int64)
		return int(n), ok && n >= 0 && n <= int64(a.BitLen())
	}
	mask, ok := parseAddr(s)
	if !ok || mask.BitLen() != a.BitLen() {
		return 0, false
	}
	b := mask.AsSlice()
	if n, ok := leadingOnes(b); ok {
		return n, true
	}
	for i := range b {
		b[i] = ^b[i]
	}
	return leadingOnes(b)
}

// leadingOnes returns how many ones a mask starts with; false if another one follows.
func leadingOnes(mask []byte) (int, bool) {
	n := 0
	for n < len(mask)*8 && mask[n/8]&(0x80>>(n%8)) != 0 {
		n++
	}
	ones := 0
	for _, b := range mask {
		ones += bits.OnesCount8(b)
	}
	return n, ones == n
}
