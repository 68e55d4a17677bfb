package demo

import (
	"context"
	"flag"
	"fmt"
	"io"
)

// Main is the demo command. It returns the exit code: 0 when every step holds.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o Options
	format := flags.String("o", "table", "output: table, or json for one JSON object per step and line")
	flags.StringVar(&o.Sysfs, "sysfs", "", "root of another PCI tree, for example /sys")
	flags.StringVar(&o.DeviceSpec, "device-spec", "", "value of [pci] device_spec")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	show := Tables(stdout)
	switch {
	case flags.NArg() > 0:
		return fail(stderr, fmt.Errorf("demo takes no argument %q", flags.Arg(0)))
	case *format == "json":
		show = Lines(stdout)
	case *format != "table":
		return fail(stderr, fmt.Errorf("-o %s: write table or json", *format))
	}
	ok, err := Run(ctx, o, show)
	switch {
	case err != nil:
		return fail(stderr, err)
	case !ok:
		return fail(stderr, fmt.Errorf("a step of the story does not hold"))
	}
	return 0
}

func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "cyborg-standalone demo: %v\n", err)
	return 1
}
