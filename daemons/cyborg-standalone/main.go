// Command cyborg-standalone runs Cyborg's services in one process with embedded defaults, or plays the
// demonstration on them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/go-cyborg/cyborg/daemons/internal/demo"
	"github.com/go-cyborg/cyborg/daemons/internal/standalone"
)

const usage = `usage: cyborg-standalone demo [-o json] [--sysfs DIR --device-spec JSON]
       cyborg-standalone serve --config-file FILE [--sysfs DIR] [--state-dir DIR] [--listen ADDR]
`

func main() {
	command, args := "", os.Args[1:]
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch command {
	case "demo":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		os.Exit(demo.Main(ctx, args, os.Stdout, os.Stderr))
	case "serve":
		os.Exit(standalone.Main(context.Background(), args, os.Environ(), os.Stdout, os.Stderr))
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
}
