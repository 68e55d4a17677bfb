package service

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSignals delivers the signals a daemon knows; the returned function ends
// the delivery.
func watchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	return c, func() { signal.Stop(c) }
}

// handle acts on a signal and reports whether the process should stop.
func (p *Process) handle(s os.Signal) (stop bool) {
	switch s {
	case syscall.SIGTERM, syscall.SIGINT:
		return true
	case syscall.SIGHUP:
		p.reloadConfig()
	case syscall.SIGUSR1:
		if err := p.Logger.Reopen(); err != nil {
			p.log.Error("log file cannot be reopened; the old one stays in use", "error", err)
		}
	case syscall.SIGUSR2:
		p.writeReport()
	}
	return false
}
