package api

import (
	"net/http"
	"os"
	"strings"
)

// healthPath answers like oslo.middleware's healthcheck, without a token.
const healthPath = "/healthcheck"

func (h *Handler) serveHealth(w http.ResponseWriter, r *http.Request) {
	status, reason := http.StatusOK, "OK"
	if h.DisableByFile != "" {
		if _, err := os.Stat(h.DisableByFile); err == nil {
			status, reason = http.StatusServiceUnavailable, "DISABLED BY FILE"
		}
	}
	if r.Method == http.MethodHead {
		if status == http.StatusOK {
			status = http.StatusNoContent
		}
		w.WriteHeader(status)
		return
	}
	if strings.HasPrefix(r.Header.Get("Accept"), "application/json") {
		body, err := encode(struct {
			Detailed bool     `json:"detailed"`
			Reasons  []string `json:"reasons"`
		}{false, []string{reason}})
		if err == nil {
			write(w, status, body)
		}
		return
	}
	w.Header()["Content-Type"] = []string{"text/plain; charset=UTF-8"}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(reason))
}
