package cyborgrpc

import (
	"context"

	"github.com/go-cyborg/cyborg/rpc"
)

// AgentAPI is the client of the agents. It is safe for concurrent use.
type AgentAPI struct {
	remote rpc.Remote
}

// NewAgentAPI makes the client under the cap of limits; one that it does not support is a *[CapError].
func NewAgentAPI(client *rpc.Client, limits Limits) (*AgentAPI, error) {
	limits, err := limits.checked()
	if err != nil {
		return nil, err
	}
	return &AgentAPI{remote: rpc.Remote{Client: client, Target: rpc.Target{Topic: AgentTopic}, Cap: limits.Agent}}, nil
}

// FPGAProgram programs a device of host; false means that the driver could not.
func (a *AgentAPI) FPGAProgram(ctx context.Context, host string, args FPGAProgramArgs) (bool, error) {
	done, err := FPGAProgram.Call(ctx, a.remote.On(host), args)
	return bool(done), err
}

// CreateVGPUMdev creates the mediated device of an attach handle on host.
func (a *AgentAPI) CreateVGPUMdev(ctx context.Context, host string, args MdevArgs) error {
	_, err := CreateVGPUMdev.Call(ctx, a.remote.On(host), args)
	return err
}

// RemoveVGPUMdev removes the mediated device of an attach handle on host.
func (a *AgentAPI) RemoveVGPUMdev(ctx context.Context, host string, args MdevArgs) error {
	_, err := RemoveVGPUMdev.Call(ctx, a.remote.On(host), args)
	return err
}
