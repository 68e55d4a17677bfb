package store

import (
	"strconv"
	"strings"
	"time"
)

// dialect is what differs between the engines. Every statement is written
// once, with '?' for parameters and backquotes around reserved names.
type dialect struct {
	name      string // mysql, postgresql or sqlite
	driver    string // the name sqlx knows it by
	numbered  bool   // parameters are $1, $2, … and names are in double quotes
	forUpdate string // appended to a SELECT that locks the rows it finds
	oneWriter bool   // writers of one process take turns before they begin
}

var dialects = map[string]dialect{
	"mysql":      {name: "mysql", driver: "mysql", forUpdate: " FOR UPDATE"},
	"postgresql": {name: "postgresql", driver: "postgres", numbered: true, forUpdate: " FOR UPDATE"},
	"sqlite":     {name: "sqlite", driver: "sqlite3", oneWriter: true},
}

// rebind turns the common text into the engine's. No statement of this
// package has a '?' or a backquote inside a literal.
func (d dialect) rebind(query string) string {
	if !d.numbered {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 16)
	n := 0
	for _, c := range []byte(query) {
		switch c {
		case '?':
			n++
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(n))
		case '`':
			b.WriteByte('"')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// sqliteTime is how SQLAlchemy writes a time into SQLite.
const sqliteTime = "2006-01-02 15:04:05.000000"

// time turns t into the parameter to send for a datetime column.
func (d dialect) time(t time.Time) any {
	t = d.truncate(t)
	if d.name == "sqlite" {
		return t.Format(sqliteTime)
	}
	return t
}

// truncate cuts t to what the column keeps. MySQL would round.
func (d dialect) truncate(t time.Time) time.Time {
	if d.name == "mysql" {
		return t.UTC().Truncate(time.Second)
	}
	return t.UTC().Truncate(time.Microsecond)
}
