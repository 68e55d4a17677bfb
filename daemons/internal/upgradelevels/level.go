package upgradelevels

// The highest versions of the interfaces that this release speaks.
const (
	ConductorVersion = "1.1"
	AgentVersion     = "1.0"
)

// Level is what an option of [upgrade_levels] may be.
type Level struct {
	Option  string
	Allowed []string // lowest first
	Default string
}

// Conductor is the level of calls to conductors.
func Conductor() Level {
	return Level{Option: "conductor", Allowed: []string{"1.0", ConductorVersion}, Default: ConductorVersion}
}

// Agent is the level of calls to agents.
func Agent() Level {
	return Level{Option: "agent", Allowed: []string{AgentVersion}, Default: AgentVersion}
}
