// Command cyborg-status checks a deployment before an upgrade.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/upgradecheck"
	"github.com/go-cyborg/cyborg/pci/sysfs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	home, _ := os.UserHomeDir() // without one there are fewer places to look for files
	os.Exit(upgradecheck.Program{
		Invocation: service.Invocation{
			Program: "cyborg-status", Args: os.Args[1:], Environ: os.Environ(), Home: home, Stdout: os.Stdout, Stderr: os.Stderr,
		},
		PCI: sysfs.New("/sys"),
	}.Run(ctx))
}
