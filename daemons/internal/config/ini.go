package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/ini.v1"
)

// parseFile reads the text of one file. The pre-pass [scan] turns oslo.config's
// dialect into text in which ini.v1 finds nothing to interpret; ini.v1 then
// merges sections and keeps the order of keys.
func parseFile(file, text string) ([]assignment, error) {
	plain, err := scan(file, text)
	if err != nil {
		return nil, err
	}
	return readINI(file, writeINI(plain))
}

// writeINI writes one `key@line = value` for each assignment, with section, key
// and value percent-encoded: no quotes, no comment signs, no continuation, no
// interpolation and no two equal keys are left for ini.v1's own rules.
func writeINI(plain []assignment) string {
	var b strings.Builder
	section := ""
	for _, a := range plain {
		if a.section != section {
			section = a.section
			fmt.Fprintf(&b, "[%s]\n", url.QueryEscape(section))
		}
		fmt.Fprintf(&b, "%s@%d = %s\n", url.QueryEscape(a.key), a.line, url.QueryEscape(a.value))
	}
	return b.String()
}

func readINI(file, text string) ([]assignment, error) {
	parsed, err := ini.LoadSources(ini.LoadOptions{
		IgnoreContinuation:      true,
		IgnoreInlineComment:     true,
		PreserveSurroundedQuote: true,
		KeyValueDelimiters:      "=",
		ChildSectionDelimiter:   "\x00",
	}, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	var out []assignment
	for _, section := range parsed.Sections() {
		for _, key := range section.Keys() {
			a, err := decode(section.Name(), key.Name(), key.Value())
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			out = append(out, a)
		}
	}
	// [pci] and [PCI] are two sections to ini.v1 and one to oslo.config.
	slices.SortStableFunc(out, func(a, b assignment) int { return a.line - b.line })
	return out, nil
}

func decode(section, key, value string) (assignment, error) {
	name, line, _ := strings.Cut(key, "@")
	var a assignment
	var err error
	if a.section, err = url.QueryUnescape(section); err != nil {
		return a, err
	}
	if a.key, err = url.QueryUnescape(name); err != nil {
		return a, err
	}
	if a.value, err = url.QueryUnescape(value); err != nil {
		return a, err
	}
	a.line, err = strconv.Atoi(line)
	return a, err
}
