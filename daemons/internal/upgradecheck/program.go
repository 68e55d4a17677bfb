package upgradecheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/database"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/pci"
)

// Scanner reads the PCI functions of the host.
type Scanner interface {
	Scan() ([]pci.Device, []pci.Warning, error)
}

// Program is one run of cyborg-status.
type Program struct {
	service.Invocation
	// PCI reads this host; nil skips the checks that look at it.
	PCI Scanner
}

// exitUnexpected is the peer's code when the program itself fails.
const exitUnexpected = 255

// Run does what the command line says and returns the exit code.
func (p Program) Run(ctx context.Context) int {
	switch {
	case slices.Contains(p.Args, "--version"):
		fmt.Fprintln(p.Stdout, service.Version())
		return 0
	case slices.Contains(p.Args, "-h") || slices.Contains(p.Args, "--help"):
		usage(p.Stdout)
		return 0
	}
	args := slices.DeleteFunc(slices.Clone(p.Args), func(a string) bool { return a == "--json" })
	schema, err := config.NewSchema(config.Options(config.HostFacts(ctx, p.Program)), p.Options)
	if err != nil {
		return p.fail(err, exitUnexpected)
	}
	c, err := config.Read(schema, config.Source{Program: p.Program, Args: args, Environ: p.Environ, Home: p.Home})
	if argument := new(config.ArgumentError); errors.As(err, &argument) {
		usage(p.Stderr)
		return p.fail(err, int(Failure))
	}
	if err != nil {
		return p.fail(err, 1)
	}
	if !slices.Equal(c.Args(), []string{"upgrade", "check"}) {
		usage(p.Stderr)
		return p.fail(errors.New("the command is: upgrade check"), int(Failure))
	}
	rs := p.check(ctx, c)
	write := writeTable
	if len(args) < len(p.Args) {
		write = writeJSON
	}
	if err := write(p.Stdout, rs); err != nil {
		return p.fail(err, exitUnexpected)
	}
	return int(worst(rs))
}

func (p Program) fail(err error, code int) int {
	fmt.Fprintf(p.Stderr, "%s: %v\n", p.Program, err)
	return code
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: cyborg-status [--config-file PATH] [--config-dir DIR] [--version] upgrade check [--json]\n\n")
}

// checks is everything that is looked at, in the order of the table.
type checks struct {
	config *config.Config
	pci    Scanner
	// store is nil when the database cannot be reached; storeErr says why.
	store    *store.Store
	storeErr error
}

func (p Program) check(ctx context.Context, c *config.Config) []Result {
	all := &checks{config: c, pci: p.PCI}
	cfg, err := database.Config(c, slog.New(slog.DiscardHandler))
	if err == nil {
		cfg.Attempts = 1 // somebody is waiting for the table
		all.store, err = store.Connect(ctx, cfg)
	}
	all.storeErr = err
	if all.store != nil {
		defer all.store.Close() // nothing was written
	}
	var out []Result
	for _, check := range []struct {
		name string
		run  func(context.Context) Result
	}{
		{"Policy File JSON to YAML Migration", all.policyFile},
		{"Device state backfill", all.deviceStates},
		{"PCI option names", all.optionNames},
		{"PCI option values", all.optionValues},
		{"Unsafe devices in the generic PCI driver", all.unsafeDevices},
		{"Generic SSD driver", all.ssdDriver},
		{"Upgrade levels", all.upgradeLevels},
		{"Agent addressing", all.agentAddressing},
		{"Downgrade safety", all.downgrade},
		{"Deployables not on offer", all.withdrawn},
	} {
		r := check.run(ctx)
		r.Check = check.name
		out = append(out, r)
	}
	return out
}
