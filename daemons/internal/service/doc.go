// Package service is the life of a daemon's process: command line, logging,
// signals, readiness, ordered stop, reports, metrics and the operations listener.
// What the daemon does is handed in as [Part] values.
//
// [Main] is the whole of a main package:
//
//	func main() {
//		os.Exit(service.Main(context.Background(), service.Invocation{
//			Program: "cyborg-conductor", Args: os.Args[1:], Environ: os.Environ(),
//			Stdout: os.Stdout, Stderr: os.Stderr,
//		}, start))
//	}
//
//	func start(ctx context.Context, p *service.Process) ([]service.Part, error) { … }
//
// # Signals
//
// TERM and the first INT stop the process in order; a second INT ends it at
// once. HUP reads the configuration again, applies what is mutable and says what
// needs a restart; a bad file changes nothing. USR1 opens the log file anew. USR2
// writes a report.
//
// # Order of stopping
//
// Parts are started in their order and stopped in the reverse one, each waited
// for, within [DEFAULT] graceful_shutdown_timeout (0 is no limit) in all.
//
// # Logging
//
// A zap core writes OpenStack's line format or its JSON form; the rest of the
// program sees a *slog.Logger. [Logger.Named] gives a record its logger name
// (cyborg.conductor.manager), for which default_log_levels counts.
//
// # What it does not do
//
// It rotates no log files and reads no Python logging configuration or format
// strings other than the defaults: such options cause one warning.
//
// Types are safe for concurrent use where their comments say so. Followed: the
// behaviour of oslo.log 8.3, oslo.service 4.8 and oslo.reports 3.9 as measured.
package service
