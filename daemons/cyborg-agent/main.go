// Command cyborg-agent finds the accelerators of a compute host and reports them to the conductor.
//
//	cyborg-agent [--config-file FILE]... [check-config]
package main

import (
	"context"
	"os"

	"github.com/go-cyborg/cyborg/daemons/internal/agentd"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

func main() {
	home, _ := os.UserHomeDir() // none: ~ is not looked at
	os.Exit(agentd.Daemon{Sysfs: "/sys"}.Main(context.Background(), service.Invocation{
		Args: os.Args[1:], Environ: os.Environ(), Home: home, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}
