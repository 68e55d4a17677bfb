package conductord_test

import (
	"net/http"
	"net/url"
)

// token logs in.
func (s *stack) token(user, project string) string {
	s.t.Helper()
	domain := map[string]string{"name": "Default"}
	status, header, answer := s.call("", http.MethodPost, s.url("keystone")+"/v3/auth/tokens", map[string]any{"auth": map[string]any{
		"identity": map[string]any{"methods": []string{"password"}, "password": map[string]any{
			"user": map[string]any{"name": user, "domain": domain, "password": stackPassword},
		}},
		"scope": map[string]any{"project": map[string]any{"name": project, "domain": domain}},
	}})
	if status != http.StatusCreated {
		s.t.Fatalf("log in as %s: %d %v", user, status, answer)
	}
	return header.Get("X-Subject-Token")
}

// identity sends a request to Keystone as the administrator.
func (s *stack) identity(method, path string, body any) map[string]any {
	s.t.Helper()
	status, _, answer := s.call(s.admin, method, s.url("keystone")+"/v3"+path, body)
	if status >= http.StatusBadRequest {
		s.t.Fatalf("%s %s: %d %v", method, path, status, answer)
	}
	return answer
}

func (s *stack) create(kind string, fields map[string]any) string {
	s.t.Helper()
	return s.identity(http.MethodPost, "/"+kind+"s", map[string]any{kind: fields})[kind].(map[string]any)["id"].(string)
}

func (s *stack) find(kind, name string) string {
	s.t.Helper()
	list := s.identity(http.MethodGet, "/"+kind+"s?name="+url.QueryEscape(name), nil)[kind+"s"].([]any)
	if len(list) == 0 {
		s.t.Fatalf("keystone has no %s %s", kind, name)
	}
	return list[0].(map[string]any)["id"].(string)
}

// personas makes users, projects and the catalog of a small cloud.
func (s *stack) personas() {
	s.t.Helper()
	projects := map[string]string{}
	for _, name := range []string{"service", "demo"} {
		projects[name] = s.create("project", map[string]any{"name": name, "domain_id": "default"})
	}
	for _, user := range []struct {
		name, project string
		roles         []string
	}{
		{"placement", "service", []string{"service", "admin"}},
		{"cyborg", "service", []string{"service", "admin"}},
		{"nova", "service", []string{"service"}},
		{"demo", "demo", []string{"member"}},
	} {
		id := s.create("user", map[string]any{"name": user.name, "password": stackPassword, "domain_id": "default"})
		for _, role := range user.roles {
			s.identity(http.MethodPut, "/projects/"+projects[user.project]+"/users/"+id+"/roles/"+s.find("role", role), nil)
		}
	}
	for kind, at := range map[string]string{
		"placement": s.front.URL, "compute": s.nova.URL + "/v2.1", "accelerator": s.url("cyborg") + "/v2",
	} {
		id := s.create("service", map[string]any{"name": kind, "type": kind})
		for _, interfaceName := range []string{"public", "internal"} {
			s.create("endpoint", map[string]any{"service_id": id, "interface": interfaceName, "url": at, "region_id": "RegionOne"})
		}
	}
}
