package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// write sends a JSON body; a nil body sends none.
func write(w http.ResponseWriter, status int, body []byte) {
	if body == nil {
		if status != http.StatusNoContent {
			w.Header()["Content-Length"] = []string{"0"}
		}
		w.WriteHeader(status)
		return
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// errorMessage is the envelope of every error but 401.
type errorMessage struct {
	Message string `json:"error_message"`
}

// writeFault sends shape B: a JSON text inside a JSON string.
func writeFault(w http.ResponseWriter, f *fault) {
	inner, err := encode(struct {
		Code  string  `json:"faultcode"`
		Text  string  `json:"faultstring"`
		Debug *string `json:"debuginfo"`
	}{f.faultCode(), f.text, nil})
	if err != nil {
		inner = []byte(f.faultCode())
	}
	writeMessage(w, f.status, string(inner))
}

// writeUnauthorized sends shape A.
func writeUnauthorized(w http.ResponseWriter, keystone string) {
	w.Header()["WWW-Authenticate"] = []string{fmt.Sprintf("Keystone uri=%q", keystone)}
	write(w, http.StatusUnauthorized, []byte(`{"error": {"code": 401, "title": "Unauthorized", "message": "The request you have made requires authentication."}}`))
}

// page is a routing error: shape C, text or HTML by the Accept header.
type page struct {
	status      int
	explanation string // with the words of the peer's framework
	detail      string
	html        string // explanation and detail as HTML
}

func notFoundPage() page {
	return page{
		status: http.StatusNotFound, explanation: "The resource could not be found.", detail: "\n\n   ",
		html: "The resource could not be found.<br /><br />\n\n\n",
	}
}

func methodPage(method string) page {
	text := fmt.Sprintf("The method %s is not allowed for this resource. ", method)
	return page{
		status: http.StatusMethodNotAllowed, explanation: text, detail: "\n\n ",
		html: text + "<br /><br />\n\n",
	}
}

// acceptPage has the peer's unexpanded variable when there is no Accept header, and
// its parenthesis that never closes.
func acceptPage(accept, detail string) page {
	if accept == "" {
		accept = "${HTTP_ACCEPT}"
	}
	return page{
		status:      http.StatusNotAcceptable,
		explanation: fmt.Sprintf("The resource could not be generated that was acceptable to your browser (content of type %s. ", accept),
		detail:      "\n\n " + detail,
		html: fmt.Sprintf("The resource could not be generated that was acceptable to your browser\n(content of type %s. <br /><br />\n%s\n",
			accept, detail),
	}
}

func (p page) write(w http.ResponseWriter, r *http.Request) {
	title := fmt.Sprintf("%d %s", p.status, http.StatusText(p.status))
	text := title + "\n\n" + p.explanation + p.detail
	if strings.HasPrefix(r.Header.Get("Accept"), "text/html") {
		text = fmt.Sprintf("<html>\n <head>\n  <title>%s</title>\n </head>\n <body>\n  <h1>%s</h1>\n  %s </body>\n</html>", title, title, p.html)
	}
	writeMessage(w, p.status, text)
}

func writeMessage(w http.ResponseWriter, status int, text string) {
	body, err := encode(errorMessage{text})
	if err != nil {
		body = []byte(`{"error_message": ""}`)
	}
	write(w, status, body)
}
