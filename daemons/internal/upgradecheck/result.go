package upgradecheck

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code is the outcome of a check; the worst of all is the exit code.
type Code int

// The codes, with the peer's numbers.
const (
	Success Code = 0
	Warning Code = 1
	Failure Code = 2
)

func (c Code) String() string {
	switch c {
	case Success:
		return "Success"
	case Warning:
		return "Warning"
	}
	return "Failure"
}

// Result is what a check found.
type Result struct {
	// Check is the name of the check.
	Check string `json:"check"`
	// Code is its outcome.
	Code Code `json:"result"`
	// Details say what was found and what to do; nil prints as None.
	Details *string `json:"details"`
}

func result(code Code, format string, args ...any) Result {
	text := fmt.Sprintf(format, args...)
	return Result{Code: code, Details: &text}
}

// skipped says why a check cannot be made here.
func skipped(format string, args ...any) Result {
	return result(Success, "SKIPPED: "+format, args...)
}

// worst is the exit code.
func worst(rs []Result) Code {
	w := Success
	for _, r := range rs {
		w = max(w, r.Code)
	}
	return w
}

const title = "Upgrade Check Results"

// writeJSON writes the results as one line of JSON with the peer's keys.
func writeJSON(w io.Writer, rs []Result) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Name   string   `json:"name"`
		Checks []Result `json:"checks"`
	}{title, rs})
}

// writeTable writes the peer's table: one column, one cell for each check.
func writeTable(w io.Writer, rs []Result) error {
	cells := [][]string{{title}}
	for _, r := range rs {
		details := "None"
		if r.Details != nil {
			details = strings.Join(wrap(*r.Details, 60), "\n")
		}
		cells = append(cells, strings.Split(fmt.Sprintf("Check: %s\nResult: %s\nDetails: %s", r.Check, r.Code, details), "\n"))
	}
	width := 0
	for _, cell := range cells {
		for _, line := range cell {
			width = max(width, utf8.RuneCountInString(line))
		}
	}
	rule := "+" + strings.Repeat("-", width+2) + "+\n"
	var b strings.Builder
	b.WriteString(rule)
	for _, cell := range cells {
		for _, line := range cell {
			fmt.Fprintf(&b, "| %s%s |\n", line, strings.Repeat(" ", width-utf8.RuneCountInString(line)))
		}
		b.WriteString(rule)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a text as Python's textwrap does: at white space and behind the
// hyphen of a compound word, longer words anywhere, later lines indented by
// two.
func wrap(text string, width int) []string {
	var lines []string
	line, indent := "", ""
	flush := func() {
		if trimmed := strings.TrimRight(line, " "); trimmed != "" {
			lines = append(lines, indent+trimmed)
			indent = "  "
		}
		line = ""
	}
	for _, chunk := range split(text) {
		if len(indent)+utf8.RuneCountInString(line)+utf8.RuneCountInString(chunk) > width && line != "" {
			flush()
		}
		if chunk == " " && line == "" {
			continue
		}
		for len(indent)+utf8.RuneCountInString(chunk) > width {
			head := []rune(chunk)[:width-len(indent)]
			line, chunk = string(head), string([]rune(chunk)[len(head):])
			flush()
		}
		line += chunk
	}
	flush()
	return lines
}

// split cuts a text into words, the blanks between them, and the parts of
// compound words.
func split(text string) []string {
	var out []string
	for i, word := range strings.Fields(text) {
		if i > 0 {
			out = append(out, " ")
		}
		rs := []rune(word)
		start := 0
		for k := 2; k < len(rs)-2; k++ {
			if rs[k] == '-' && letter(rs[k-1]) && wordRune(rs[k-2]) && wordRune(rs[k+1]) && letter(rs[k+2]) {
				out = append(out, string(rs[start:k+1]))
				start = k + 1
			}
		}
		out = append(out, string(rs[start:]))
	}
	return out
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func letter(r rune) bool { return wordRune(r) && !unicode.IsDigit(r) }
