package amqp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options are those of [oslo_messaging_rabbit] that show on the wire or in the reconnect schedule. The zero value is the
// default of oslo.messaging 18.3. Every service on the bus must agree on the first group: whoever declares an object first
// fixes its flags, and another value makes the next service fail.
type Options struct {
	Durable             bool // amqp_durable_queues: topic exchange and topic queues survive a broker restart
	AutoDelete          bool // amqp_auto_delete: topic exchange and topic queues disappear with their last user
	Quorum              bool // rabbit_quorum_queue: topic queues are quorum queues
	TransientQuorum     bool // rabbit_transient_quorum_queue: reply and fanout queues too
	QuorumDeliveryLimit int  // rabbit_quorum_delivery_limit; 0 = none
	QuorumMaxLength     int  // rabbit_quorum_max_memory_length, messages; 0 = no limit
	QuorumMaxBytes      int  // rabbit_quorum_max_memory_bytes; 0 = no limit
	StreamFanout        bool // rabbit_stream_fanout: one shared stream instead of fanout queues
	Mirrored            bool // rabbit_ha_queues: x-ha-policy on all queues
	// TransientTTL is how long reply and fanout queues outlive their consumer (rabbit_transient_queues_ttl).
	// 0 = 1800 s, negative = for ever.
	TransientTTL time.Duration

	CancelOnFailover bool // enable_cancel_on_failover
	// QueueManager is use_queue_manager: readable names of reply and fanout queues, numbered from 1. A Transport counts its
	// own: two of one host need different process names, or they consume each other's replies.
	QueueManager bool
	Hostname     string // hostname, for QueueManager
	ProcessName  string // processname, for QueueManager
	Prefetch     int    // rabbit_qos_prefetch_count on every consumer; 0 = what the listener asks for
	Compression  string // kombu_compression: "" or "gzip"

	// Heartbeat is heartbeat_timeout_threshold: a connection without a sign of life for this long is lost.
	// 0 = 60 s, negative = what the broker asks for, 60 s by default: the AMQP library cannot do without.
	Heartbeat     time.Duration
	RetryInterval time.Duration // rabbit_retry_interval: the first wait; 0 = 1 s
	RetryBackoff  time.Duration // rabbit_retry_backoff: the step of the following waits; 0 = 2 s
	RetryMax      time.Duration // rabbit_interval_max: the longest wait; 0 = 30 s
	Shuffle       bool          // kombu_failover_strategy = shuffle

	// ReplyRetry is kombu_missing_consumer_retry_timeout, for rpc.ServerConfig.ReplyRetry: the transport does not use it.
	// 0 = 60 s, negative = not at all.
	ReplyRetry time.Duration

	Login      string // rabbit_login_method: "" or AMQPLAIN, PLAIN, EXTERNAL
	TLS        bool   // ssl
	TLSVersion string // ssl_version: "" or TLSv1_2, TLSv1_3 as the lowest
	KeyFile    string // ssl_key_file; "" = CertFile holds the key too
	CertFile   string // ssl_cert_file
	// CAFile is ssl_ca_file. With it the broker's certificate and name are verified; without it TLS only encrypts.
	CAFile string
}

// setter writes one option from its text.
type setter func(o *Options, text string) error

// Set sets an option by the name it has in [oslo_messaging_rabbit]. Options without an effect here (connection pool sizes,
// heartbeat_rate, direct_mandatory_flag and others) are accepted; an unknown name or a value of the wrong type is an
// [*OptionError].
func (o *Options) Set(name, text string) error {
	set, ok := setters()[name]
	if !ok {
		return &OptionError{Option: name, Value: text, Reason: "is not an option of [oslo_messaging_rabbit]"}
	}
	if err := set(o, strings.TrimSpace(text)); err != nil {
		return &OptionError{Option: name, Value: text, Reason: err.Error()}
	}
	return nil
}

// OptionError is an option of [oslo_messaging_rabbit] that cannot be used as given.
type OptionError struct{ Option, Value, Reason string }

// Error names option, value and reason.
func (e *OptionError) Error() string {
	return fmt.Sprintf("[oslo_messaging_rabbit] %s = %q: %s", e.Option, e.Value, e.Reason)
}

