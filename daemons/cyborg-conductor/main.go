// Command cyborg-conductor owns persisted state: it stores reports, carries out accelerator requests and runs object methods for agents.
//
//	cyborg-conductor [--config-file FILE]... [check-config | plan | forget-host]
package main

import (
	"context"
	"os"

	"github.com/go-cyborg/cyborg/daemons/internal/conductord"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

func main() {
	home, _ := os.UserHomeDir() // none: ~ is not looked at
	os.Exit(conductord.Daemon{}.Main(context.Background(), service.Invocation{
		Args: os.Args[1:], Environ: os.Environ(), Home: home, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}
