package config

func rabbitOptions(f Facts) []Option {
	return group("oslo_messaging_rabbit", []Option{
		{Name: "amqp_auto_delete", Kind: Bool, Default: false, Help: "auto-delete queues"},
		{Name: "amqp_durable_queues", Kind: Bool, Default: false, Help: "durable queues/exchange"},
		{Name: "conn_pool_min_size", Kind: Int, Default: 2, Inert: true, Help: "kept connections"},
		{Name: "conn_pool_ttl", Kind: Int, Default: 1200, Inert: true, Help: "idle s"},
		{Name: "direct_mandatory_flag", Kind: Bool, Default: true, Removal: "it has no effect here", Inert: true, Help: "mandatory flag on replies"},
		{Name: "enable_cancel_on_failover", Kind: Bool, Default: false, Help: "consumer cancel on failover"},
		{Name: "heartbeat_rate", Kind: Int, Default: 3, Help: "checks per threshold"},
		{Name: "heartbeat_timeout_threshold", Kind: Int, Default: 60, Help: "s without heartbeat = dead (0 off)"},
		{Name: "hostname", Default: f.Hostname, Help: "for queue manager names"},
		{Name: "kombu_compression", Help: "gzip or none"},
		{Name: "kombu_failover_strategy", Default: "round-robin", Choices: []string{"round-robin", "shuffle"}, Help: "round-robin or shuffle"},
		{Name: "kombu_missing_consumer_retry_timeout", Kind: Int, Default: 60, Deprecated: []Name{{Option: "kombu_reconnect_timeout"}}, Help: "s to wait for a missing client"},
		{Name: "kombu_reconnect_delay", Kind: Float, Default: 1.0, Max: new(4.5), Help: "s before reconnect"},
		{Name: "kombu_reconnect_splay", Kind: Float, Default: 0.0, Help: "random extra s"},
		{Name: "processname", Default: f.Program, Help: "for queue manager names (Debian sets it by environment)"},
		{Name: "rabbit_ha_queues", Kind: Bool, Default: false, Help: "classic mirroring argument"},
		{Name: "rabbit_interval_max", Kind: Int, Default: 30, Min: new(1.0), Help: "retry cap s"},
		{Name: "rabbit_login_method", Default: "AMQPLAIN", Choices: []string{"PLAIN", "AMQPLAIN", "EXTERNAL", "RABBIT-CR-DEMO"}, Help: "SASL mechanism"},
		{Name: "rabbit_qos_prefetch_count", Kind: Int, Default: 0, Help: "0 unlimited"},
		{Name: "rabbit_quorum_delivery_limit", Kind: Int, Default: 0, Help: "0 = unset"},
		{Name: "rabbit_quorum_max_memory_bytes", Kind: Int, Default: 0, Help: "0 = unset"},
		{Name: "rabbit_quorum_max_memory_length", Kind: Int, Default: 0, Help: "0 = unset"},
		{Name: "rabbit_quorum_queue", Kind: Bool, Default: false, Help: "quorum queues for RPC"},
		{Name: "rabbit_retry_backoff", Kind: Int, Default: 2, Help: "added s per retry"},
		{Name: "rabbit_retry_interval", Kind: Int, Default: 1, Min: new(1.0), Help: "first retry s"},
		{Name: "rabbit_stream_fanout", Kind: Bool, Default: false, Help: "stream queues for fanout"},
		{Name: "rabbit_transient_queues_ttl", Kind: Int, Default: 1800, Help: "x-expires s of transient queues (0 off)"},
		{Name: "rabbit_transient_quorum_queue", Kind: Bool, Default: false, Help: "quorum for transient queues too"},
		{Name: "rpc_conn_pool_size", Kind: Int, Default: 30, Min: new(1.0), Inert: true, Help: "connection pool"},
		{Name: "ssl", Kind: Bool, Default: false, Help: "TLS"},
		{Name: "ssl_ca_file", Default: ""},
		{Name: "ssl_cert_file", Default: ""},
		{Name: "ssl_enforce_fips_mode", Kind: Bool, Default: false, Removal: "it has no effect here", Inert: true},
		{Name: "ssl_enforce_hostname_verification", Kind: Bool, Default: true, Removal: "oslo removes it"},
		{Name: "ssl_key_file", Default: ""},
		{Name: "ssl_version", Default: ""},
		{Name: "use_queue_manager", Kind: Bool, Default: false, Help: "stable queue names"},
	})
}

func notificationOptions() []Option {
	return group("oslo_messaging_notifications", []Option{
		{Name: "driver", Kind: MultiStr, Inert: true, Help: "messagingv2, messaging, log, routing, test, noop"},
		{Name: "retry", Kind: Int, Default: -1, Inert: true, Help: "-1 forever"},
		{Name: "topics", Kind: List, Default: []string{"notifications"}, Inert: true, Help: "topics"},
		{Name: "transport_url", Secret: true, Inert: true, Help: "other bus for notifications"},
	})
}
