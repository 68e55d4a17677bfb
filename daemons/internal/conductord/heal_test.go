package conductord_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/conductord"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// TestSweepBesideSilentNova: a Nova that takes the question for the owner of a request and never answers holds up
// neither the sweeps nor the stop.
func TestSweepBesideSilentNova(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t)
	asked := make(chan struct{}, 16)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not seen
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	p, err := w.store.CreateProfile(t.Context(), store.Profile{Name: "p", Groups: []arq.Group{{{Key: "resources:FPGA", Value: "1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	made, err := w.store.CreateARQs(t.Context(), []arq.New{{ProfileID: p.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.ExecContext(t.Context(), "UPDATE extended_accelerator_requests SET state = 'BindStarted', hostname = ?, instance_uuid = 'i',"+
		" project_id = NULL, updated_at = '2026-01-01 00:00:00.000000'", toolHost); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(w.file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("[nova]\nauth_type = none\ntimeout = 3600\nendpoint_override = " + silent.URL + "\n" +
		"[DEFAULT]\ntransport_url = rabbit://u:p@127.0.0.1:1/\n"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	log, stop := daemon(t, conductord.Daemon{}.Main, w.file)
	<-asked
	until(t, 10*time.Second, "the sweep", func() bool {
		q, err := w.store.Request(t.Context(), made[0].UUID)
		return err == nil && q.State == arq.BindFailed
	})
	if code := stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, log)
	}
}
