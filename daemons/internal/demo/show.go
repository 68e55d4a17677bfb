package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Lines shows each result as one JSON object on a line of its own.
func Lines(out io.Writer) func(Result) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return func(r Result) error { return enc.Encode(r) }
}

// Tables shows each result as a small table for people.
func Tables(out io.Writer) func(Result) error {
	return func(r Result) error {
		mark := "ok  "
		if !r.OK {
			mark = "FAIL"
		}
		if _, err := fmt.Fprintf(out, "%s  %s: %s\n", mark, r.Step, r.title); err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, row := range rows(r.Detail) {
			if _, err := fmt.Fprintf(table, "        %s\t%s\n", row[0], row[1]); err != nil {
				return err
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out)
		return err
	}
}

// A value takes at most so many lines of so many columns.
const (
	width = 150
	lines = 4
)

// rows are the members of a detail, in order; a long value goes on over several lines.
func rows(d map[string]any) [][2]string {
	var out [][2]string
	for _, key := range slices.Sorted(maps.Keys(d)) {
		for i, line := range text(d[key]) {
			if i > 0 {
				key = ""
			}
			out = append(out, [2]string{key, line})
		}
	}
	return out
}

// text is a value for people.
func text(v any) []string {
	switch v := v.(type) {
	case map[string]string:
		var out []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, k+"  "+v[k])
		}
		return out
	case []string:
		return wrap(strings.Fields(strings.Join(v, " ")), " ")
	case string:
		return wrap(strings.Fields(v), " ")
	case answer:
		return shorten(wrap(strings.SplitAfter(v.gist(), ","), ""))
	}
	return shorten(wrap(strings.SplitAfter(compact(v), ","), ""))
}

// gist is what an answer says of an attach handle, or all of it.
func (a answer) gist() string {
	var body struct {
		State string          `json:"state"`
		Info  json.RawMessage `json:"attach_handle_info"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.Info == nil {
		return compact(a)
	}
	return fmt.Sprintf("%d  state %s, attach_handle_info %s", a.Status, body.State, body.Info)
}

// wrap puts pieces side by side until a line is full.
func wrap(pieces []string, separator string) []string {
	var out []string
	line := ""
	for _, p := range pieces {
		if line != "" && len(line)+len(separator)+len(p) > width {
			out, line = append(out, line), ""
		}
		if line != "" {
			line += separator
		}
		line += p
	}
	return append(out, line)
}

// shorten leaves out what goes beyond the lines of a value.
func shorten(text []string) []string {
	if len(text) > lines {
		text = append(text[:lines-1:lines-1], "…")
	}
	return text
}
