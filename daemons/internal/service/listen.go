package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// unixPrefix marks the address of a unix socket.
const unixPrefix = "unix:"

// Listen listens on address:port or unix:/path. The error says what to do; a
// socket file that a dead process left behind is replaced.
func Listen(address string) (net.Listener, error) {
	network, target := "tcp", address
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		network, target = "unix", path
		if err := removeDeadSocket(path); err != nil {
			return nil, fmt.Errorf("listen on %s: %w", address, err)
		}
	}
	l, err := net.Listen(network, target)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: the address is in use; stop the process that has it or choose another: %w", address, syscall.EADDRINUSE)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("listen on %s: %w; choose another port or path, or another user", address, err)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

func removeDeadSocket(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeSocket == 0 {
		return nil
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return fmt.Errorf("another process serves it: %w", syscall.EADDRINUSE)
	}
	return os.Remove(path)
}

// HTTP returns the part that serves handler on l until it is stopped; requests
// under way are finished.
func HTTP(name string, l net.Listener, handler http.Handler, log *slog.Logger) Part {
	return Part{Name: name, Run: func(ctx context.Context) error {
		server := &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: 10 * time.Second,
			IdleTimeout:       75 * time.Second,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		}
		stopped := make(chan error, 1)
		stop := context.AfterFunc(ctx, func() { stopped <- server.Shutdown(context.WithoutCancel(ctx)) })
		err := server.Serve(l)
		if !errors.Is(err, http.ErrServerClosed) {
			stop()
			return err
		}
		return <-stopped
	}}
}
