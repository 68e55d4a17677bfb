// Package upgradecheck is the program cyborg-status: it looks at a deployment
// before services are restarted on new code.
//
//	cyborg-status [--config-file PATH] [--config-dir DIR] upgrade check [--json]
//
// The first two checks, the table, the JSON form and the exit codes are the
// peer's: 0 when every check succeeds, 1 when the worst is a warning, 2 for a
// failure, 255 when the program itself fails. The other checks are about the
// 2027.1 release and about the way back to 17.0.0. A check that needs what is
// not at hand (another host's PCI tree, an option that is not set here)
// succeeds with details that begin with SKIPPED.
//
// Nothing is written.
package upgradecheck
