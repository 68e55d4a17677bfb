package demo

import (
	"encoding/json"
	"fmt"
	"io"
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

// width is the longest value a table shows on one line.
const width = 150

// rows are the members of a detail, in order; a list and a dict of texts take a line for each element.
func rows(d map[string]any) [][2]string {
	var out [][2]string
	for _, key := range sortedKeys(d) {
		switch v := d[key].(type) {
		case map[string]string:
			for i, k := range sortedKeys(v) {
				out = append(out, [2]string{once(key, i), k + "  " + v[k]})
			}
		case []string:
			for i, line := range wrap(v) {
				out = append(out, [2]string{once(key, i), line})
			}
		case string:
			for i, line := range fold(v) {
				out = append(out, [2]string{once(key, i), line})
			}
		default:
			out = append(out, [2]string{key, cut(compact(v))})
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// once is the key on the first of its lines.
func once(key string, line int) string {
	if line > 0 {
		return ""
	}
	return key
}

// wrap puts short texts side by side.
func wrap(texts []string) []string {
	var lines []string
	line := ""
	for _, t := range texts {
		if line != "" && len(line)+1+len(t) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + t)
	}
	return append(lines, line)
}

// fold breaks a long text between words.
func fold(text string) []string { return wrap(strings.Fields(text)) }

func cut(s string) string {
	if len(s) > width {
		return s[:width-1] + "…"
	}
	return s
}
