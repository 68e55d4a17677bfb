package api

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/policy"
)

// Settings fills in what the configuration says: links, health check, 401's address
// and the policy with the operator's files. The seams are left to the caller.
func Settings(c *config.Config) (Config, error) {
	enforcer, err := loadPolicy(c)
	if err != nil {
		return Config{}, err
	}
	keystone := c.String("keystone_authtoken", "www_authenticate_uri")
	if keystone == "" {
		keystone = c.String("keystone_authtoken", "auth_url")
	}
	return Config{
		Policy: enforcer, KeystoneURL: keystone,
		PublicEndpoint:      c.String("api", "public_endpoint"),
		TrustForwardedProto: c.Bool("oslo_middleware", "enable_proxy_headers_parsing"),
		DisableByFile:       c.String("healthcheck", "disable_by_file_path"),
	}, nil
}

// loadPolicy reads [oslo_policy] policy_file and the files of policy_dirs; relative
// paths are looked for beside the configuration files. Missing ones are fine.
func loadPolicy(c *config.Config) (*policy.Enforcer, error) {
	overrides := map[string]string{}
	var problems []error
	for _, path := range policyFiles(c) {
		content, err := os.ReadFile(path)
		if err == nil {
			var rules map[string]string
			rules, err = policy.ParseFile(content)
			maps.Copy(overrides, rules)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("[oslo_policy] %s: %w", path, err))
		}
	}
	enforcer, err := policy.New(policy.Defaults(), overrides, policy.Config{
		EnforceNewDefaults: c.Bool("oslo_policy", "enforce_new_defaults"),
		EnforceScope:       c.Bool("oslo_policy", "enforce_scope"),
	})
	return enforcer, errors.Join(append(problems, err)...)
}

func policyFiles(c *config.Config) []string {
	var out []string
	if path, ok := beside(c, c.String("oslo_policy", "policy_file")); ok {
		out = append(out, path)
	}
	for _, dir := range c.List("oslo_policy", "policy_dirs") {
		path, ok := beside(c, dir)
		if !ok {
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				out = append(out, filepath.Join(path, e.Name()))
			}
		}
	}
	return out
}

// beside finds a relative path in the directories of the configuration files, the
// last one first.
func beside(c *config.Config, path string) (string, bool) {
	if path == "" {
		return "", false
	}
	candidates := []string{path}
	if !filepath.IsAbs(path) {
		candidates = nil
		for _, file := range slices.Backward(c.Files()) {
			candidates = append(candidates, filepath.Join(filepath.Dir(file), path))
		}
	}
	for _, candidate := range candidates {
		if _, err := os.Stat(candidate); !errors.Is(err, fs.ErrNotExist) {
			return candidate, true
		}
	}
	return "", false
}
