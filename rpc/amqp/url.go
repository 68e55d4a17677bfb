package amqp

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// URL is a transport_url: rabbit://user:password@host:port,user:password@host:port/vhost?option=value.
type URL struct {
	// Scheme is in lower case; only "rabbit" can be opened.
	Scheme string
	// Hosts are the brokers in order; none means localhost with user and password guest.
	Hosts []Host
	// VHost is the virtual host, "/" when the URL names none.
	VHost string
	// Query holds options; the values of a repeated option are joined with a comma.
	Query map[string]string
}

// Host is one broker of a [URL]. Credentials belong to one host and are not inherited.
type Host struct {
	Name           string
	Port           int // 0 = 5672, also with TLS
	User, Password string
}

// DefaultPort is the port of a host without one.
const DefaultPort = 5672

// URLError is a transport_url that cannot be read. It never shows the password.
type URLError struct{ Reason string }

// Error names the reason.
func (e *URLError) Error() string { return "transport_url: " + e.Reason }

// ParseURL reads a transport_url as oslo.messaging does: hosts are split at commas, the last "@" of a host ends its
// credentials, the first ":" in them separates user and password, and each is percent-decoded. It returns a [*URLError].
func ParseURL(text string) (URL, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme == "" {
		return URL{}, &URLError{"no scheme: write rabbit://user:password@host:port/vhost"}
	}
	u := URL{Scheme: strings.ToLower(scheme), VHost: "/"}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	if hasFragment && fragment != "" && !strings.Contains(rest, "/") {
		return URL{}, &URLError{"a # in a password is written %23"}
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if vhost := unquote(path); vhost != "" {
		u.VHost = vhost
	}
	for part := range strings.SplitSeq(authority, ",") {
		if part == "" {
			continue
		}
		host, err := parseHost(part)
		if err != nil {
			return URL{}, err
		}
		u.Hosts = append(u.Hosts, host)
	}
	options, err := parseQuery(query)
	u.Query = options
	return u, err
}

func parseHost(part string) (Host, error) {
	var host Host
	address := part
	if at := strings.LastIndexByte(part, '@'); at >= 0 {
		user, password, _ := strings.Cut(part[:at], ":")
		address = part[at+1:]
		host.User, host.Password = unquote(user), unquote(password)
	}
	var name, port string
	if inner, ok := strings.CutPrefix(address, "["); ok {
		bracketed, after, closed := strings.Cut(inner, "]")
		if !closed {
			return Host{}, &URLError{fmt.Sprintf("host %q has no closing bracket", address)}
		}
		name = bracketed
		_, port, _ = strings.Cut(after, ":")
	} else {
		name, port, _ = strings.Cut(address, ":")
	}
	host.Name = name
	if port != "" {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return Host{}, &URLError{fmt.Sprintf("the port of host %q is not a number from 1 to 65535", name)}
		}
		host.Port = n
	}
	return host, nil
}

// unquote decodes percent-encoding; a "+" stays, and so does a "%" that starts no code.
func unquote(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func parseQuery(query string) (map[string]string, error) {
	options := map[string]string{}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key == "" || value == "" { // as Python, which drops options without value
			continue
		}
		key, err1 := url.QueryUnescape(key)
		value, err2 := url.QueryUnescape(value)
		if errors.Join(err1, err2) != nil {
			return nil, &URLError{fmt.Sprintf("query argument %q is not percent-encoded correctly", key)}
		}
		if before, repeated := options[key]; repeated {
			value = before + "," + value
		}
		options[key] = value
	}
	return options, nil
}

// guest is the user and the password of a host without.
const guest = "guest"

// brokers are the hosts to try, with the defaults for what the URL leaves out.
func (u URL) brokers() []Host {
	hosts := slices.Clone(u.Hosts)
	if len(hosts) == 0 {
		hosts = []Host{{Name: "localhost"}}
	}
	for i := range hosts {
		hosts[i].User = cmp.Or(hosts[i].User, guest)
		hosts[i].Password = cmp.Or(hosts[i].Password, guest)
	}
	return hosts
}

// Address is host and port for display and dialling.
func (h Host) Address() string {
	name, port := h.Name, h.Port
	if name == "" {
		name = "localhost"
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == 0 {
		port = DefaultPort
	}
	return name + ":" + strconv.Itoa(port)
}
