package policy

// legacyOwner is the predecessor of most rules. Its target is made from the
// caller's own project, so that it passes for everybody with a token.
const legacyOwner = "is_admin:True or project_id:%(project_id)s"

// Defaults are the rules of Cyborg 17.0.0.
func Defaults() []Rule {
	return append(baseRules(), apiRules()...)
}

func baseRules() []Rule {
	return []Rule{
		{Name: "admin_api", Check: "role:admin"},
		{Name: "project_admin_api", Check: "role:admin and project_id:%(project_id)s"},
		{Name: "project_member_api", Check: "role:member and project_id:%(project_id)s"},
		{Name: "project_reader_api", Check: "role:reader and project_id:%(project_id)s"},
		{Name: "project_manager_api", Check: "role:manager and project_id:%(project_id)s"},
		{Name: "service_api", Check: "role:service"},
		{Name: "project_member_or_admin", Check: "rule:project_member_api or rule:admin_api", Deprecated: legacyOwner},
		{Name: "project_reader_or_admin", Check: "rule:project_reader_api or rule:admin_api", Deprecated: legacyOwner},
		{Name: "project_manager_or_admin", Check: "rule:project_manager_api or rule:admin_api", Deprecated: legacyOwner},
		{Name: "project_member_or_service", Check: "rule:project_member_api or rule:service_api", Deprecated: legacyOwner},
		{Name: "public_api", Check: "is_public_api:True"},
		{Name: "allow", Check: "@"},
		{Name: "deny", Check: "!"},
		{Name: "default", Check: "rule:admin_or_owner"},
		{Name: "is_admin", Check: "rule:admin_api"},
		{Name: "admin_or_owner", Check: legacyOwner},
		{Name: "admin_or_user", Check: "is_admin:True or user_id:%(user_id)s"},
	}
}

func apiRules() []Rule {
	const (
		admin   = "rule:admin_api"
		owner   = "rule:admin_or_owner"
		reader  = "rule:project_reader_or_admin"
		manager = "rule:project_manager_or_admin"
		service = "rule:project_member_or_service"
	)
	rules := []Rule{
		{Name: "cyborg:device_profile:get_all", Check: reader, Deprecated: owner},
		{Name: "cyborg:device_profile:get_one", Check: reader, Deprecated: owner},
		{Name: "cyborg:device_profile:create", Check: admin, Deprecated: "rule:is_admin"},
		{Name: "cyborg:device_profile:delete", Check: admin, Deprecated: "rule:is_admin"},
		{Name: "cyborg:device:get_all", Check: manager, Deprecated: admin},
		{Name: "cyborg:device:get_one", Check: manager, Deprecated: admin},
		{Name: "cyborg:device:disable", Check: admin},
		{Name: "cyborg:device:enable", Check: admin},
		{Name: "cyborg:deployable:get_all", Check: manager, Deprecated: admin},
		{Name: "cyborg:deployable:get_one", Check: manager, Deprecated: admin},
		{Name: "cyborg:deployable:program", Check: admin},
		{Name: "cyborg:attribute:get_all", Check: manager, Deprecated: admin},
		{Name: "cyborg:attribute:get_one", Check: manager, Deprecated: admin},
		{Name: "cyborg:attribute:create", Check: admin},
		{Name: "cyborg:attribute:delete", Check: admin},
		{Name: "cyborg:arq:get_all", Check: reader, Deprecated: owner},
		{Name: "cyborg:arq:get_one", Check: reader, Deprecated: owner},
		{Name: "cyborg:arq:create", Check: service, Deprecated: "rule:project_member_or_admin"},
		{Name: "cyborg:arq:delete", Check: service, Deprecated: owner},
		{Name: "cyborg:arq:update", Check: service, Deprecated: owner},
	}
	for i := range rules {
		rules[i].ProjectScope = true
	}
	return rules
}
