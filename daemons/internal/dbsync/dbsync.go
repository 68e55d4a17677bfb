package dbsync

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
)

// NovaFunc makes the client that finds the owners of ARQs, from [nova]. It is
// called only when there is an ARQ without an owner.
type NovaFunc func(context.Context, *config.Config) (Servers, error)

// Program is one run of cyborg-dbsync.
type Program struct {
	service.Invocation
	// Nova may be nil: then ARQs without an owner cannot be migrated.
	Nova NovaFunc
}

// command is one word of the command line.
type command struct {
	name, help string
	run        func(*session, context.Context) error
}

var commands = []command{
	{"upgrade", "bring the schema to the newest revision, or to --revision REV; creates it when absent", (*session).upgrade},
	{"stamp", "write a revision into alembic_version and change nothing else", (*session).stamp},
	{"version", "print the revision of the database", (*session).version},
	{"create_schema", "create the tables in an empty database", (*session).createSchema},
	{"online_data_migrations", "fill in project_id of old ARQs and device_state of old devices", (*session).migrateData},
}

// session is a command with the store it works on.
type session struct {
	*store.Store
	config   *config.Config
	out      io.Writer
	log      *slog.Logger
	revision string
	nova     NovaFunc
}

// errPartly ends the program with the peer's code for data migrations of which
// one failed; the lines have been printed.
var errPartly = errors.New("some migrations failed")

// Options are the flags of the commands, declared beside the configuration.
func Options() []config.Option {
	return []config.Option{{Group: "dbsync", Name: "revision", Flag: "revision", Help: "alembic revision to upgrade to or to stamp", Ours: true}}
}

// Run does what the command line says and returns the exit code.
func (p Program) Run(ctx context.Context) int {
	if slices.Contains(p.Args, "--version") {
		fmt.Fprintln(p.Stdout, service.Version())
		return 0
	}
	if slices.Contains(p.Args, "-h") || slices.Contains(p.Args, "--help") {
		usage(p.Stdout)
		return 0
	}
	c, cmd, err := p.parse(ctx)
	if err == nil {
		err = p.run(ctx, c, cmd)
	}
	var argument *config.ArgumentError
	var wrong usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errPartly):
		return 2
	case errors.As(err, &argument), errors.As(err, &wrong):
		usage(p.Stderr)
		fmt.Fprintf(p.Stderr, "%s: %v\n", p.Program, err)
		return 2
	}
	fmt.Fprintf(p.Stderr, "%s: %v\n", p.Program, err)
	return 1
}

// usageError is a mistake on the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

func (p Program) parse(ctx context.Context) (*config.Config, command, error) {
	schema, err := config.NewSchema(config.Options(config.HostFacts(ctx, p.Program)), p.Options, Options())
	if err != nil {
		return nil, command{}, err
	}
	c, err := config.Read(schema, config.Source{Program: p.Program, Args: p.Args, Environ: p.Environ, Home: p.Home})
	if err != nil {
		return nil, command{}, err
	}
	words := c.Args()
	if len(words) == 0 {
		return nil, command{}, usageError("a command is required")
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == words[0] })
	if i < 0 || len(words) > 1 {
		return nil, command{}, usageError(fmt.Sprintf("%q is not a command", words[len(words)-1]))
	}
	return c, commands[i], nil
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: cyborg-dbsync [--config-file PATH] [--config-dir DIR] [--debug] [--log-file PATH] [--version] COMMAND\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-24s%s\n", c.name, c.help)
	}
	fmt.Fprintln(w)
}

func (p Program) run(ctx context.Context, c *config.Config, cmd command) (err error) {
	logger, err := service.NewLogger(service.LogConfigOf(p.Invocation, c))
	if err != nil {
		return err
	}
	defer logger.Close()
	log := logger.Named("cyborg.dbsync")
	cfg, err := database.Config(c, log)
	if err != nil {
		return err
	}
	s, err := store.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return cmd.run(&session{
		Store: s, config: c, out: p.Stdout, log: log, revision: c.String("dbsync", "revision"), nova: p.Nova,
	}, ctx)
}

func (s *session) upgrade(ctx context.Context) error { return s.Upgrade(ctx, s.revision) }

func (s *session) stamp(ctx context.Context) error { return s.Stamp(ctx, s.revision) }

func (s *session) createSchema(ctx context.Context) error { return s.CreateSchema(ctx) }

func (s *session) version(ctx context.Context) error {
	id, err := s.Version(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		id = "None"
	}
	_, err = fmt.Fprintln(s.out, id)
	return err
}

// migrateData runs both migrations, whatever becomes of the first, and prints
// the peer's lines. Neither touches a schema that is not this release's.
func (s *session) migrateData(ctx context.Context) error {
	failed, n, found, done := false, 0, 0, 0
	unfit := s.CheckSchema(ctx)
	err := unfit
	if err == nil {
		n, err = HealProjects(ctx, s.Store, s.servers, s.log)
	}
	if err != nil {
		failed = true
		fmt.Fprintln(s.out, "Failed to migrate ARQ project_ids:", err)
	} else {
		fmt.Fprintf(s.out, "Migrated %d ARQ(s)\n", n)
	}
	if err = unfit; err == nil {
		found, done, err = s.BackfillDeviceStates(ctx)
	}
	if err != nil {
		failed = true
		fmt.Fprintln(s.out, "Failed to backfill device_state:", err)
	} else {
		fmt.Fprintf(s.out, "Backfilled device_state on %d/%d devices\n", done, found)
	}
	if failed {
		fmt.Fprintln(s.out, "Some migrations failed unexpectedly. Check log for details.")
		return errPartly
	}
	return nil
}

func (s *session) servers(ctx context.Context) (Servers, error) {
	if s.nova == nil {
		return nil, errors.New("this program was built without a Nova client")
	}
	return s.nova(ctx, s.config)
}
