package cyborgrpc

import (
	"context"

	"github.com/go-cyborg/cyborg/rpc"
)

// AgentAPI is the client of the agents. It is safe for concurrent use.
type AgentAPI struct {
	remote rpc.Remote
}

// NewAgentAPI makes the client under the cap of limits. Only what [ParseLimits] gives and zero are caps of agents.
func NewAgentAPI(client *rpc.Client, limits Limits) *AgentAPI {
	if limits.Agent.IsZero() {
		limits.Agent = DefaultLimits().Agent
	}
	return &AgentAPI{remote: rpc.Remote{Client: client, Target: rpc.Target{Topic: AgentTopic}, Cap: limits.Agent}}
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
