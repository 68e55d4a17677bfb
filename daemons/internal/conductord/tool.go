package conductord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/go-cyborg/cyborg/daemons/internal/conductor"
	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/drivers"
	"github.com/go-cyborg/cyborg/daemons/internal/messaging"
	"github.com/go-cyborg/cyborg/daemons/internal/service"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/pci/sysfs"
	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
)

// The sub-commands beside check-config.
const (
	commandPlan   = "plan"
	commandForget = "forget-host"
)

// toolOptions are the flags of the sub-commands.
func toolOptions() []config.Option {
	return []config.Option{
		{Group: "plan", Name: "hostname", Flag: "hostname", Help: "host whose report is planned"},
		{Group: "plan", Name: "report", Flag: "report", Help: "file with the report, a JSON list of DriverDevice objects as agents send them; unset: the drivers of this machine"},
		{Group: "plan", Name: "json", Flag: "json", Kind: config.Bool, Default: false, Help: "print JSON instead of a table"},
		{Group: "plan", Name: "orphans", Flag: "orphans", Kind: config.Bool, Default: false, Help: "remove only the providers without a row"},
	}
}

// tool is one run of a sub-command.
type tool struct {
	service.Invocation
	cfg       *config.Config
	store     *store.Store
	placement *placement.Client
}

// runTool runs a sub-command and returns its exit code: 0, 1 when it failed or refused, 2 for a wrong command line.
func runTool(ctx context.Context, v service.Invocation) int {
	schema, err := config.NewSchema(config.Options(config.HostFacts(ctx, Program)), toolOptions())
	if err != nil {
		return toolError(v, 1, err)
	}
	cfg, err := config.Load(schema, config.Source{Program: Program, Args: v.Args, Environ: v.Environ, Home: v.Home})
	if err != nil {
		return toolError(v, 1, err)
	}
	words := cfg.Args()
	if len(words) == 0 || !slices.Contains([]string{commandPlan, commandForget}, words[0]) {
		return toolError(v, 2, fmt.Errorf("%q is not a command: write plan or forget-host before or after the options", words))
	}
	if err := run(ctx, v, cfg, words); err != nil {
		return toolError(v, 1, err)
	}
	return 0
}

func toolError(v service.Invocation, code int, err error) int {
	fmt.Fprintf(v.Stderr, "%s: %v\n", Program, err)
	return code
}

func run(ctx context.Context, v service.Invocation, cfg *config.Config, words []string) (err error) {
	if !remotePlacement(cfg) {
		return errors.New("[placement] auth_type is not set: there is no Placement to look at")
	}
	o := store.OptionsOf(cfg)
	o.Log = slog.New(slog.DiscardHandler)
	o.Existing, o.Attempts = true, 1 // whoever waits at the terminal is told at once
	db, err := store.Open(ctx, o)
	if err != nil {
		return databaseError(cfg, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	place, err := newPlacement(cfg, placement.Config{})
	if err != nil {
		return err
	}
	t := &tool{Invocation: v, cfg: cfg, store: db, placement: place}
	if words[0] == commandPlan {
		if len(words) != 1 || cfg.String("plan", "hostname") == "" {
			return errors.New("usage: plan --hostname HOST [--report FILE] [--json]")
		}
		return t.plan(ctx, cfg.String("plan", "hostname"))
	}
	if len(words) != 2 {
		return errors.New("usage: forget-host HOST [--orphans]")
	}
	return t.forget(ctx, words[1])
}

// plan shows what the next report would change.
func (t *tool) plan(ctx context.Context, host string) error {
	reported, err := t.report(ctx, host)
	if err != nil {
		return err
	}
	p, err := conductor.PlanReport(ctx, &reconcile.Runner{Store: t.store, Placement: t.placement}, host, reported)
	if err != nil {
		return err
	}
	if t.cfg.Bool("plan", "json") {
		if p.Devices == nil {
			p.Devices = []reconcile.DevicePlan{}
		}
		if p.Problems == nil {
			p.Problems = []reconcile.Problem{}
		}
		out := json.NewEncoder(t.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(p)
	}
	return writePlan(t.Stdout, p)
}

// report reads the report from a file, or asks the drivers of this machine.
func (t *tool) report(ctx context.Context, host string) ([]cyborgrpc.ReportedDevice, error) {
	registry, err := cyborg.NewRegistry()
	if err != nil {
		return nil, err
	}
	if file := t.cfg.String("plan", "report"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--report: %w", err)
		}
		var reported []cyborgrpc.ReportedDevice
		if err := cyborgrpc.NewWire(registry).Deserialize(ctx, text, &reported); err != nil {
			return nil, fmt.Errorf("--report %s: %w", file, err)
		}
		return reported, nil
	}
	if here := t.cfg.String("agent", "resource_provider_name"); here != host {
		return nil, fmt.Errorf("this machine is %s, not %s: give the report of %s with --report FILE", here, host, host)
	}
	made, err := drivers.Load(drivers.OptionsOf(t.cfg), drivers.Host{PCI: sysfs.New("/sys")})
	if err != nil {
		return nil, err
	}
	var reported []cyborgrpc.ReportedDevice
	for _, d := range made {
		devices, err := d.Discover(ctx)
		if err != nil {
			return nil, err
		}
		for _, device := range devices {
			reported = append(reported, cyborgrpc.ReportedDevice{Device: device})
		}
	}
	return reported, nil
}

// writePlan writes one row for each step and each problem.
func writePlan(w io.Writer, p reconcile.Plan) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "VERDICT\tDEVICE\tSTEP\n")
	for i := range p.Devices {
		d := &p.Devices[i]
		if len(d.Steps) == 0 {
			fmt.Fprintf(table, "%s\t%s\t-\n", d.Verdict, line(d.Device()))
		}
		for _, s := range d.Steps {
			fmt.Fprintf(table, "%s\t%s\t%s\n", d.Verdict, line(d.Device()), line(s.String()))
		}
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(table, "problem\t%s\t%s\n", line(problem.Device), line(problem.String()))
	}
	fmt.Fprintf(table, "unchanged\t%d\t-\n", p.Unchanged)
	return table.Flush()
}

// line is a text as it may stand in a line of a table on a terminal.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// forget removes what a host left.
func (t *tool) forget(ctx context.Context, host string) error {
	gone, err := conductor.Forgetter{Store: t.store, Placement: t.placement, Providers: t.placement}.Forget(ctx, host, t.cfg.Bool("plan", "orphans"))
	for _, d := range gone.Devices {
		fmt.Fprintln(t.Stdout, "removed device", line(d))
	}
	for _, name := range gone.Providers {
		fmt.Fprintln(t.Stdout, "removed provider", line(name))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Stdout, "%d devices and %d providers without a row of %s removed\n", len(gone.Devices), len(gone.Providers), host)
	if t.cfg.Bool("plan", "orphans") || !t.cfg.IsSet("DEFAULT", "transport_url") {
		return nil
	}
	if err := messaging.DeleteAgentQueue(ctx, t.cfg, host); err != nil {
		return fmt.Errorf("rows and providers are removed, the agent's queue is not: %w", err)
	}
	return nil
}
