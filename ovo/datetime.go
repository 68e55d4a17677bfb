package ovo

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateTimeType is DateTime, the type of DateTimeField. It takes times and ISO 8601 text. An aware field gives UTC to a time
// without a zone and keeps any other zone; a naive one drops the zone and keeps the clock reading. The wire has whole
// seconds.
type dateTimeType struct{ naive bool }

func (dateTimeType) Name() string { return "DateTime" }

func (t dateTimeType) coerce(at place, v any) (any, error) {
	var ts time.Time
	switch v := v.(type) {
	case time.Time:
		ts = v.Truncate(time.Microsecond)
	case string:
		var err error
		if ts, err = parseTime(v); err != nil {
			return nil, err
		}
	default:
		return nil, &ValueError{"A datetime.datetime is required in field " + at.String() + ", not a " + at.typeName(v)}
	}
	switch {
	case t.naive:
		return Naive(ts), nil
	case isNaive(ts):
		return ts.UTC(), nil
	}
	return ts, nil
}

func (dateTimeType) toPrimitive(_ place, v any) (any, error) {
	return formatTime(v.(time.Time))
}

func (t dateTimeType) fromPrimitive(at place, v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, &ValueError{"expected string or bytes-like object, got '" + pyTypeName(v) + "'"}
	}
	return t.coerce(at, s)
}

func (dateTimeType) stringify(_ place, v any) (string, error) {
	return formatTime(v.(time.Time))
}

func formatTime(t time.Time) (string, error) {
	b, err := appendTime(nil, t)
	return string(b), err
}

// appendTime writes t as it stands on the wire: whole seconds, then Z for UTC and for a time without a zone, otherwise the
// offset. A zone that is named by an offset keeps its spelling, so that +00:00 stays +00:00. Python writes the name of any
// zone, which no reader understands unless it is an offset. A year that Python does not have is a *ValueError.
func appendTime(b []byte, t time.Time) ([]byte, error) {
	name, offset := t.Zone()
	if offset%60 != 0 {
		t, name, offset = t.UTC(), "UTC", 0 // local mean time: the text has no place for seconds
	}
	if y := t.Year(); y < 1 || y > 9999 {
		return b, &ValueError{"year " + strconv.Itoa(y) + " is out of range"}
	}
	b = t.AppendFormat(b, "2006-01-02T15:04:05")
	switch {
	case offset == 0 && (name == "" || name == "UTC"):
		return append(b, 'Z'), nil
	case offsetName.MatchString(name):
		return append(b, name...), nil
	}
	return appendOffset(b, offset), nil
}

var offsetName = regexp.MustCompile(`^[+-][0-9]{2}:[0-9]{2}$`)

// isoTime is the grammar of Python's iso8601 2.1.
var isoTime = regexp.MustCompile(`^([0-9]{4})` +
	`(?:(?:-([0-9]{1,2})|([0-9]{2}))` +
	`(?:(?:-([0-9]{1,2})|([0-9]{2}))` +
	`(?:[ T]([0-9]{2})(?::?([0-9]{2}))?(?::?([0-9]{1,2})(?:[.,]([0-9]+))?)?` +
	`(Z|([-+])([0-9]{2}):?([0-9]{2})?)?)?)?)?\n?$`)

// parseTime reads ISO 8601 text the way Python's iso8601 library does, leniently in its punctuation.
func parseTime(text string) (time.Time, error) {
	m := isoTime.FindStringSubmatch(text)
	if m == nil || m[3] != "" && m[4]+m[5] == "" { // YYYYMM is refused, it could be YYMMDD
		return time.Time{}, &ValueError{"Unable to parse date string " + pyReprString(text)}
	}
	year, month, day := number(m[1], 0), number(m[2]+m[3], 1), number(m[4]+m[5], 1)
	hour, minute, second := number(m[6], 0), number(m[7], 0), number(m[8], 0)
	zone, err := parseZone(m[10], m[11], m[12], m[13])
	if err != nil {
		return time.Time{}, err
	}
	if year == 0 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, &ValueError{"date or time out of range in " + pyReprString(text)}
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, microseconds(m[9])*1000, zone)
	if t.Day() != day || int(t.Month()) != month {
		return time.Time{}, &ValueError{"no such day in " + pyReprString(text)}
	}
	return t, nil
}

// number returns the value of digits that the grammar has checked, def if there are none.
func number(digits string, def int) int {
	if digits == "" {
		return def
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// microseconds cuts a fraction after its sixth digit.
func microseconds(fraction string) int {
	return number((fraction + strings.Repeat("0", 6))[:6], 0)
}

func parseZone(zone, sign, hours, minutes string) (*time.Location, error) {
	if zone == "" || zone == "Z" {
		return time.UTC, nil
	}
	offset := number(hours, 0)*3600 + number(minutes, 0)*60
	if offset >= 24*3600 {
		return nil, &ValueError{"offset of 24 hours or more in time zone " + pyReprString(zone)}
	}
	name := fmt.Sprintf("%s%02d:%02d", sign, number(hours, 0), number(minutes, 0))
	if sign == "-" {
		offset = -offset
	}
	return time.FixedZone(name, offset), nil
}
