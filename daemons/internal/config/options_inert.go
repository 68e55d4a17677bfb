package config

import "slices"

// inertOptions are the peer's groups that mean nothing to these daemons. They are
// declared so that check-config can tell them from misspelt ones.
func inertOptions() []Option {
	return slices.Concat(
		cacheOptions(),
		privsepOptions(),
		glanceOptions(),
		concurrencyOptions(),
		metricsOptions(),
		tracingOptions(),
		objectOptions(),
	)
}

func cacheOptions() []Option {
	return group("cache", []Option{
		{Name: "backend", Default: "dogpile.cache.null", Choices: []string{"oslo_cache.memcache_pool", "oslo_cache.dict", "oslo_cache.etcd3gw", "dogpile.cache.pymemcache", "dogpile.cache.memcached", "dogpile.cache.pylibmc", "dogpile.cache.bmemcached", "dogpile.cache.dbm", "dogpile.cache.redis", "dogpile.cache.redis_sentinel", "dogpile.cache.memory", "dogpile.cache.memory_pickle", "dogpile.cache.null"}, Inert: true},
		{Name: "backend_argument", Kind: MultiStr, Secret: true, Inert: true},
		{Name: "backend_expiration_time", Kind: Int, Min: new(1.0), Inert: true},
		{Name: "config_prefix", Default: "cache.oslo", Inert: true},
		{Name: "debug_cache_backend", Kind: Bool, Default: false, Inert: true},
		{Name: "enable_retry_client", Kind: Bool, Default: false, Inert: true},
		{Name: "enable_socket_keepalive", Kind: Bool, Default: false, Inert: true},
		{Name: "enabled", Kind: Bool, Default: false, Inert: true},
		{Name: "expiration_time", Kind: Int, Default: 600, Min: new(1.0), Inert: true},
		{Name: "hashclient_dead_timeout", Kind: Float, Default: 60, Deprecated: []Name{{Option: "dead_timeout"}}, Inert: true},
		{Name: "hashclient_retry_attempts", Kind: Int, Default: 2, Min: new(1.0), Inert: true},
		{Name: "hashclient_retry_timeout", Kind: Float, Default: 1, Deprecated: []Name{{Option: "hashclient_retry_delay"}}, Inert: true},
		{Name: "memcache_dead_retry", Kind: Int, Default: 300, Inert: true},
		{Name: "memcache_pool_connection_get_timeout", Kind: Int, Default: 10, Inert: true},
		{Name: "memcache_pool_flush_on_reconnect", Kind: Bool, Default: false, Inert: true},
		{Name: "memcache_pool_maxsize", Kind: Int, Default: 10, Inert: true},
		{Name: "memcache_pool_unused_timeout", Kind: Int, Default: 60, Inert: true},
		{Name: "memcache_sasl_enabled", Kind: Bool, Default: false, Inert: true},
		{Name: "memcache_servers", Kind: List, Default: []string{"localhost:11211"}, Inert: true},
		{Name: "password", Deprecated: []Name{{Option: "memcache_password"}, {Option: "redis_password"}}, Secret: true, Inert: true},
		{Name: "proxies", Kind: List, Default: []string{}, Inert: true},
		{Name: "redis_db", Kind: Int, Default: 0, Inert: true},
		{Name: "redis_sentinel_service_name", Default: "mymaster", Inert: true},
		{Name: "redis_sentinels", Kind: List, Default: []string{"localhost:26379"}, Inert: true},
		{Name: "redis_server", Default: "localhost:6379", Inert: true},
		{Name: "retry_attempts", Kind: Int, Default: 2, Min: new(1.0), Inert: true},
		{Name: "retry_delay", Kind: Float, Default: 0, Inert: true},
		{Name: "socket_keepalive_count", Kind: Int, Default: 1, Inert: true},
		{Name: "socket_keepalive_idle", Kind: Int, Default: 1, Inert: true},
		{Name: "socket_keepalive_interval", Kind: Int, Default: 1, Inert: true},
		{Name: "socket_timeout", Kind: Float, Default: 1.0, Deprecated: []Name{{Option: "memcache_socket_timeout"}, {Option: "redis_socket_timeout"}}, Inert: true},
		{Name: "tls_allowed_ciphers", Inert: true},
		{Name: "tls_cafile", Inert: true},
		{Name: "tls_certfile", Inert: true},
		{Name: "tls_enabled", Kind: Bool, Default: false, Inert: true},
		{Name: "tls_keyfile", Inert: true},
		{Name: "username", Deprecated: []Name{{Option: "memcache_username"}, {Option: "redis_username"}}, Inert: true},
	})
}

