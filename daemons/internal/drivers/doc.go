// Package drivers makes the accelerator drivers that a configuration enables ([OptionsOf], [Load]): the names of
// [agent] enabled_drivers that exist, and nothing else. A driver of another program needs no entry here; it is handed
// to agent.New.
package drivers
