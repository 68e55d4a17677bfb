package keystone

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

// defaultTimeout is there because a server that takes a request and never answers would otherwise be waited for without
// end.
const defaultTimeout = 10 * time.Second

// early is how long before its end a token is replaced, as keystoneauth does.
const early = 30 * time.Second

// Session is a login with the options of one section.
type Session struct {
	options Options
	bare    *http.Client // without the token

	mu    sync.Mutex
	login *login // nil: not logged in
}

// login is what one login gave.
type login struct {
	token    string
	expires  time.Time // zero: never
	endpoint *url.URL
}

// New makes a session. It sends nothing.
func New(o Options) (*Session, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	t, err := o.transport()
	if err != nil {
		return nil, err
	}
	return &Session{options: o, bare: &http.Client{Transport: t, Timeout: o.Timeout}}, nil
}

// placeholder stands for the endpoint in the requests of a service client until the catalog is known.
const placeholder = "http://endpoint.invalid/"

// Service makes a client of the session's service; kind is gophercloud's name of it, which decides the header of a
// microversion. Its requests log in where needed.
func (s *Session) Service(kind string) *gophercloud.ServiceClient {
	provider := &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: s, Timeout: s.options.Timeout}}
	return &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: placeholder, Type: kind}
}

// RoundTrip implements [http.RoundTripper] for [Session.Service]: it puts token and endpoint into a request and, when
// the service refuses the token, logs in again and repeats it once.
func (s *Session) RoundTrip(r *http.Request) (*http.Response, error) {
	for again := false; ; again = true {
		l, err := s.current(r.Context())
		if err != nil {
			return nil, fmt.Errorf("log in with [%s]: %w", s.options.Section, err)
		}
		out, err := l.addressed(r, again)
		if err != nil {
			return nil, err
		}
		resp, err := s.bare.Transport.RoundTrip(out)
		if err != nil || resp.StatusCode != http.StatusUnauthorized || again || l.token == "" || r.Body != nil && r.GetBody == nil {
			return resp, err
		}
		_ = resp.Body.Close() // the answer is not used
		s.drop(l)
	}
}

// addressed is the request as it is sent.
func (l *login) addressed(r *http.Request, again bool) (*http.Request, error) {
	out := r.Clone(r.Context())
	if again && r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	rest := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	target, err := url.Parse(strings.TrimSuffix(l.endpoint.String(), "/") + "/" + rest)
	if err != nil {
		return nil, err
	}
	target.RawQuery = r.URL.RawQuery
	out.URL, out.Host = target, ""
	if l.token != "" {
		out.Header.Set("X-Auth-Token", l.token)
	}
	return out, nil
}

// current is the login to use now. Callers that come while one logs in wait for it.
func (s *Session) current(ctx context.Context) (*login, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.login; l != nil && (l.expires.IsZero() || time.Until(l.expires) > early) {
		return l, nil
	}
	l, err := s.logIn(ctx)
	if err == nil {
		s.login = l
	}
	return l, err
}

func (s *Session) drop(l *login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.login == l {
		s.login = nil
	}
}

func (s *Session) logIn(ctx context.Context) (*login, error) {
	if s.options.AuthType == authNone {
		u, err := url.Parse(s.options.EndpointOverride)
		return &login{endpoint: u}, err
	}
	provider, err := openstack.NewClient(s.options.Auth.IdentityEndpoint)
	if err != nil {
		return nil, err
	}
	provider.HTTPClient = *s.bare
	auth := s.options.Auth
	if err := openstack.AuthenticateV3(ctx, provider, &auth, gophercloud.EndpointOpts{}); err != nil {
		return nil, err
	}
	result, ok := provider.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return nil, errors.New("keystone answered without a token")
	}
	token, err := result.ExtractToken()
	if err != nil {
		return nil, err
	}
	catalog, err := result.ExtractServiceCatalog()
	if err != nil {
		return nil, err
	}
	u, err := s.options.endpoint(catalog)
	if err != nil {
		return nil, err
	}
	return &login{token: token.ID, expires: token.ExpiresAt, endpoint: u}, nil
}

// endpoint finds the service in a catalog.
func (o Options) endpoint(catalog *tokens.ServiceCatalog) (*url.URL, error) {
	if o.EndpointOverride != "" {
		return url.Parse(o.EndpointOverride)
	}
	for _, want := range o.Interfaces {
		want = strings.TrimSuffix(want, "URL")
		for _, entry := range catalog.Entries {
			if entry.Type != o.ServiceType || o.ServiceName != "" && entry.Name != o.ServiceName {
				continue
			}
			for _, e := range entry.Endpoints {
				if e.Interface == want && (o.Region == "" || e.Region == o.Region || e.RegionID == o.Region) {
					return url.Parse(e.URL)
				}
			}
		}
	}
	return nil, fmt.Errorf("the catalog has no endpoint of service type %s, interfaces %s, region %q", o.ServiceType, strings.Join(o.Interfaces, ", "), o.Region)
}

// Close closes idle connections; requests after it open new ones.
func (s *Session) Close() { s.bare.CloseIdleConnections() }
