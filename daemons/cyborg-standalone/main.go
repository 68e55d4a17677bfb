// Command cyborg-standalone runs Cyborg's services in one process with embedded defaults, or plays the
// demonstration on them.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/go-cyborg/cyborg/daemons/internal/demo"
	"github.com/go-cyborg/cyborg/daemons/internal/standalone"
)

const usage = `usage: cyborg-standalone demo [-o json] [--sysfs DIR --device-spec JSON]
       cyborg-standalone serve --config-file FILE [--sysfs DIR] [--state-dir DIR] [--listen ADDR]
`

func main() {
	if len(os.Args) < 2 {
		os.Stderr.WriteString(usage)
		os.Exit(2)
	}
	switch args := os.Args[2:]; os.Args[1] {
	case "demo":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		os.Exit(demo.Main(ctx, args, os.Stdout, os.Stderr))
	case "serve":
		os.Exit(standalone.Main(context.Background(), args, os.Environ(), os.Stdout, os.Stderr))
	default:
		os.Stderr.WriteString(usage)
		os.Exit(2)
	}
}
