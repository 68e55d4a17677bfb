package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// maxBody bounds request bodies, in bytes.
const maxBody = 1 << 20

// enter asks the policy, then reads the query: the peer judges in this order.
func (c *call) enter(rule string, names ...string) (map[string]string, error) {
	if err := c.allow(rule); err != nil {
		return nil, err
	}
	return c.arguments(names...)
}

// enterWithBody asks the policy, then reads the body.
func (c *call) enterWithBody(rule, name string) (json.RawMessage, error) {
	if err := c.allow(rule); err != nil {
		return nil, err
	}
	return c.body(name)
}

// arguments reads the query: an argument not in names is refused, of a repeated one
// the last value counts.
func (c *call) arguments(names ...string) (map[string]string, error) {
	out := map[string]string{}
	for pair := range strings.SplitSeq(c.request.URL.RawQuery, "&") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		key, err1 := url.QueryUnescape(key)
		value, err2 := url.QueryUnescape(value)
		if err := errors.Join(err1, err2); err != nil {
			return nil, badRequest("The query cannot be read: %v", err)
		}
		known := false
		for _, name := range names {
			known = known || name == key
		}
		if !known {
			return nil, unknownArgument(key)
		}
		out[key] = value
	}
	return out, nil
}

// body reads a JSON body that is the argument called name.
func (c *call) body(name string) (json.RawMessage, error) {
	if _, err := c.arguments(); err != nil {
		return nil, err
	}
	content, err := c.content()
	if err != nil {
		return nil, err
	}
	kind, _, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	switch {
	case len(content) == 0:
		return nil, missingArgument(name)
	case kind == "application/x-www-form-urlencoded":
		return nil, formArgument(content)
	case err != nil || kind != "application/json":
		return nil, refuse(http.StatusUnsupportedMediaType, "Unknown mimetype: %s", c.request.Header.Get("Content-Type"))
	case !json.Valid(content):
		return nil, badRequest("Request is not in valid JSON format")
	}
	return content, nil
}

// noBody accepts no body or an empty object, for actions that take no argument.
func (c *call) noBody() error {
	if _, err := c.arguments(); err != nil {
		return err
	}
	content, err := c.content()
	if err != nil || len(content) == 0 {
		return err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(content, &object); err != nil {
		return badRequest("Request is not in valid JSON format")
	}
	for name := range object {
		return unknownArgument(name)
	}
	return nil
}

func (c *call) content() ([]byte, error) {
	content, err := io.ReadAll(http.MaxBytesReader(nil, c.request.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, refuse(http.StatusRequestEntityTooLarge, "The request body is larger than %d bytes.", maxBody)
	case err != nil:
		return nil, badRequest("The request body cannot be read: %v", err)
	}
	return content, nil
}

// formArgument is what the peer makes of a form: its first key is an argument
// nobody knows.
func formArgument(content []byte) error {
	first, _, _ := strings.Cut(string(content), "&")
	key, _, _ := strings.Cut(first, "=")
	if plain, err := url.QueryUnescape(key); err == nil {
		key = plain
	}
	return unknownArgument(key)
}

// jsonKind is the Python type of a JSON text.
func jsonKind(raw json.RawMessage) string {
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "" || text == "null":
		return "NoneType"
	case text == "true" || text == "false":
		return "bool"
	case text[0] == '"':
		return "str"
	case text[0] == '[':
		return "list"
	case text[0] == '{':
		return "dict"
	case strings.ContainsAny(text, ".eE"):
		return "float"
	}
	return "int"
}

// falsy is Python's idea of an empty value.
func falsy(raw json.RawMessage) bool {
	switch strings.Join(strings.Fields(string(raw)), "") {
	case "", "null", "false", "0", "0.0", "-0", `""`, "[]", "{}":
		return true
	}
	return false
}

// checkUUID refuses a text that is no UUID, in the words for the argument called
// name.
func checkUUID(name, text string) error {
	if isUUID(text) {
		return nil
	}
	return badRequest("Invalid input for field/attribute %s. Value: '%s'. unable to convert to uuid. Error: Expected a uuid but received %s.", name, text, text)
}

// isUUID accepts what oslo.utils does: hyphens anywhere or nowhere, braces, a urn
// prefix, any case.
func isUUID(text string) bool {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "urn:", ""), "uuid:", "")
	text = strings.ReplaceAll(strings.Trim(text, "{}"), "-", "")
	if len(text) != 32 {
		return false
	}
	return strings.Trim(strings.ToLower(text), "0123456789abcdef") == ""
}
