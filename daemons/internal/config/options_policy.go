package config

func policyOptions() []Option {
	return group("oslo_policy", []Option{
		{Name: "enforce_new_defaults", Kind: Bool, Default: false, Help: "ignore deprecated defaults"},
		{Name: "enforce_scope", Kind: Bool, Default: true, Removal: "oslo removes it", Help: "check token scope"},
		{Name: "policy_default_rule", Default: "default", Help: "rule when none matches"},
		{Name: "policy_dirs", Kind: MultiStr, Default: []string{"policy.d"}, Help: "directories, relative to the config dir"},
		{Name: "policy_file", Default: "policy.yaml", Help: "main policy file (missing is fine)"},
		{Name: "remote_content_type", Default: "application/x-www-form-urlencoded", Choices: []string{"application/x-www-form-urlencoded", "application/json"}, Inert: true, Help: "http: checks"},
		{Name: "remote_ssl_ca_crt_file", Inert: true},
		{Name: "remote_ssl_client_crt_file", Inert: true},
		{Name: "remote_ssl_client_key_file", Inert: true},
		{Name: "remote_ssl_verify_server_crt", Kind: Bool, Default: false, Inert: true},
		{Name: "remote_timeout", Kind: Float, Default: 60, Inert: true, Help: "s"},
	})
}

func middlewareOptions() []Option {
	return group("oslo_middleware", []Option{
		{Name: "enable_proxy_headers_parsing", Kind: Bool, Default: false, Help: "honour X-Forwarded-* in http_proxy_to_wsgi"},
		{Name: "http_basic_auth_user_file", Default: "/etc/htpasswd", Inert: true, Help: "unused"},
	})
}
