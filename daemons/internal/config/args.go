package config

import "strings"

// Flags that every daemon understands beside those of its options.
const (
	flagConfigFile = "config-file"
	flagConfigDir  = "config-dir"
)

// commandLine is the command line taken apart.
type commandLine struct {
	places          []place
	hasFile, hasDir bool
	values          map[Name][]string
	rest            []string
}

// parseArgs takes the command line apart: options may stand before and after
// the words that are no options, `--` ends them, `--name value` and
// `--name=value` are the same, `--debug` and `--nodebug` set a Bool.
func parseArgs(schema *Schema, args []string) (commandLine, error) {
	line := commandLine{values: map[Name][]string{}}
	flags := schema.flags()
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			line.rest = append(line.rest, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			line.rest = append(line.rest, arg)
			continue
		}
		name, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f, known := flags[name]
		switch {
		case !known:
			return line, &ArgumentError{Argument: arg, Reason: "not known to this program"}
		case f.constant != "" && joined:
			return line, &ArgumentError{Argument: arg, Reason: "takes no value"}
		case f.constant != "":
			value = f.constant
		case !joined && i+1 == len(args):
			return line, &ArgumentError{Argument: arg, Reason: "needs a value"}
		case !joined:
			i++
			value = args[i]
		}
		line.set(name, f, value)
	}
	return line, nil
}

func (l *commandLine) set(flag string, f flagTarget, value string) {
	switch flag {
	case flagConfigFile:
		l.hasFile = true
		l.places = append(l.places, place{path: value, flag: flag})
	case flagConfigDir:
		l.hasDir = true
		l.places = append(l.places, place{path: value, flag: flag})
	default:
		l.values[f.name] = append(l.values[f.name], value)
	}
}

// flagTarget is what a flag sets; constant is the value of a flag without one.
type flagTarget struct {
	name     Name
	constant string
}

func (s *Schema) flags() map[string]flagTarget {
	out := map[string]flagTarget{flagConfigFile: {}, flagConfigDir: {}}
	for _, d := range s.options {
		switch {
		case d.Flag == "":
		case d.Kind == Bool:
			out[d.Flag] = flagTarget{name: d.name, constant: "true"}
			out["no"+d.Flag] = flagTarget{name: d.name, constant: "false"}
		default:
			out[d.Flag] = flagTarget{name: d.name}
		}
	}
	return out
}
