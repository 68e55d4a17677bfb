package config

import (
	"context"
	"net"
	"os"
	"strings"
	"time"
)

// lookupTime bounds the name service: start-up must not hang on it.
const lookupTime = 5 * time.Second

// HostFacts asks the host for its names. FQDN is the first name with a dot that
// the name service knows for this host, else the host name, as Python's
// socket.getfqdn.
func HostFacts(ctx context.Context, program string) Facts {
	f := Facts{Program: program}
	f.Hostname, _ = os.Hostname()
	f.FQDN = f.Hostname
	if strings.Contains(f.Hostname, ".") {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, f.Hostname)
	if err != nil {
		return f
	}
	for _, address := range addresses {
		names, _ := net.DefaultResolver.LookupAddr(ctx, address)
		for _, name := range names {
			if name = strings.TrimSuffix(name, "."); strings.Contains(name, ".") {
				f.FQDN = name
				return f
			}
		}
	}
	return f
}
