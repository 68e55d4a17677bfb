// Command cyborg-dbsync creates and upgrades Cyborg's database schema.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-cyborg/cyborg/daemons/internal/dbsync"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	home, _ := os.UserHomeDir() // without one there are fewer places to look for files
	os.Exit(dbsync.Program{Nova: dbsync.Nova, Invocation: service.Invocation{
		Program: "cyborg-dbsync", Args: os.Args[1:], Environ: os.Environ(), Home: home, Stdout: os.Stdout, Stderr: os.Stderr,
	}}.Run(ctx))
}
