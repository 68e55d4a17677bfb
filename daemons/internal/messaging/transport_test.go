package messaging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg := read(t, text)
	if err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// read does not look whether values are valid.
func read(t *testing.T, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cyborg.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	schema, err := config.NewSchema(config.Options(config.Facts{Hostname: "h", Program: "cyborg-agent"}))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Read(schema, config.Source{Args: []string{"--config-file", file}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestOptionsReachTheTransport: what is set goes through, what is not keeps the transport's own default.
func TestOptionsReachTheTransport(t *testing.T) {
	t.Parallel()
	facts := amqp.Options{Hostname: "h", ProcessName: "cyborg-agent"}
	for name, tt := range map[string]struct {
		text string
		want func(*amqp.Config)
	}{
		"defaults": {"", func(*amqp.Config) {}},
		"address": {"[DEFAULT]\ntransport_url = rabbit://u:p@a:5672,u:p@b:5672/v\ncontrol_exchange = other\n", func(c *amqp.Config) {
			c.URL, c.ControlExchange = "rabbit://u:p@a:5672,u:p@b:5672/v", "other"
		}},
		"queues": {"[oslo_messaging_rabbit]\namqp_durable_queues = true\nrabbit_quorum_queue = yes\nrabbit_transient_queues_ttl = 0\nrabbit_stream_fanout = on\nrabbit_transient_quorum_queue = on\nrabbit_qos_prefetch_count = 9\n", func(c *amqp.Config) {
			c.Options.Durable, c.Options.Quorum, c.Options.StreamFanout, c.Options.TransientTTL = true, true, true, -1
			c.Options.TransientQuorum, c.Options.Prefetch = true, 9
		}},
		"times": {"[oslo_messaging_rabbit]\nheartbeat_timeout_threshold = 30\nrabbit_retry_interval = 2\nrabbit_retry_backoff = 4\nrabbit_interval_max = 20\n", func(c *amqp.Config) {
			c.Options.Heartbeat, c.Options.RetryInterval = 30*time.Second, 2*time.Second
			c.Options.RetryBackoff, c.Options.RetryMax = 4*time.Second, 20*time.Second
		}},
		"identity": {"[oslo_messaging_rabbit]\nuse_queue_manager = true\nhostname = x\nprocessname = y\nkombu_compression = gzip\n", func(c *amqp.Config) {
			c.Options.QueueManager, c.Options.Hostname, c.Options.ProcessName, c.Options.Compression = true, "x", "y", "gzip"
		}},
		"accepted without effect": {"[oslo_messaging_rabbit]\nheartbeat_rate = 5\nrpc_conn_pool_size = 3\nkombu_reconnect_delay = 0.5\ndirect_mandatory_flag = false\n", func(*amqp.Config) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := amqp.Config{URL: "rabbit://", ControlExchange: "cyborg", Options: facts}
			tt.want(&want)
			cfg := load(t, tt.text)
			got, err := transportConfig(cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if err := Check(cfg); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCheckNamesThePlace: option, file and line, all problems together, and no password.
func TestCheckNamesThePlace(t *testing.T) {
	t.Parallel()
	err := Check(load(t, "[DEFAULT]\n\n[oslo_messaging_rabbit]\nkombu_compression = lz4\nrabbit_qos_prefetch_count = -1\n"))
	for _, word := range []string{"kombu_compression", "cyborg.conf:4", "gzip", "rabbit_qos_prefetch_count", "cyborg.conf:5"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("no %s in: %v", word, err)
		}
	}
	err = Check(load(t, "[DEFAULT]\ntransport_url = rabbit://u:hunter2@h:0/\n"))
	if err == nil || !strings.Contains(err.Error(), "cyborg.conf:2") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("transport_url: %v", err)
	}
}

// TestReplyRetry: how long a server tries to answer a client that is gone, also by the option's former name and from the
// query of transport_url, which comes first.
func TestReplyRetry(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want time.Duration
	}{
		"default": {"", 0}, "none": {"[oslo_messaging_rabbit]\nkombu_missing_consumer_retry_timeout = 0\n", -1},
		"set":         {"[oslo_messaging_rabbit]\nkombu_missing_consumer_retry_timeout = 7\n", 7 * time.Second},
		"former name": {"[oslo_messaging_rabbit]\nkombu_reconnect_timeout = 8\n", 8 * time.Second},
		"URL": {
			"[DEFAULT]\ntransport_url = rabbit://h/?kombu_missing_consumer_retry_timeout=9\n[oslo_messaging_rabbit]\nkombu_missing_consumer_retry_timeout = 7\n",
			9 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := load(t, tt.text)
			bus, err := Open(cfg, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer bus.Close(t.Context())
			got := serverConfig(cfg, bus, Service{Topic: "t", Endpoint: rpc.NewEndpoint("", "1.0")})
			if got.ReplyRetry != tt.want {
				t.Errorf("ReplyRetry = %s, want %s", got.ReplyRetry, tt.want)
			}
		})
	}
	err := Check(load(t, "[oslo_messaging_rabbit]\nkombu_missing_consumer_retry_timeout = -1\n"))
	if err == nil || !strings.Contains(err.Error(), "cyborg.conf:2") {
		t.Errorf("a negative time: %v", err)
	}
}

// TestTimeouts: the peer's options bound calls and the drain.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	if got := Timeout(load(t, "[DEFAULT]\nrpc_response_timeout = 7\n")); got != 7*time.Second {
		t.Errorf("Timeout() = %s", got)
	}
	if got := Timeout(load(t, "")); got != time.Minute {
		t.Errorf("default Timeout() = %s", got)
	}
}

// TestCapsOfOptionsAndClients: what the table of options takes as a cap the clients take too, and nothing else; their
// defaults are the same.
func TestCapsOfOptionsAndClients(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"conductor", "agent"} {
		for _, value := range []string{"0.9", "1.0", "1.1", "1.2", "2.0", "auto", "1"} {
			cfg := read(t, "[upgrade_levels]\n"+option+" = "+value+"\n")
			_, valid := cfg.Value("upgrade_levels", option)
			caps := map[string]string{option: value}
			if _, err := cyborgrpc.ParseLimits(caps["conductor"], caps["agent"]); (err == nil) != (valid == nil) {
				t.Errorf("%s = %s: the option says %v, the clients %v", option, value, valid, err)
			}
		}
	}
	limits, err := Limits(load(t, ""))
	if err != nil || limits != cyborgrpc.DefaultLimits() {
		t.Errorf("defaults of the options: %v, %v; of the clients: %v", limits, err, cyborgrpc.DefaultLimits())
	}
}
