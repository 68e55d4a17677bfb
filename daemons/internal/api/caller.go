package api

import (
	"errors"
	"net/http"

	"github.com/go-cyborg/cyborg/daemons/internal/policy"
	"github.com/go-cyborg/cyborg/rpc"
)

// ErrUnauthorized says that a request carries no valid token, or an invalid
// service token.
var ErrUnauthorized = errors.New("the request needs a valid token")

// NoAuth makes every caller an administrator whose requests count as those of a
// service. It is for loopback addresses only.
func NoAuth() Authenticator { return noAuth{} }

type noAuth struct{}

func (noAuth) Authenticate(*http.Request) (Caller, error) {
	return Caller{
		Context: rpc.RequestContext{
			IsAdmin: true, IsAdminProject: true,
			Roles: []string{"admin", "manager", "member", "reader", "service"},
		},
		Service: true,
	}, nil
}

// credentials and target are what policy rules see, as Cyborg hands them over: the
// target is the caller's own project and user.
func (c *Caller) credentials() policy.Values {
	return policy.Values{
		"user_id": optional(c.Context.User), "user_domain_id": optional(c.Context.UserDomain),
		"system_scope": optional(c.Context.SystemScope), "domain_id": optional(c.Context.Domain),
		"project_id": optional(c.Context.ProjectID), "project_domain_id": optional(c.Context.ProjectDomain),
		"roles": c.Context.Roles, "is_admin": c.Context.IsAdmin, "is_admin_project": c.Context.IsAdminProject,
	}
}

func (c *Caller) target() policy.Values {
	return policy.Values{"project_id": optional(c.Context.ProjectID), "user_id": optional(c.Context.User)}
}

// scope is the only project whose requests the caller sees; nil sees all.
func (c *Caller) scope() *string {
	if c.Context.IsAdmin {
		return nil
	}
	return &c.Context.ProjectID
}

func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}
