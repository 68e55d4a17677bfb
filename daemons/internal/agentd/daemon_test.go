package agentd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/agentd"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

// run calls the daemon with a configuration file of this text.
func run(t *testing.T, text string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cyborg.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	code = agentd.Daemon{Sysfs: t.TempDir()}.Main(t.Context(), service.Invocation{
		Args: append([]string{"--config-file", file}, args...), Stdout: &out, Stderr: &problems,
	})
	return code, out.String(), problems.String()
}

// TestMalformedConfiguration: nothing starts, and the message says which option, where and what is allowed; the
// problems of one file are told together.
func TestMalformedConfiguration(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  string
		words []string
	}{
		"cap auto":        {"[upgrade_levels]\nconductor = auto\n", []string{"conductor", "cyborg.conf:2", `"auto"`, "1.0, 1.1"}},
		"cap malformed":   {"[upgrade_levels]\n\nconductor = 1\n", []string{"conductor", "cyborg.conf:3", `"1"`}},
		"cap unsupported": {"[upgrade_levels]\nconductor = 1.2\n", []string{"conductor", "cyborg.conf:2", "1.2", "1.0, 1.1"}},
		"agent cap":       {"[upgrade_levels]\nagent = 1.1\n", []string{"agent", "cyborg.conf:2", "1.1", "1.0"}},
		"cap with blanks": {"[upgrade_levels]\nconductor = \" 1.1 \"\n", []string{"conductor", "cyborg.conf:2", `" 1.1 "`}},
		"transport_url":   {"[DEFAULT]\ntransport_url = rabbit://guest:hunter2@h:port/\n", []string{"transport_url", "cyborg.conf:2", "port"}},
		"scheme":          {"[DEFAULT]\ntransport_url = kombu://h/\n", []string{"transport_url", "cyborg.conf:2", "kombu"}},
		"rabbit option":   {"[oslo_messaging_rabbit]\nkombu_compression = bz2\n", []string{"kombu_compression", "cyborg.conf:2", "bz2", "gzip"}},
		"driver":          {"[agent]\nenabled_drivers = none_such\n", []string{"cyborg.conf:2: [agent] enabled_drivers", "none_such", "fake_driver"}},
		"managed under cap 1.0": {
			"[agent]\nenabled_drivers = pci_driver\n[pci]\ndevice_spec = {\"vendor_id\": \"10de\", \"managed\": false}\n[upgrade_levels]\nconductor = 1.0\n",
			[]string{"pci_driver", "managed", "1.1", "[upgrade_levels] conductor = 1.0"},
		},
		"no driver": {"[agent]\nenabled_drivers =\n", []string{"cyborg.conf:2: [agent] enabled_drivers"}},
		"several": {
			"[DEFAULT]\ntransport_url = kombu://h/\nrpc_response_timeout = soon\n[agent]\nenabled_drivers = none_such\n" +
				"[upgrade_levels]\nconductor = auto\n[oslo_messaging_rabbit]\nheartbeat_rate = fast\nkombu_compression = lz\n",
			[]string{"cyborg.conf:2", "kombu:", "cyborg.conf:10", "none_such", "cyborg.conf:3", "cyborg.conf:7", "cyborg.conf:9"},
		},
		"half a value": {
			"[pci]\ndevice_spec = {\"vendor_id\": \"8086\",\n# a comment\n    \"product_id\": \"2000\"}\n",
			[]string{"cyborg.conf", "4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{nil, {"check-config"}} {
				code, _, stderr := run(t, tt.text, args...)
				if code != 1 {
					t.Errorf("%v: exit code %d, want 1", args, code)
				}
				for _, word := range tt.words {
					if !strings.Contains(stderr, word) {
						t.Errorf("%v: the message does not say %q: %s", args, word, stderr)
					}
				}
				if strings.Contains(stderr, "hunter2") {
					t.Errorf("%v: the password shows: %s", args, stderr)
				}
			}
		})
	}
}

// TestCheckConfig: effective values on standard output, what is ignored on standard error.
func TestCheckConfig(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, "[DEFAULT]\ntransport_url = rabbit://u:hunter2@h/\n[upgrade_levels]\nconductor = 1.0\n[elsewhere]\nx = 1\n", "check-config")
	if code != 0 || !strings.Contains(stdout, "conductor = 1.0") || !strings.Contains(stdout, "agent = 1.0") || strings.Contains(stdout, "hunter2") {
		t.Errorf("exit code %d, values:\n%s", code, stdout)
	}
	if !strings.Contains(stderr, "[elsewhere] x") {
		t.Errorf("the unknown option is not told: %s", stderr)
	}
}