func setters() map[string]setter {
	return map[string]setter{
		"amqp_durable_queues":                  boolean(func(o *Options) *bool { return &o.Durable }),
		"amqp_auto_delete":                     boolean(func(o *Options) *bool { return &o.AutoDelete }),
		"rabbit_quorum_queue":                  boolean(func(o *Options) *bool { return &o.Quorum }),
		"rabbit_transient_quorum_queue":        boolean(func(o *Options) *bool { return &o.TransientQuorum }),
		"rabbit_quorum_delivery_limit":         integer(func(o *Options) *int { return &o.QuorumDeliveryLimit }),
		"rabbit_quorum_max_memory_length":      integer(func(o *Options) *int { return &o.QuorumMaxLength }),
		"rabbit_quroum_max_memory_length":      integer(func(o *Options) *int { return &o.QuorumMaxLength }), // as 14.0 spells it
		"rabbit_quorum_max_memory_bytes":       integer(func(o *Options) *int { return &o.QuorumMaxBytes }),
		"rabbit_quroum_max_memory_bytes":       integer(func(o *Options) *int { return &o.QuorumMaxBytes }),
		"rabbit_stream_fanout":                 boolean(func(o *Options) *bool { return &o.StreamFanout }),
		"rabbit_ha_queues":                     boolean(func(o *Options) *bool { return &o.Mirrored }),
		"rabbit_transient_queues_ttl":          seconds(func(o *Options) *time.Duration { return &o.TransientTTL }),
		"enable_cancel_on_failover":            boolean(func(o *Options) *bool { return &o.CancelOnFailover }),
		"use_queue_manager":                    boolean(func(o *Options) *bool { return &o.QueueManager }),
		"hostname":                             anyText(func(o *Options) *string { return &o.Hostname }),
		"processname":                          anyText(func(o *Options) *string { return &o.ProcessName }),
		"rabbit_qos_prefetch_count":            integer(func(o *Options) *int { return &o.Prefetch }),
		"kombu_compression":                    oneOf(func(o *Options) *string { return &o.Compression }, "", "gzip"),
		"heartbeat_timeout_threshold":          seconds(func(o *Options) *time.Duration { return &o.Heartbeat }),
		"rabbit_retry_interval":                seconds(func(o *Options) *time.Duration { return &o.RetryInterval }),
		"rabbit_retry_backoff":                 seconds(func(o *Options) *time.Duration { return &o.RetryBackoff }),
		"rabbit_interval_max":                  seconds(func(o *Options) *time.Duration { return &o.RetryMax }),
		"kombu_failover_strategy":              failover,
		"kombu_missing_consumer_retry_timeout": seconds(func(o *Options) *time.Duration { return &o.ReplyRetry }),
		"kombu_reconnect_timeout":              seconds(func(o *Options) *time.Duration { return &o.ReplyRetry }), // its former name
		"rabbit_login_method":                  oneOf(func(o *Options) *string { return &o.Login }, "", "AMQPLAIN", "PLAIN", loginExternal),
		"ssl":                                  boolean(func(o *Options) *bool { return &o.TLS }),
		"ssl_version":                          anyText(func(o *Options) *string { return &o.TLSVersion }),
		"ssl_key_file":                         anyText(func(o *Options) *string { return &o.KeyFile }),
		"ssl_cert_file":                        anyText(func(o *Options) *string { return &o.CertFile }),
		"ssl_ca_file":                          anyText(func(o *Options) *string { return &o.CAFile }),

		"ssl_enforce_hostname_verification": ignored,
		"ssl_enforce_fips_mode":             ignored,
		"heartbeat_rate":                    ignored,
		"heartbeat_in_pthread":              ignored,
		"direct_mandatory_flag":             ignored,
		"rpc_conn_pool_size":                ignored,
		"conn_pool_min_size":                ignored,
		"conn_pool_ttl":                     ignored,
		"kombu_reconnect_delay":             ignored,
		"kombu_reconnect_splay":             ignored,
	}
}

func boolean(field func(*Options) *bool) setter {
	return func(o *Options, text string) error {
		switch strings.ToLower(text) {
		case "true", "1", "on", "yes":
			*field(o) = true
		case "false", "0", "off", "no":
			*field(o) = false
		default:
			return fmt.Errorf("use true or false")
		}
		return nil
	}
}

func integer(field func(*Options) *int) setter {
	return func(o *Options, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("use a whole number from 0")
		}
		*field(o) = n
		return nil
	}
}

// seconds keeps the zero value for "default": a text of 0 means none, which is negative here.
func seconds(field func(*Options) *time.Duration) setter {
	return func(o *Options, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("use a whole number of seconds from 0")
		}
		*field(o) = time.Duration(n) * time.Second
		if n == 0 {
			*field(o) = -1
		}
		return nil
	}
}

func anyText(field func(*Options) *string) setter {
	return func(o *Options, text string) error { *field(o) = text; return nil }
}

func oneOf(field func(*Options) *string, values ...string) setter {
	return func(o *Options, text string) error {
		if slices.Contains(values, text) {
			*field(o) = text
			return nil
		}
		return fmt.Errorf("use one of %q", values)
	}
}

func failover(o *Options, text string) error {
	switch text {
	case "round-robin":
		o.Shuffle = false
	case "shuffle":
		o.Shuffle = true
	default:
		return fmt.Errorf("use round-robin or shuffle")
	}
	return nil
}

func ignored(*Options, string) error { return nil }

// validate reports combinations that the broker or the peers refuse.
func (o *Options) validate() []error {
	var errs []error
	if o.Mirrored && (o.Quorum || o.TransientQuorum) {
		errs = append(errs, &OptionError{"rabbit_ha_queues", "true", "cannot be combined with quorum queues"})
	}
	if o.StreamFanout && !o.TransientQuorum {
		errs = append(errs, &OptionError{"rabbit_stream_fanout", "true", "needs rabbit_transient_quorum_queue = true"})
	}
	if o.StreamFanout && o.Prefetch == 0 {
		errs = append(errs, &OptionError{"rabbit_stream_fanout", "true", "needs rabbit_qos_prefetch_count above 0"})
	}
	if o.TLSVersion != "" {
		if _, err := tlsVersion(o.TLSVersion); err != nil {
			errs = append(errs, &OptionError{"ssl_version", o.TLSVersion, err.Error()})
		}
	}
	return errs
}

// orDefault gives d for zero and 0 for a negative duration.
func orDefault(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return max(d, 0)
}
