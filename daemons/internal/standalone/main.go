package standalone

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/pci/sysfs"
)

// serveFlags are the options that are this command's own; everything else is the daemons' command line.
type serveFlags struct {
	sysfs, stateDir, listen string
}

// Main is the serve command: services and an agent until a signal ends them. It returns the exit code.
func Main(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	f, rest, err := parseServe(args)
	if err != nil {
		fmt.Fprintf(stderr, "cyborg-standalone serve: %v\n", err)
		return 1
	}
	home, _ := os.UserHomeDir() // none: ~ is not looked at
	return service.Main(ctx, service.Invocation{
		Program: "cyborg-standalone", Args: rest, Environ: environ, Home: home, Stdout: stdout, Stderr: stderr,
		Check: f.check,
	}, f.start)
}

// parseServe takes this command's options out of the command line.
func parseServe(args []string) (f serveFlags, rest []string, err error) {
	own := flag.NewFlagSet("serve", flag.ContinueOnError)
	own.SetOutput(io.Discard)
	own.StringVar(&f.sysfs, "sysfs", "/sys", "")
	own.StringVar(&f.stateDir, "state-dir", "cyborg-state", "")
	own.StringVar(&f.listen, "listen", "127.0.0.1:6666", "")
	var mine []string
	for i := 0; i < len(args); i++ {
		name, _, inline := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !strings.HasPrefix(args[i], "-") || !slices.Contains([]string{"sysfs", "state-dir", "listen"}, name) {
			rest = append(rest, args[i])
			continue
		}
		mine = append(mine, args[i])
		if !inline && i+1 < len(args) {
			i++
			mine = append(mine, args[i])
		}
	}
	return f, rest, own.Parse(mine)
}

// check finds what no start could succeed with, before anything is written: options of the drivers, a PCI tree that
// cannot be read, devices that may not be managed.
func (f serveFlags) check(cfg *config.Config) error {
	host := sysfs.New(f.sysfs)
	made, problem := drivers.Load(drivers.OptionsOf(cfg), drivers.Host{PCI: host})
	if _, _, err := host.Scan(); err != nil {
		return errors.Join(problem, fmt.Errorf("%w; name the root of a PCI tree with --sysfs", err))
	}
	for _, d := range made {
		if _, err := d.Discover(context.Background()); err != nil {
			problem = errors.Join(problem, fmt.Errorf("%s: %w", d.Name(), err))
		}
	}
	return problem
}

// start builds the parts of the process: the services, and an agent on this host.
func (f serveFlags) start(ctx context.Context, p *service.Process) ([]service.Part, error) {
	log := p.Logger.Named("cyborg.standalone")
	host := p.Config.String("agent", "resource_provider_name")
	services, err := Open(ctx, Config{
		StateDir: f.stateDir, Listen: f.listen, Hosts: []string{host}, Logger: log, Metrics: messaging.NewMetrics(p.Registry, p.Program),
	})
	if err != nil {
		return nil, err
	}
	log.Info("serving", "api", services.URL(), "placement", services.PlacementURL(), "host", host)
	return []service.Part{
		{Name: "services", Run: services.Run},
		{Name: "agent", Run: func(ctx context.Context) error { return f.agent(ctx, services, p, log) }},
	}, nil
}

func (f serveFlags) agent(ctx context.Context, s *Services, p *service.Process, log *slog.Logger) error {
	return s.RunAgent(ctx, AgentConfig{
		Config: p.Config, Sysfs: f.sysfs, Ready: func() { log.Info("agent is ready") },
	})
}
