package amqp_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/rpc/amqp"
)

func TestOptionsByName(t *testing.T) {
	t.Parallel()
	var o amqp.Options
	for _, pair := range []string{
		"amqp_durable_queues=True", "amqp_auto_delete=1", "rabbit_quorum_queue=on", "rabbit_transient_quorum_queue=yes",
		"rabbit_quorum_delivery_limit=5", "rabbit_quroum_max_memory_length=10", "rabbit_quorum_max_memory_bytes=11", "rabbit_ha_queues=off",
		"rabbit_transient_queues_ttl=0", "heartbeat_timeout_threshold=30", "kombu_compression=gzip", "kombu_failover_strategy=shuffle",
		"rabbit_login_method=PLAIN", "ssl=true", "ssl_ca_file=/ca", "rpc_conn_pool_size=30", "kombu_reconnect_timeout=5", "direct_mandatory_flag=true",
	} {
		name, value, _ := strings.Cut(pair, "=")
		if err := o.Set(name, value); err != nil {
			t.Error(err)
		}
	}
	want := amqp.Options{
		Durable: true, AutoDelete: true, Quorum: true, TransientQuorum: true, QuorumDeliveryLimit: 5, QuorumMaxLength: 10, QuorumMaxBytes: 11,
		TransientTTL: -1, Heartbeat: 30 * time.Second, Compression: "gzip", Shuffle: true, ReplyRetry: 5 * time.Second, Login: "PLAIN", TLS: true, CAFile: "/ca",
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, pair := range []string{
		"no_such_option=1", "ssl=maybe", "rabbit_qos_prefetch_count=-1", "rabbit_qos_prefetch_count=x", "heartbeat_timeout_threshold=1.5",
		"kombu_compression=lzma", "kombu_failover_strategy=random", "rabbit_login_method=MAGIC",
	} {
		name, value, _ := strings.Cut(pair, "=")
		var bad *amqp.OptionError
		if err := o.Set(name, value); !errors.As(err, &bad) || bad.Option != name || bad.Value != value {
			t.Errorf("%s: %v", pair, err)
		}
	}
}

// TestOpenReportsEverything at once, and starts nothing.
func TestOpenReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := amqp.Open(amqp.Config{
		URL:     "kombu://h/?ssl=maybe&nonsense=1",
		Options: amqp.Options{Mirrored: true, Quorum: true, StreamFanout: true},
	})
	for _, part := range []string{"kombu", "ssl", "nonsense", "rabbit_ha_queues", "rabbit_transient_quorum_queue", "rabbit_qos_prefetch_count"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %q", err, part)
		}
	}
}
