package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/daemons/internal/cyborgrpc"
	"github.com/go-cyborg/cyborg/daemons/internal/standalone"
)

// Options say on which host the story is played.
type Options struct {
	// Sysfs is the root of another PCI tree; "" is the recorded host.
	Sysfs string
	// DeviceSpec is the value of [pci] device_spec; "" is that of the recorded host, and then required with Sysfs.
	DeviceSpec string
	// Seams decorate the services; the zero value leaves them as they are.
	Seams standalone.Seams
}

// Run plays the story and gives every result to show as it comes. ok says whether every step holds; an error is
// about the stage, not about the story.
func Run(ctx context.Context, o Options, show func(Result) error) (ok bool, err error) {
	if o.Sysfs != "" && o.DeviceSpec == "" {
		return false, errors.New("--sysfs needs --device-spec: say which devices of the tree are to be managed")
	}
	dir, err := os.MkdirTemp("", "cyborg-demo-")
	if err != nil {
		return false, fmt.Errorf("temporary directory of the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	first := settings{DeviceSpec: []string{recordedSpec}, Exclude: []string{recordedExclude}}
	if o.DeviceSpec != "" {
		first = settings{DeviceSpec: []string{o.DeviceSpec}}
	}
	sysfs, recorded := o.Sysfs, o.Sysfs == ""
	if recorded {
		sysfs = filepath.Join(dir, "sys")
		if err := expandHost(sysfs); err != nil {
			return false, err
		}
	}
	if err := first.check(sysfs); err != nil {
		return false, err
	}
	return play(ctx, stage{dir: dir, sysfs: sysfs, recorded: recorded && o.DeviceSpec == "", first: first, seams: o.Seams}, show)
}

// stage is where the story is played.
type stage struct {
	dir, sysfs string
	recorded   bool // the built-in host with the built-in rules: exact expectations hold
	first      settings
	seams      standalone.Seams
}

// play starts the services, plays every step and stops the services.
func play(ctx context.Context, s stage, show func(Result) error) (ok bool, err error) {
	records := &logs{}
	services, err := standalone.Open(ctx, standalone.Config{
		StateDir: s.dir, Listen: "127.0.0.1:0", Hosts: []string{hostName}, Logger: records.logger(), Seams: s.seams,
	})
	if err != nil {
		return false, err
	}
	run, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- services.Run(run) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	w, err := newWorld(services, s, records)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.close(context.WithoutCancel(ctx))) }()
	ok = true
	for _, step := range story() {
		r := step.run(ctx, w)
		ok = ok && r.OK
		if err := show(r); err != nil {
			return false, err
		}
	}
	return ok, ctx.Err()
}

// newWorld opens the storyteller's own connections.
func newWorld(s *standalone.Services, st stage, records *logs) (*world, error) {
	objects, client, err := s.Objects(s.Transport(), cyborgrpc.DefaultLimits())
	if err != nil {
		return nil, err
	}
	return &world{
		services: s, stage: st, now: st.first, logs: records, objects: objects, client: client,
		instance: uuid.NewString(), api: rest{base: s.URL()}, placement: rest{base: s.PlacementURL()},
	}, nil
}

// Discard shows nothing.
func Discard(Result) error { return nil }
