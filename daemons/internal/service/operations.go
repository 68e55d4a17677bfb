package service

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// OperationsHandler serves what an operator watches: /healthz (the process is
// alive), /readyz (503 with JSON reasons until every condition is good), /metrics,
// /debug/report, and pprof for those who are on this host.
func (p *Process) OperationsHandler(local bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("OK\n"))
	})
	mux.HandleFunc("GET /readyz", p.serveReady)
	mux.Handle("GET /metrics", promhttp.HandlerFor(p.Registry, promhttp.HandlerOpts{}))
	if local {
		mux.HandleFunc("GET /debug/report", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			p.WriteReport(w)
		})
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

func (p *Process) serveReady(w http.ResponseWriter, _ *http.Request) {
	reasons := p.Readiness.Reasons()
	w.Header().Set("Content-Type", "application/json")
	if len(reasons) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(struct {
		Ready   bool     `json:"ready"`
		Reasons []Reason `json:"reasons"`
	}{len(reasons) == 0, reasons})
}

// operations returns the part of the operations listener; ok is false when
// [operations] listen is unset.
func (p *Process) operations() (part Part, ok bool, err error) {
	address := p.Config.String("operations", "listen")
	if address == "" {
		return Part{}, false, nil
	}
	l, err := Listen(address)
	if err != nil {
		return Part{}, false, err
	}
	return HTTP("operations listener", l, p.OperationsHandler(isLocal(address, l)), p.log), true, nil
}

func isLocal(address string, l net.Listener) bool {
	if strings.HasPrefix(address, unixPrefix) {
		return true
	}
	tcp, ok := l.Addr().(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
