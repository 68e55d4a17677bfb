package config

// pluginOptions are those of the keystoneauth plugins password, v3password,
// v3applicationcredential, none, admin_token, token and v3token: auth_type says
// which of them count. tenant_id and tenant_name are former names of the project.
func pluginOptions() []Option {
	return []Option{
		{Name: "auth_url"},
		{Name: "system_scope"},
		{Name: "domain_id"},
		{Name: "domain_name"},
		{Name: "project_id", Deprecated: []Name{{Option: "tenant_id"}}},
		{Name: "project_name", Deprecated: []Name{{Option: "tenant_name"}}},
		{Name: "project_domain_id"},
		{Name: "project_domain_name"},
		{Name: "trust_id"},
		{Name: "default_domain_id"},
		{Name: "default_domain_name"},
		{Name: "user_id"},
		{Name: "username", Deprecated: []Name{{Option: "user_name"}}},
		{Name: "user_domain_id"},
		{Name: "user_domain_name"},
		{Name: "password", Secret: true},
		{Name: "application_credential_secret", Secret: true},
		{Name: "application_credential_id"},
		{Name: "application_credential_name"},
		{Name: "endpoint", Deprecated: []Name{{Option: "url"}}},
		{Name: "token", Secret: true},
	}
}

// adapterOptions are those of a client of another service: keystoneauth's session,
// adapter and plugin choice.
func adapterOptions(name, serviceType string) []Option {
	return group(name, append(pluginOptions(), []Option{
		{Name: "auth_section", Help: "use this other section for auth options"},
		{Name: "auth_type", Deprecated: []Name{{Option: "auth_plugin"}}, Help: "keystoneauth plugin name; its options are then read from the same section"},
		{Name: "cafile", Help: "CA bundle"},
		{Name: "certfile", Help: "client certificate"},
		{Name: "collect_timing", Kind: Bool, Default: false, Inert: true},
		{Name: "connect_retries", Kind: Int},
		{Name: "connect_retry_delay", Kind: Float},
		{Name: "endpoint_override", Help: "fixed base URL, skips the catalog (version discovery still happens)"},
		{Name: "insecure", Kind: Bool, Default: false, Help: "skip TLS verification"},
		{Name: "keyfile", Help: "client key"},
		{Name: "max_version", Inert: true, Help: "accepted and ignored"},
		{Name: "min_version", Inert: true, Help: "accepted and ignored"},
		{Name: "region_name", Help: "catalog region"},
		{Name: "retriable_status_codes", Kind: List},
		{Name: "service_name", Help: "catalog name"},
		{Name: "split_loggers", Kind: Bool, Default: false, Inert: true},
		{Name: "status_code_retries", Kind: Int},
		{Name: "status_code_retry_delay", Kind: Float},
		{Name: "timeout", Kind: Float, Help: "request timeout s; 10 where unset"},
		{Name: "tls_ciphers", Inert: true},
		{Name: "tls_min_version", Choices: []string{"1.2", "1.3"}, Inert: true},
		{Name: "valid_interfaces", Kind: List, Default: []string{"internal", "public"}, Help: "preferred interfaces in order"},
		{Name: "version", Inert: true, Help: "accepted and ignored"},
		{Name: "service_type", Default: serviceType, Help: "catalog type"},
	}...))
}

