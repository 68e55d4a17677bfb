package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/policy"
)

func readConfig(t *testing.T, dir, text string) *config.Config {
	t.Helper()
	write1(t, filepath.Join(dir, "cyborg.conf"), text)
	schema, err := config.NewSchema(config.Options(config.Facts{Hostname: "h"}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(schema, config.Source{Args: []string{"--config-file", filepath.Join(dir, "cyborg.conf")}, Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write1(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsReadThePolicyBesideTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write1(t, filepath.Join(dir, "policy.yaml"), "cyborg:device:get_all: '!'\n")
	write1(t, filepath.Join(dir, "policy.d", "10.yaml"), "cyborg:arq:get_all: '!'\n")
	c := readConfig(t, dir, "[api]\npublic_endpoint = https://x\n[keystone_authtoken]\nauth_url = http://k\n")
	s, err := Settings(c)
	if err != nil {
		t.Fatal(err)
	}
	caller, _ := NoAuth().Authenticate(nil)
	for rule, want := range map[string]bool{"cyborg:device:get_all": false, "cyborg:arq:get_all": false, "cyborg:device:get_one": true} {
		if got := s.Policy.Authorize(rule, caller.target(), caller.credentials()) == nil; got != want {
			t.Errorf("%s: %v", rule, got)
		}
	}
	if s.PublicEndpoint != "https://x" || s.KeystoneURL != "http://k" {
		t.Errorf("settings %+v", s)
	}
}

func TestBadPolicyFileNamesFileAndRule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write1(t, filepath.Join(dir, "policy.yaml"), "cyborg:device:get_all: 'role:a or'\n")
	if _, err := Settings(readConfig(t, dir, "")); err == nil || !strings.Contains(err.Error(), "role:a or") {
		t.Errorf("error %v", err)
	}
	write1(t, filepath.Join(dir, "policy.yaml"), "- x\n")
	if _, err := Settings(readConfig(t, dir, "")); err == nil || !strings.Contains(err.Error(), "policy.yaml") {
		t.Errorf("error %v", err)
	}
}

// A caller without authentication passes every rule that anybody passes.
func TestNoAuthPassesEveryRule(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		e, err := policy.New(policy.Defaults(), nil, policy.Config{EnforceScope: true, EnforceNewDefaults: strict})
		if err != nil {
			t.Fatal(err)
		}
		caller, _ := NoAuth().Authenticate(nil)
		for _, r := range policy.Defaults() {
			if !strings.HasPrefix(r.Name, "cyborg:") {
				continue
			}
			if err := e.Authorize(r.Name, caller.target(), caller.credentials()); err != nil {
				t.Error(err)
			}
		}
	}
}
