// Package policy decides who may do what, with the rules and the rule language of
// oslo.policy: `@` and the empty rule allow, `!` denies, `role:NAME`, `rule:NAME`
// and `attribute:value` check, `and`, `or`, `not` and parentheses combine, and
// %(name)s inserts a value of the target.
//
// [Defaults] are the rules of Cyborg 17.0.0. An operator's policy.yaml overrides
// them by name ([ParseFile]). An [Enforcer] is built once from both:
//
//	e, err := policy.New(policy.Defaults(), overrides, policy.Config{EnforceScope: true})
//	err = e.Authorize("cyborg:arq:create", target, credentials)
//
// Unless EnforceNewDefaults is set, a rule that nobody overrode also passes when
// its deprecated predecessor passes, as in the peer.
//
// The package reads no file and no request; http: and https: checks are not
// supported and fail closed. An Enforcer is safe for concurrent use.
// Followed: oslo.policy as shipped with Cyborg 17.0.0.
package policy