// authTokenOptions are those of the token validation of the API.
func authTokenOptions() []Option {
	return group("keystone_authtoken", append(pluginOptions(), []Option{
		{Name: "auth_section", Help: "take auth options from another section"},
		{Name: "auth_type", Deprecated: []Name{{Option: "auth_plugin"}}, Help: "auth plugin"},
		{Name: "auth_version", Inert: true, Help: "identity API version"},
		{Name: "cache", Inert: true, Help: "WSGI env key of a cache object"},
		{Name: "cafile", Help: "CA bundle"},
		{Name: "certfile", Help: "client cert"},
		{Name: "delay_auth_decision", Kind: Bool, Default: false, Inert: true, Help: "let unauthenticated requests pass to the app"},
		{Name: "enforce_token_bind", Default: "permissive", Inert: true, Help: "legacy"},
		{Name: "http_connect_timeout", Kind: Int, Help: "s"},
		{Name: "http_request_max_retries", Kind: Int, Default: 3, Help: "retries"},
		{Name: "include_service_catalog", Kind: Bool, Default: true, Inert: true, Help: "put catalog in headers"},
		{Name: "insecure", Kind: Bool, Default: false, Help: "skip TLS verification"},
		{Name: "interface", Default: "internal", Help: "catalog interface for keystone"},
		{Name: "keyfile", Help: "client key"},
		{Name: "memcache_password", Secret: true, Inert: true},
		{Name: "memcache_pool_conn_get_timeout", Kind: Int, Default: 10, Inert: true},
		{Name: "memcache_pool_dead_retry", Kind: Int, Default: 300, Inert: true},
		{Name: "memcache_pool_maxsize", Kind: Int, Default: 10, Inert: true},
		{Name: "memcache_pool_socket_timeout", Kind: Int, Default: 3, Inert: true},
		{Name: "memcache_pool_unused_timeout", Kind: Int, Default: 60, Inert: true},
		{Name: "memcache_sasl_enabled", Kind: Bool, Default: false, Inert: true},
		{Name: "memcache_secret_key", Secret: true, Inert: true, Help: "key for it"},
		{Name: "memcache_security_strategy", Default: "None", Choices: []string{"None", "MAC", "ENCRYPT"}, Inert: true, Help: "None, MAC or ENCRYPT"},
		{Name: "memcache_tls_allowed_ciphers", Inert: true},
		{Name: "memcache_tls_cafile", Inert: true},
		{Name: "memcache_tls_certfile", Inert: true},
		{Name: "memcache_tls_enabled", Kind: Bool, Default: false, Inert: true},
		{Name: "memcache_tls_keyfile", Inert: true},
		{Name: "memcache_use_advanced_pool", Kind: Bool, Default: true, Inert: true},
		{Name: "memcache_username", Inert: true},
		{Name: "memcached_servers", Kind: List, Deprecated: []Name{{Option: "memcache_servers"}}, Inert: true, Help: "host:port list"},
		{Name: "region_name", Help: "keystone region"},
		{Name: "service_token_roles", Kind: List, Default: []string{"service"}, Help: "roles that make a service token valid"},
		{Name: "service_token_roles_required", Kind: Bool, Default: true, Help: "library default false; Cyborg sets TRUE"},
		{Name: "service_type", Inert: true, Help: "own service type for access rules"},
		{Name: "token_cache_time", Kind: Int, Default: 300, Help: "seconds (-1 off)"},
		{Name: "www_authenticate_uri", Help: "public keystone URL for 401 answers"},
	}...))
}

// serviceUserOptions are those of the service token sent along with a user's.
func serviceUserOptions() []Option {
	return group("service_user", append(pluginOptions(), []Option{
		{Name: "auth_section", Help: "use this other section for auth options"},
		{Name: "auth_type", Deprecated: []Name{{Option: "auth_plugin"}}, Help: "keystoneauth plugin name; its options are then read from the same section"},
		{Name: "cafile", Help: "CA bundle"},
		{Name: "certfile", Help: "client certificate"},
		{Name: "collect_timing", Kind: Bool, Default: false, Inert: true},
		{Name: "insecure", Kind: Bool, Default: false, Help: "skip TLS verification"},
		{Name: "keyfile", Help: "client key"},
		{Name: "send_service_user_token", Kind: Bool, Default: false, Help: "add the service token to user-token requests (Glance download)"},
		{Name: "split_loggers", Kind: Bool, Default: false, Inert: true},
		{Name: "timeout", Kind: Float, Help: "request timeout s"},
		{Name: "tls_ciphers", Inert: true},
		{Name: "tls_min_version", Choices: []string{"1.2", "1.3"}, Inert: true},
	}...))
}
