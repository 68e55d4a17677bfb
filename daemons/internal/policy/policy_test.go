package policy

import (
	"errors"
	"testing"
)

func creds(project string, roles ...string) Values {
	v := Values{"roles": roles, "project_id": nil, "is_admin": false, "user_id": "u"}
	if project != "" {
		v["project_id"] = project
	}
	for _, r := range roles {
		if r == "admin" {
			v["is_admin"] = true
		}
	}
	return v
}

func TestRuleLanguage(t *testing.T) {
	t.Parallel()
	target := Values{"project_id": "p", "none": nil}
	c := Values{"roles": []string{"Member", "x"}, "project_id": "p", "is_admin": false, "nothing": nil, "groups": []string{"a", "b"}}
	for rule, want := range map[string]bool{
		"": true, "@": true, "!": false,
		"role:member": true, "role:admin": false, "not role:admin": true, "not not role:member": true,
		"project_id:%(project_id)s": true, "project_id:%(missing)s": false, "missing:%(project_id)s": false,
		"is_admin:True": false, "is_admin:False": true, "nothing:%(none)s": true,
		"True:True": true, "'p':%(project_id)s": true, "7:7": true, "groups:b": true, "groups:c": false,
		"role:admin or role:member and !": false, "role:member or role:admin and !": true,
		"(role:member or role:admin) and !": false, "role:member and (not (role:admin))": true,
		"ROLE:member": false, "role:member AND @": true, "rule:known": true, "rule:unknown": false,
		"rule:circle": false, "role:%(role)s": false, "project_id:%%": false,
	} {
		e, err := New([]Rule{{Name: "r", Check: rule}, {Name: "known", Check: "@"}, {Name: "circle", Check: "rule:circle"}}, nil, Config{})
		if err != nil {
			t.Errorf("%q: %v", rule, err)
			continue
		}
		if got := e.Authorize("r", target, c) == nil; got != want {
			t.Errorf("%q: %v, want %v", rule, got, want)
		}
	}
}

func TestUnreadableRulesAreErrorsAndDeny(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"and", "role:a or", "(role:a", "role:a)", "role:a role:b", "nonsense", "not", "http://x", "()"} {
		e, err := New([]Rule{{Name: "r", Check: "@"}}, map[string]string{"r": rule}, Config{})
		if err == nil {
			t.Errorf("%q is accepted", rule)
		}
		var denied *DeniedError
		if err := e.Authorize("r", nil, nil); !errors.As(err, &denied) || denied.Rule != "r" {
			t.Errorf("%q: error %v", rule, err)
		}
	}
}

// The personas and outcomes of the recorded policy matrix, for one rule of each
// kind.
func TestDefaults(t *testing.T) {
	t.Parallel()
	personas := map[string]Values{
		"admin":    creds("a", "admin", "manager", "member", "reader"),
		"member":   creds("d", "member", "reader"),
		"reader":   creds("d", "reader"),
		"manager":  creds("d", "manager", "member", "reader"),
		"none":     creds("d", "other"),
		"service":  creds("s", "service"),
		"unscoped": creds("", "member"),
	}
	for _, tc := range []struct {
		rule     string
		old, now string // who passes, by default and with enforce_new_defaults
	}{
		{"cyborg:device_profile:get_all", "admin manager member none reader service unscoped", "admin manager member reader"},
		{"cyborg:device_profile:create", "admin", "admin"},
		{"cyborg:device:get_all", "admin manager member none reader service unscoped", "admin manager"},
		{"cyborg:device:enable", "admin", "admin"},
		{"cyborg:arq:create", "admin manager member none reader service unscoped", "admin manager member service unscoped"},
		{"cyborg:unknown", "", ""},
	} {
		for strict, want := range map[bool]string{false: tc.old, true: tc.now} {
			e, err := New(Defaults(), nil, Config{EnforceScope: true, EnforceNewDefaults: strict})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, name := range []string{"admin", "manager", "member", "none", "reader", "service", "unscoped"} {
				c := personas[name]
				if e.Authorize(tc.rule, Values{"project_id": c["project_id"], "user_id": "u"}, c) == nil {
					if got != "" {
						got += " "
					}
					got += name
				}
			}
			if got != want {
				t.Errorf("%s, new defaults %v: %q pass, want %q", tc.rule, strict, got, want)
			}
		}
	}
}

func TestSystemScopeIsRefused(t *testing.T) {
	t.Parallel()
	c := creds("", "admin")
	c["system_scope"] = "all"
	for enforce, want := range map[bool]bool{true: false, false: true} {
		e, err := New(Defaults(), nil, Config{EnforceScope: enforce})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Authorize("cyborg:device:enable", nil, c) == nil; got != want {
			t.Errorf("enforce_scope %v: %v", enforce, got)
		}
	}
}

func TestOverridesReplaceThePredecessorToo(t *testing.T) {
	t.Parallel()
	overrides, err := ParseFile([]byte("\"cyborg:arq:get_all\": \"role:auditor\"\nadmin_api: role:boss\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Defaults(), overrides, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Authorize("cyborg:arq:get_all", Values{"project_id": "d"}, creds("d", "member")) == nil {
		t.Error("the predecessor still counts")
	}
	if e.Authorize("cyborg:arq:get_all", nil, creds("d", "auditor")) != nil || e.Authorize("cyborg:device:enable", nil, creds("d", "boss")) != nil {
		t.Error("overrides do not count")
	}
	if _, err := ParseFile([]byte("- a\n")); err == nil {
		t.Error("a list is accepted as a policy file")
	}
}

// No rule crashes, and one that is refused denies.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"role:a and (rule:b or not c:%(d)s)", "((((", "not not !", "%", "a:%(x)s%", "' ':b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		c, err := parse(rule)
		allowed := c.allows(request{target: Values{"x": nil}, creds: Values{"roles": []string{"a"}}, rules: map[string]check{}})
		if err != nil && allowed {
			t.Fatalf("refused rule %q allows", rule)
		}
	})
}
