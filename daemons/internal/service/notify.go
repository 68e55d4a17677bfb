package service

import (
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// States told to systemd.
const (
	notifyReady    = daemon.SdNotifyReady
	notifyStopping = daemon.SdNotifyStopping
	notifyWatchdog = daemon.SdNotifyWatchdog
)

// notifyReloading carries the time that Type=notify-reload wants.
func notifyReloading() string {
	return daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec()
}

// systemdNotifier tells systemd when NOTIFY_SOCKET is set; else it does nothing.
func systemdNotifier(log *slog.Logger) func(string) {
	return func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			log.Warn("systemd cannot be notified", "state", state, "error", err)
		}
	}
}

// watchdogTicks ticks at half the time systemd allows; without a watchdog it
// never does.
func watchdogTicks() (<-chan time.Time, func(), error) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil || limit <= 0 {
		return nil, func() {}, err
	}
	ticker := time.NewTicker(limit / 2)
	return ticker.C, ticker.Stop, nil
}
