package keystone

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
)

// Options are the keystoneauth options of one section.
type Options struct {
	Section string // for messages
	// AuthType is the plugin: password, v3password, v3applicationcredential, token, v3token or none.
	AuthType string
	Auth     gophercloud.AuthOptions
	// EndpointOverride is used instead of the catalog; required with none.
	EndpointOverride string
	ServiceType      string
	ServiceName      string // "" is any
	Region           string // "" is any
	Interfaces       []string
	Insecure         bool
	CAFile           string
	CertFile         string
	KeyFile          string
	// Timeout bounds a request with the log-in that it may need; 0 is 10 s.
	Timeout time.Duration
}

// OptionsOf reads a section; auth_section names another one for the credentials.
func OptionsOf(cfg *config.Config, section string) Options {
	auth := section
	if other := cfg.String(section, "auth_section"); other != "" {
		auth = other
	}
	o := Options{
		Section: section, AuthType: cfg.String(auth, "auth_type"), Auth: authOptions(cfg, auth),
		EndpointOverride: cfg.String(section, "endpoint_override"), ServiceType: cfg.String(section, "service_type"),
		ServiceName: cfg.String(section, "service_name"), Region: cfg.String(section, "region_name"),
		Interfaces: cfg.List(section, "valid_interfaces"), Insecure: cfg.Bool(section, "insecure"),
		CAFile: cfg.String(section, "cafile"), CertFile: cfg.String(section, "certfile"), KeyFile: cfg.String(section, "keyfile"),
		Timeout: cfg.Seconds(section, "timeout"),
	}
	if o.AuthType == authNone && o.EndpointOverride == "" {
		o.EndpointOverride = cfg.String(auth, "endpoint")
	}
	return o
}

func authOptions(cfg *config.Config, section string) gophercloud.AuthOptions {
	get := func(name string) string { return cfg.String(section, name) }
	or := func(a, b string) string {
		if v := get(a); v != "" {
			return v
		}
		return get(b)
	}
	a := gophercloud.AuthOptions{
		IdentityEndpoint: get("auth_url"),
		Username:         get("username"), UserID: get("user_id"), Password: get("password"), TokenID: get("token"),
		ApplicationCredentialID: get("application_credential_id"), ApplicationCredentialName: get("application_credential_name"),
		ApplicationCredentialSecret: get("application_credential_secret"),
	}
	if a.UserID == "" && a.Username != "" {
		a.DomainID, a.DomainName = or("user_domain_id", "default_domain_id"), ""
		if a.DomainID == "" {
			a.DomainName = or("user_domain_name", "default_domain_name")
		}
	}
	a.Scope = scope(get, or)
	return a
}

func scope(get func(string) string, or func(a, b string) string) *gophercloud.AuthScope {
	switch {
	case get("trust_id") != "":
		return &gophercloud.AuthScope{TrustID: get("trust_id")}
	case get("project_id") != "":
		return &gophercloud.AuthScope{ProjectID: get("project_id")}
	case get("project_name") != "":
		s := &gophercloud.AuthScope{ProjectName: get("project_name"), DomainID: or("project_domain_id", "default_domain_id")}
		if s.DomainID == "" {
			s.DomainName = or("project_domain_name", "default_domain_name")
		}
		return s
	case get("domain_id") != "":
		return &gophercloud.AuthScope{DomainID: get("domain_id")}
	case get("domain_name") != "":
		return &gophercloud.AuthScope{DomainName: get("domain_name")}
	case get("system_scope") != "":
		return &gophercloud.AuthScope{System: true}
	}
	return nil
}

const authNone = "none"

// Plugins are the values of auth_type that can be used.
func Plugins() []string {
	return []string{"password", "v3password", "v3applicationcredential", "token", "v3token", authNone}
}

// Check reports everything that no login could succeed with.
func (o Options) Check() error {
	var problems []error
	bad := func(option, format string, args ...any) {
		problems = append(problems, fmt.Errorf("[%s] %s: %s", o.Section, option, fmt.Sprintf(format, args...)))
	}
	switch {
	case !slices.Contains(Plugins(), o.AuthType):
		bad("auth_type", "%q is not supported: use one of %s", o.AuthType, strings.Join(Plugins(), ", "))
	case o.AuthType == authNone && o.EndpointOverride == "":
		bad("endpoint_override", "required with auth_type none")
	case o.AuthType != authNone && o.Auth.IdentityEndpoint == "":
		bad("auth_url", "required with auth_type %s", o.AuthType)
	}
	if _, err := o.transport(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// transport is what carries the requests.
func (o Options) transport() (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 16
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.Insecure} //nolint:gosec // G402: the operator's own option
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("[%s] cafile: %w", o.Section, err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("[%s] cafile: %s holds no certificate", o.Section, o.CAFile)
		}
	}
	if o.CertFile != "" {
		key := o.KeyFile
		if key == "" {
			key = o.CertFile
		}
		cert, err := tls.LoadX509KeyPair(o.CertFile, key)
		if err != nil {
			return nil, fmt.Errorf("[%s] certfile: %w", o.Section, err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{cert}
	}
	return t, nil
}
