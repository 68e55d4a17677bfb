package store

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// dbURL is a SQLAlchemy URL taken apart the way SQLAlchemy 2.0 does it: only
// user and password are percent-decoded, and the password may hold '/', '#'
// and '?' as they are.
type dbURL struct {
	backend  string // mysql, postgresql or sqlite
	user     string
	password string
	host     string
	port     int // 0 when absent
	database string
	query    url.Values
}

// URLError says why a [database] connection URL cannot be used. It never
// shows the password.
type URLError struct {
	// Option is the part of the URL that is wrong.
	Option string
	// Reason says what is wrong with it and what to write instead.
	Reason string
}

// Error implements error.
func (e *URLError) Error() string {
	return fmt.Sprintf("[database] connection: %s: %s", e.Option, e.Reason)
}

var urlPattern = regexp.MustCompile(`^([\w+]+)://` +
	`(?:([^:/]*)(?::([^@]*))?@)?` +
	`(?:(?:\[([^/?]+)\]|([^/:?]+))?(?::([^/?]*))?)?` +
	`(?:/([^?]*))?(?:\?(.*))?$`)

// backends maps the dialect of a URL to the engine that serves it. The driver
// behind the '+' is Python's business and may be anything.
var backends = map[string]string{
	"mysql":      "mysql",
	"mariadb":    "mysql",
	"postgresql": "postgresql",
	"sqlite":     "sqlite",
}

// parseURL reads a SQLAlchemy URL and appends parameters to its query.
// Errors are [*URLError].
func parseURL(text, parameters string) (dbURL, error) {
	if text == "" {
		return dbURL{}, &URLError{"url", "not set"}
	}
	m := urlPattern.FindStringSubmatch(text)
	if m == nil {
		return dbURL{}, &URLError{"url", "not of the form dialect+driver://user:password@host:port/database?option=value"}
	}
	u := dbURL{host: m[4] + m[5], database: m[7]}
	name, _, _ := strings.Cut(m[1], "+")
	if u.backend = backends[name]; u.backend == "" {
		return dbURL{}, &URLError{"dialect", fmt.Sprintf("%q is not known; use mysql+pymysql, postgresql or sqlite", name)}
	}
	var err error
	if u.user, err = url.PathUnescape(m[2]); err != nil {
		return dbURL{}, &URLError{"user", "a '%' must be written as %25"}
	}
	if u.password, err = url.PathUnescape(m[3]); err != nil {
		return dbURL{}, &URLError{"password", "a '%' must be written as %25"}
	}
	if m[6] != "" {
		port, err := strconv.ParseUint(m[6], 10, 16)
		if err != nil || port == 0 {
			return dbURL{}, &URLError{"port", fmt.Sprintf("%q is not a port number", m[6])}
		}
		u.port = int(port)
	}
	query := m[8]
	if parameters != "" {
		query = strings.TrimPrefix(query+"&"+strings.Trim(parameters, "&?"), "&")
	}
	if u.query, err = url.ParseQuery(query); err != nil {
		return dbURL{}, &URLError{"query", "not of the form option=value&option=value"}
	}
	return u, nil
}

// take returns the last value of a query option and removes it.
func (u dbURL) take(name string) string {
	vs := u.query[name]
	delete(u.query, name)
	if len(vs) == 0 {
		return ""
	}
	return vs[len(vs)-1]
}

// takeSeconds reads a query option that is a number of seconds.
func (u dbURL) takeSeconds(name string) (int, error) {
	text := u.take(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &URLError{name, fmt.Sprintf("%q is not a number of seconds", text)}
	}
	return n, nil
}

// done refuses the options that are left, except those that only matter to
// the Python driver.
func (u dbURL) done(ignored ...string) error {
	for _, name := range ignored {
		delete(u.query, name)
	}
	for name := range u.query {
		return &URLError{name, "is not an option of this engine"}
	}
	return nil
}
