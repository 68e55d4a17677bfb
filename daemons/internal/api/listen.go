package api

import (
	"fmt"
	"net"
)

// CheckListener refuses to serve an API without authentication on an address that
// other hosts can reach.
func CheckListener(a Authenticator, address net.Addr) error {
	if _, open := a.(noAuth); !open {
		return nil
	}
	if tcp, ok := address.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		return fmt.Errorf("[api] auth_strategy = noauth makes every caller an administrator: %s is no loopback address; "+
			"listen on 127.0.0.1 or set auth_strategy = keystone", address)
	}
	return nil
}
