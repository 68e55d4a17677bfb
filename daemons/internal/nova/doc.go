// Package nova tells Nova how binds ended.
//
// [Events] turns requests into the events of one notification, a pure function; a notifier delivers them. [Client]
// posts them to os-server-external-events (compute API microversion 2.82) and judges the answer as Cyborg 17 does.
// [Recorder] is the notifier of the embedded default and of tests: it keeps what Nova would have been told.
package nova
