package rpc

import "time"

// Target addresses requests. Topic is always required; a [Server] needs Server too.
type Target struct {
	// Exchange is the control exchange; "" is the transport's own.
	Exchange string
	// Topic is the name that all servers of a service share.
	Topic string
	// Server picks one server of the topic; "" leaves the choice to the broker.
	Server string
	// Namespace picks the endpoints with that namespace; "" those without one.
	Namespace string
}

// Remote is something to call: a target and how to reach it. It is a plain value; change a copy to get another one.
type Remote struct {
	Client *Client
	Target Target
	// Cap is the highest version that may be sent, the zero value for no limit. It is a ceiling, never a relabel.
	Cap Version
	// Timeout bounds a call whose context has no deadline; 0 means the client's default.
	Timeout time.Duration
	// Monitor makes the server send signs of life while a call runs, and makes the call fail when none came for this long.
	// The total time stays bounded by the deadline. Servers ignore values below two seconds; 0 means no monitoring.
	Monitor time.Duration
}

// On returns the remote for one server of the topic.
func (r Remote) On(server string) Remote {
	r.Target.Server = server
	return r
}

// CanSendVersion reports whether the cap admits requests of version v. It is a local decision: nothing is sent and nothing
// is learned about the server.
func (r Remote) CanSendVersion(v Version) bool { return r.Cap.Supports(v) }
