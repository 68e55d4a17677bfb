package standalone_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/standalone"
	"github.com/go-cyborg/cyborg/pci/sysfs/sysfstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buffer is a bytes.Buffer for several goroutines that tells when a text has arrived.
type buffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	text  string
	found chan struct{}
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.b.Write(p)
	if b.found != nil && strings.Contains(b.b.String(), b.text) {
		close(b.found)
		b.found = nil
	}
	return n, err
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// host writes a PCI tree and a configuration file.
func host(t *testing.T, pciSection string) (sysfs, file string) {
	t.Helper()
	dir := t.TempDir()
	tree, err := sysfstest.ParseDevices("0000:25:00.4  10de  25b6  030200  vfio-pci  0\n0000:02:00.0  144d  a808  010802  nvme  0\n")
	if err != nil {
		t.Fatal(err)
	}
	sysfs = filepath.Join(dir, "sys")
	if err := tree.Expand(sysfs); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "cyborg.conf")
	text := "[DEFAULT]\nhost = h\n\n[agent]\nenabled_drivers = pci_driver\nresource_provider_name = h\n\n[pci]\n" + pciSection
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return sysfs, file
}

// settings reads a configuration file as an agent does.
func settings(t *testing.T, file string) *config.Config {
	t.Helper()
	schema, err := config.NewSchema(config.Options(config.Facts{Hostname: "h", FQDN: "h", Program: "cyborg-agent"}))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(schema, config.Source{Program: "cyborg-agent", Args: []string{"--config-file", file}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestAgentWithoutServices: an agent does not wait for services that have ended.
func TestAgentWithoutServices(t *testing.T) {
	t.Parallel()
	sysfs, file := host(t, goodPCI)
	services, err := standalone.Open(t.Context(), standalone.Config{StateDir: t.TempDir(), Listen: "127.0.0.1:0", Hosts: []string{"h"}})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := services.Run(ended); err != nil {
		t.Fatal(err)
	}
	err = services.RunAgent(t.Context(), standalone.AgentConfig{Config: settings(t, file), Sysfs: sysfs})
	if err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("RunAgent() = %v", err)
	}
}

const goodPCI = `device_spec = {"vendor_id": "10de"}` + "\n"

// TestServe: the services come up, report, count that, and stop in order.
func TestServe(t *testing.T) {
	t.Parallel()
	sysfs, file := host(t, goodPCI)
	socket := filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	stderr := &buffer{text: "agent is ready", found: make(chan struct{})}
	ready := stderr.found
	code := make(chan int)
	go func() {
		code <- standalone.Main(ctx, []string{
			"--config-file", file, "--sysfs", sysfs, "--state-dir=" + t.TempDir(), "--listen", "127.0.0.1:0",
		}, []string{"OS_OPERATIONS__LISTEN=unix:" + socket}, &buffer{}, stderr)
	}()
	select {
	case <-ready:
		page := scrape(t, socket)
		for _, line := range []string{
			`cyborg_rpc_events_total{event="refused"} 0`,
			`oslo_messaging_rpc_server_invocation_end_total{endpoint="None",exchange="None",method="report_data",namespace="None",process="cyborg-standalone",server="standalone",topic="cyborg-conductor",version="1.0"} 1`,
			`oslo_messaging_rpc_client_invocation_end_total{call_type="call",exchange="None",fanout="None",method="report_data",namespace="None",process="cyborg-standalone",server="None",timeout="None",topic="cyborg-conductor",version="1.0"} 1`,
		} {
			if !strings.Contains(page, line+"\n") {
				t.Errorf("the metrics page lacks %s", line)
			}
		}
		cancel()
	case c := <-code:
		t.Fatalf("ended with %d: %s", c, stderr)
	}
	if c := <-code; c != 0 {
		t.Errorf("exit code %d: %s", c, stderr)
	}
}

// scrape gives the metrics page on a unix socket.
func scrape(t *testing.T, socket string) string {
	t.Helper()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) },
		DisableKeepAlives: true,
	}}
	answer, err := client.Get("http://process/metrics")
	if err != nil {
		t.Error(err)
		return ""
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return string(page)
}

// TestServeBadInput: one clear error that says what, where and what to do, exit code 1, nothing half-written.
func TestServeBadInput(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Close() })
	notDir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		pci   string
		args  []string
		words []string
	}{
		"missing file":         {goodPCI, []string{"--config-file", "/nonexistent/cyborg.conf"}, []string{"/nonexistent/cyborg.conf", "--config-file"}},
		"directory as file":    {goodPCI, []string{"--config-file", t.TempDir()}, []string{"--config-file"}},
		"malformed JSON":       {`device_spec = {"vendor_id": "10de"` + "\n", nil, []string{"[pci] device_spec, value 1", "json"}},
		"misspelt key":         {`device_spec = {"vendorid": "10de"}` + "\n", nil, []string{"[pci] device_spec, value 1", "vendorid"}},
		"bad exclusion":        {goodPCI + "exclude_list = 0000:01:*\n", nil, []string{"[pci] exclude_list", "0000:01:*"}},
		"no such tree":         {goodPCI, []string{"--sysfs", "/nonexistent/sys"}, []string{"/nonexistent/sys", "--sysfs"}},
		"tree without devices": {goodPCI, []string{"--sysfs", t.TempDir()}, []string{"bus/pci/devices", "--sysfs"}},
		"busy port":            {goodPCI, []string{"--listen", busy.Addr().String()}, []string{busy.Addr().String(), "in use"}},
		"not loopback":         {goodPCI, []string{"--listen", "0.0.0.0:0"}, []string{"0.0.0.0:0", "loopback"}},
		"surplus word":         {goodPCI, []string{"twice"}, []string{"twice"}},
		"no port":              {goodPCI, []string{"--listen", "localhost"}, []string{"localhost", "HOST:PORT"}},
		"state directory":      {goodPCI, []string{"--state-dir", filepath.Join(notDir, "state")}, []string{"state", "--state-dir"}},
		"class guard":          {`device_spec = {}` + "\n", nil, []string{"0000:02:00.0", "0108", "pci driver"}},
		"unknown driver":       {goodPCI + "[agent]\nenabled_drivers = no_driver\n", nil, []string{"enabled_drivers", "no_driver"}},
		"bad cap":              {goodPCI + "[upgrade_levels]\nconductor = auto\n", nil, []string{"upgrade_levels", "conductor", "auto"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sysfs, file := host(t, tt.pci)
			state := filepath.Join(t.TempDir(), "state")
			args := append([]string{"--config-file", file, "--sysfs", sysfs, "--state-dir", state, "--listen", "127.0.0.1:0"}, tt.args...)
			if tt.args != nil && tt.args[0] == "--config-file" {
				args = append(tt.args, "--sysfs", sysfs, "--state-dir", state, "--listen", "127.0.0.1:0")
			}
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			stderr := &buffer{}
			if code := standalone.Main(ctx, args, nil, &buffer{}, stderr); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			for _, word := range tt.words {
				if !strings.Contains(stderr.String(), word) {
					t.Errorf("stderr does not say %q: %s", word, stderr)
				}
			}
			if _, err := os.Stat(state); err == nil {
				t.Errorf("a state directory was left behind: %s", stderr)
			}
		})
	}
}
