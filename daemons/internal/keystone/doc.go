// Package keystone gives the daemons clients of other OpenStack services that log in to Keystone with the service
// credentials of a configuration section ([placement], [nova], …).
//
//	session, err := keystone.New(keystone.OptionsOf(cfg, "placement"))
//	client := session.Service("placement") // *gophercloud.ServiceClient
//
// A [Session] logs in with its first request and keeps the token until the service refuses it or it runs out; then
// it logs in once more and repeats the request. So a Keystone that is down when the daemon starts stops nothing: the
// request fails and the next one tries again. The endpoint comes from the token's catalog, in the order of
// valid_interfaces, or is endpoint_override.
//
// auth_type password, v3password, v3applicationcredential, token, v3token and none are known. Identity API v3 only.
// A Session is safe for concurrent use and starts no goroutine.
package keystone
