// Package config reads the configuration of the daemons as oslo.config does:
// the same files, the same INI dialect, the same precedence, the same types.
//
// An [Option] declares one setting; a [Schema] is a checked set of options and
// is a value, never a global. [Load] reads everything a [Source] names and
// checks it, [Read] reads without checking the values, which is what the
// check-config sub-command needs:
//
//	schema, err := config.NewSchema(config.Options(config.HostFacts(ctx)))
//	cfg, err := config.Load(schema, config.Source{
//		Program: "cyborg-agent", Args: os.Args[1:], Environ: os.Environ(), Home: home,
//	})
//	for _, entry := range cfg.Entries("pci", "device_spec") { … }
//
// # Where a value comes from
//
// From the highest to the lowest: the environment variable
// OS_<GROUP>__<OPTION>, the command line, the files (the last one wins), the
// declared default. Multi-valued options collect every occurrence in every
// file. Files are those of --config-file and --config-dir in the order of the
// command line; without --config-file cyborg.conf and PROGRAM.conf are looked
// for in ~/.cyborg, ~, /etc/cyborg and /etc, without --config-dir
// cyborg.conf.d and PROGRAM.conf.d in the same places.
//
// # Dialect
//
// A value goes on over indented lines; a blank line or a comment in column 0
// ends it. There are no inline comments, no escapes and no interpolation except
// $name, ${name}, $group.name and ${group.name}; a literal dollar sign before a
// name is written $$. One pair of quotes around a whole value is removed. Group
// names other than DEFAULT are compared without case; '-' and '_' in option
// names are the same.
//
// # Errors
//
// [ParseError] names file and line, [FileError] the file that cannot be read,
// [ValueError] option, spelling, file, line and value. [Load] and
// [Config.Check] report all problems at once, joined; a secret's value never
// stands in a message.
//
// # What it does not do
//
// Options nobody declared are ignored, because services share files;
// [Config.Unknown] lists them. Remote configuration sources are not read.
//
// A [Config] never changes after it was read and is safe for concurrent use.
// Followed: oslo.config 10.7 as measured (docs/config.md).
package config