func privsepOptions() []Option {
	return group("cyborg_sys_admin", []Option{
		{Name: "capabilities", Kind: List, Default: []string{"0", "1", "2", "3", "21"}, Inert: true, Help: "kept capabilities (0 CHOWN,1 DAC_OVERRIDE,2 DAC_READ_SEARCH,3 FOWNER,21 SYS_ADMIN)"},
		{Name: "group", Inert: true, Help: "group"},
		{Name: "helper_command", Inert: true, Help: "command to start it (default: sudo privsep-helper ...)"},
		{Name: "log_daemon_traceback", Kind: Bool, Default: false, Inert: true, Help: "log tracebacks"},
		{Name: "logger_name", Default: "oslo_privsep.daemon", Inert: true, Help: "logger"},
		{Name: "thread_pool_size", Kind: Int, Default: 2, Min: new(1.0), Inert: true, Help: "helper threads"},
		{Name: "user", Inert: true, Help: "user of the privsep helper"},
	})
}

func glanceOptions() []Option {
	return group("glance", []Option{
		{Name: "cafile", Deprecated: []Name{{Group: "ssl", Option: "ca_file"}}, Inert: true, Help: "CA bundle"},
		{Name: "certfile", Deprecated: []Name{{Group: "ssl", Option: "cert_file"}}, Inert: true, Help: "client certificate"},
		{Name: "collect_timing", Kind: Bool, Default: false, Inert: true},
		{Name: "connect_retries", Kind: Int, Inert: true},
		{Name: "connect_retry_delay", Kind: Float, Inert: true},
		{Name: "endpoint_override", Help: "fixed base URL, skips the catalog (version discovery still happens)"},
		{Name: "insecure", Kind: Bool, Default: false, Deprecated: []Name{{Option: "api_insecure"}}, Inert: true, Help: "skip TLS verification"},
		{Name: "keyfile", Deprecated: []Name{{Group: "ssl", Option: "key_file"}}, Inert: true, Help: "client key"},
		{Name: "max_version", Inert: true, Help: "accepted and ignored"},
		{Name: "min_version", Inert: true, Help: "accepted and ignored"},
		{Name: "num_retries", Kind: Int, Default: 0, Inert: true, Help: "extra attempts for image download (min 0)"},
		{Name: "region_name", Inert: true, Help: "catalog region"},
		{Name: "retriable_status_codes", Kind: List, Inert: true},
		{Name: "service_name", Inert: true, Help: "catalog name"},
		{Name: "service_type", Default: "image", Inert: true, Help: "catalog type"},
		{Name: "split_loggers", Kind: Bool, Default: false, Inert: true},
		{Name: "status_code_retries", Kind: Int, Inert: true},
		{Name: "status_code_retry_delay", Kind: Float, Inert: true},
		{Name: "timeout", Kind: Float, Inert: true, Help: "request timeout s"},
		{Name: "tls_ciphers", Inert: true},
		{Name: "tls_min_version", Choices: []string{"1.2", "1.3"}, Inert: true},
		{Name: "valid_interfaces", Kind: List, Default: []string{"internal", "public"}, Inert: true, Help: "preferred interfaces in order"},
		{Name: "version", Inert: true, Help: "accepted and ignored"},
	})
}

func concurrencyOptions() []Option {
	return group("oslo_concurrency", []Option{
		{Name: "disable_process_locking", Kind: Bool, Default: false, Inert: true, Help: "no file locks"},
		{Name: "lock_path", Inert: true, Help: "directory for inter-process locks (not needed: locks are in-process)"},
	})
}

func metricsOptions() []Option {
	return group("oslo_messaging_metrics", []Option{
		{Name: "metrics_buffer_size", Kind: Int, Default: 1000, Inert: true},
		{Name: "metrics_enabled", Kind: Bool, Default: false, Inert: true},
		{Name: "metrics_process_name", Default: "", Inert: true},
		{Name: "metrics_socket_file", Default: "/var/tmp/metrics_collector.sock", Inert: true},
		{Name: "metrics_thread_stop_timeout", Kind: Int, Default: 10, Inert: true},
	})
}

func tracingOptions() []Option {
	return group("oslo_messaging_tracing", []Option{
		{Name: "insecure", Kind: Bool, Default: false, Inert: true},
		{Name: "otel_exporter_otlp_endpoint", Default: "http://localhost:4318", Inert: true},
		{Name: "otlp_protocol", Default: "http/protobuf", Choices: []string{"http/protobuf", "grpc"}, Inert: true},
		{Name: "tracing_enabled", Kind: Bool, Default: false, Inert: true},
		{Name: "tracing_service_name", Default: "openstack", Inert: true},
	})
}

func objectOptions() []Option {
	return group("oslo_versionedobjects", []Option{
		{Name: "fatal_exception_format_errors", Kind: Bool, Default: false, Inert: true, Help: "as in DEFAULT for library errors"},
	})
}
