package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
)

// Invocation is how a daemon was called.
type Invocation struct {
	// Program is the daemon's name, which also names its files.
	Program string
	// Args is the command line without the program's name; Environ holds
	// KEY=VALUE pairs; Home is the user's directory, empty for none.
	Args, Environ []string
	Home          string
	// Stdout takes the output of --version and check-config, Stderr errors
	// before the log is open and the log when it has no file.
	Stdout, Stderr io.Writer
	// Options are declared beside the table all daemons share.
	Options []config.Option
	// Check adds the daemon's own checks; it must report every problem. An
	// option whose value is not valid, which is reported beside it, reads as
	// unset. May be nil.
	Check func(*config.Config) error
}

// Start builds the parts of a daemon from its configuration. It may wait for
// something until ctx ends; signals are handled meanwhile.
type Start func(context.Context, *Process) ([]Part, error)

// Main runs a daemon and returns its exit code: 0 after an orderly stop, else 1.
// It understands --version and the sub-command check-config. An error before the
// log is open goes to Stderr.
func Main(ctx context.Context, v Invocation, start Start) int {
	if slices.Contains(v.Args, "--version") {
		fmt.Fprintln(v.Stdout, Version())
		return 0
	}
	schema, err := config.NewSchema(config.Options(config.HostFacts(ctx, v.Program)), v.Options)
	if err != nil {
		return v.fail(err)
	}
	source := config.Source{Program: v.Program, Args: v.Args, Environ: v.Environ, Home: v.Home}
	if slices.Contains(v.Args, "check-config") {
		return config.CheckConfig(schema, source, v.Stdout, v.Stderr, v.Check)
	}
	p, err := Open(v, schema, source)
	if err != nil {
		return v.fail(err)
	}
	defer func() { _ = p.Logger.Close() }()
	if err := p.run(ctx, start); err != nil {
		p.log.Error("service failed", "error", err)
		if p.Logger.file != nil {
			v.fail(err)
		}
		return 1
	}
	return 0
}

func (v Invocation) fail(err error) int {
	fmt.Fprintf(v.Stderr, "%s: %v\n", v.Program, err)
	return 1
}

// Open reads and checks the configuration and opens the log. The caller closes
// the process's Logger.
func Open(v Invocation, schema *config.Schema, source config.Source) (*Process, error) {
	c, err := config.Read(schema, source)
	if err != nil {
		return nil, err
	}
	if words := c.Args(); len(words) > 0 {
		return nil, &config.ArgumentError{Argument: words[0], Reason: "not known to this program"}
	}
	if err := c.CheckAll(v.Check); err != nil {
		return nil, err
	}
	logger, err := NewLogger(LogConfigOf(v, c))
	if err != nil {
		return nil, err
	}
	log := logger.Named("cyborg.service")
	p := &Process{
		Program: v.Program, Config: c, Logger: logger, Registry: prometheus.NewRegistry(),
		Readiness: NewReadiness(log), Reports: &Reports{},
		schema: schema, source: source, log: log, notify: systemdNotifier(log),
	}
	p.registerMetrics()
	p.greet()
	return p, nil
}

// LogConfigOf is the log that the configuration asks for.
func LogConfigOf(v Invocation, c *config.Config) LogConfig {
	l := LogConfig{
		Debug: c.Bool("DEFAULT", "debug"), Levels: c.List("DEFAULT", "default_log_levels"),
		JSON: c.Bool("DEFAULT", "use_json"), File: c.String("DEFAULT", "log_file"),
		AlsoStderr: c.Bool("DEFAULT", "use_stderr"), Stderr: v.Stderr, Program: v.Program, Request: requestOf,
	}
	if dir := c.String("DEFAULT", "log_dir"); dir != "" {
		if l.File == "" {
			l.File = v.Program + ".log"
		}
		if !filepath.IsAbs(l.File) {
			l.File = filepath.Join(dir, l.File)
		}
	}
	if c.Bool("DEFAULT", "use_syslog") {
		l.Syslog = c.String("DEFAULT", "syslog_log_facility")
	}
	return l
}

func (p *Process) registerMetrics() {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cyborg_build_info", Help: "Always 1; the labels tell what runs.",
		ConstLabels: prometheus.Labels{"program": p.Program, "version": Version()},
	})
	build.Set(1)
	p.Registry.MustRegister(build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p.reload = newReloadMetrics(p.Registry)
	p.reload.done(true)
}

// greet logs what is worth knowing of a start: version, files, warnings, and at
// DEBUG every option, secrets masked, as the peer does.
func (p *Process) greet() {
	p.log.Info("starting", "program", p.Program, "version", Version(), "files", p.Config.Files())
	for _, text := range p.Config.Warnings() {
		p.log.Warn(text)
	}
	for _, option := range []string{
		"log_config_append", "log_date_format", "logging_context_format_string", "logging_default_format_string",
		"logging_debug_format_suffix", "logging_exception_prefix", "logging_user_identity_format", "use_journal",
	} {
		if p.Config.IsSet("DEFAULT", option) {
			p.log.Warn("option has no effect here: the form of log lines is fixed", "option", option)
		}
	}
	if !p.Config.Bool("DEFAULT", "log_options") || !p.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	for _, s := range p.Config.Effective() {
		p.log.Debug("option", "name", s.Name.String(), "value", s.Text, "from", s.Origin.String())
	}
}

func (p *Process) run(ctx context.Context, start Start) error {
	signals, end := watchSignals()
	defer end()
	p.signals = signals
	ticks, stop, err := watchdogTicks()
	if err != nil {
		p.log.Warn("watchdog of systemd is not understood", "error", err)
	}
	defer stop()
	p.ticks = ticks
	var parts []Part
	part, ok, err := p.operations()
	if err != nil {
		return err
	}
	if ok {
		parts = append(parts, part)
	}
	return p.Run(ctx, append(parts, p.daemon(start))...)
}
