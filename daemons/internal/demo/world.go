package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/standalone"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/rpc"
)

// world is what the steps act on and what they have learnt.
type world struct {
	services *standalone.Services
	stage
	now   settings // of the running agent, or of the last start
	wire  *tap     // of the agent's RPC client, since the last start
	agent *agentRun
	logs  *logs

	api       rest // Cyborg's REST API
	placement rest
	objects   cyborg.Objects // remotable methods, called by the storyteller
	client    *rpc.Client

	selection pci.Selection // of the first step
	bound     pci.Decision  // the device of the bind
	rule      bool          // its managed mode as configured at first
	request   string        // UUID of the accelerator request
	instance  string
}

// agentRun is one life of the agent's process.
type agentRun struct {
	cancel context.CancelFunc
	ended  chan error
}

// close stops the agent and the storyteller's own client.
func (w *world) close(ctx context.Context) error {
	return errors.Join(w.stopAgent(), w.client.Close(ctx))
}

// restart stops the agent and starts it with other settings, as an operator does: configuration file, process,
// phases. It returns when the agent is ready, or why its start failed.
func (w *world) restart(ctx context.Context, s settings) error {
	if err := w.stopAgent(); err != nil {
		return err
	}
	w.now = s
	cfg, err := w.load(s)
	if err != nil {
		return err
	}
	w.wire = newTap(w.services.Transport())
	run, cancel := context.WithCancel(ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- w.services.RunAgent(run, standalone.AgentConfig{
			Config: cfg, Sysfs: w.sysfs, Transport: w.wire, Ready: func() { close(ready) },
		})
	}()
	select {
	case <-ready:
		w.agent = &agentRun{cancel: cancel, ended: ended}
		return nil
	case err := <-ended:
		cancel()
		if err == nil {
			err = ctx.Err()
		}
		return err
	}
}

func (w *world) stopAgent() error {
	if w.agent == nil {
		return nil
	}
	w.agent.cancel()
	err := <-w.agent.ended
	w.agent = nil
	return err
}

// load writes the configuration file and reads it as the agent's process would.
func (w *world) load(s settings) (*config.Config, error) {
	file := filepath.Join(w.dir, "cyborg.conf")
	if err := os.WriteFile(file, []byte(s.conf()), 0o600); err != nil {
		return nil, err
	}
	schema, err := config.NewSchema(config.Options(config.Facts{Hostname: hostName, FQDN: hostName, Program: "cyborg-agent"}))
	if err != nil {
		return nil, err
	}
	return config.Load(schema, config.Source{Program: "cyborg-agent", Args: []string{"--config-file", file}, Root: w.dir})
}

// handle is the stored attach handle of the bound device, read through remotable list objects.
func (w *world) handle(ctx context.Context) (*cyborg.AttachHandle, error) {
	deployables, err := w.objects.DeployableList.GetByHostname(ctx, hostName)
	if err != nil {
		return nil, err
	}
	handles, err := w.objects.AttachHandleList.GetByHostname(ctx, hostName)
	if err != nil {
		return nil, err
	}
	for _, d := range deployables.All() {
		if d.Name.Value() != w.deployable() {
			continue
		}
		for _, h := range handles.All() {
			if h.DeployableID.Value() == d.ID.Value() {
				return h, nil
			}
		}
	}
	return nil, fmt.Errorf("no attach handle of deployable %s is stored", w.deployable())
}

// deployable is the name of the bound device's deployable, which is its provider's name.
func (w *world) deployable() string { return pci.NewReport(hostName, w.bound).DeployableName }
