package amqp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// conn is one connection with its one channel. It is torn down by closing the socket; the library's own close may wait for
// a lock that a blocked write holds.
type conn struct {
	broker  string
	timeout time.Duration
	socket  *plug
	amqp    *amqp091.Connection
	channel *amqp091.Channel
	// aside is for declarations that the broker may refuse, because it closes the channel then; nil until the first one.
	aside *amqp091.Channel
	// lost is closed by the library when the connection ended; the channel's own end arrives on refused.
	lost    chan *amqp091.Error
	refused chan *amqp091.Error
	blocked chan amqp091.Blocking // nil unless the session publishes
}

// errLost is the end of a connection for which the library gave no reason.
var errLost = errors.New("connection to the broker lost")

// dial connects to one host and opens the channel, within the operation timeout.
func dial(ctx context.Context, c *resolved, host Host, link string) (*conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.OpTimeout, fmt.Errorf("the log-in took longer than %s: %w", c.OpTimeout, context.DeadlineExceeded))
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", host.Address())
	if err != nil {
		return nil, err
	}
	s := &conn{broker: host.Address(), timeout: c.OpTimeout, socket: &plug{Conn: raw, timeout: c.OpTimeout}}
	var stream net.Conn = s.socket
	if c.Options.TLS {
		config, err := c.Options.tlsConfig(host.Name)
		if err != nil {
			return nil, errors.Join(err, raw.Close())
		}
		stream = tls.Client(s.socket, config)
	}
	stop := context.AfterFunc(ctx, func() { s.socket.Close() })
	defer stop()
	err = s.open(stream, c, host, link)
	if !stop() { // the socket was closed in the middle of it, for which the library has its own reasons
		err = context.Cause(ctx)
	}
	if err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

func (s *conn) open(stream net.Conn, c *resolved, host Host, link string) error {
	connection, err := amqp091.Open(stream, amqp091.Config{
		SASL: authentication(c.Options.Login, host), Vhost: c.url.VHost, Heartbeat: c.heartbeat, Locale: "en_US",
		FrameSize: 131072, ChannelMax: 2047, Properties: properties(c.Name, link),
	})
	if err != nil {
		return explainLogin(err, c, host)
	}
	s.amqp = connection
	s.lost = s.amqp.NotifyClose(make(chan *amqp091.Error, 1))
	if s.channel, err = s.amqp.Channel(); err != nil {
		return fmt.Errorf("open channel: %w", err)
	}
	s.refused = s.channel.NotifyClose(make(chan *amqp091.Error, 1))
	return nil
}

// do runs synchronous operations on the broker under a watchdog that closes the socket.
func (s *conn) do(what string, f func() error) error {
	watchdog := time.AfterFunc(s.timeout, func() { s.socket.Close() })
	err := s.socket.release()
	if err == nil {
		err = f()
	}
	if !watchdog.Stop() && err != nil {
		return fmt.Errorf("%s took longer than %s: %w", what, s.timeout, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// declareAside declares an exchange without putting the connection's own channel at risk.
func (s *conn) declareAside(x Exchange) error {
	return s.do("declare exchange "+x.Name, func() error {
		if s.aside == nil || s.aside.IsClosed() {
			channel, err := s.amqp.Channel()
			if err != nil {
				return err
			}
			s.aside = channel
		}
		return s.aside.ExchangeDeclare(x.Name, x.Kind, x.Durable, x.AutoDelete, false, false, nil)
	})
}

// kill closes the socket and waits until the library has noticed, so that its goroutines end with the session.
func (s *conn) kill() {
	s.socket.Close()
	if s.amqp == nil {
		return
	}
	for range s.lost {
		continue
	}
}

// hangUp closes the connection politely and then for good.
func (s *conn) hangUp() {
	// The error is of no use: the socket is closed next in any case.
	_ = s.do("close connection", func() error { return s.amqp.CloseDeadline(time.Now().Add(s.timeout)) })
	s.kill()
}

// reason is why the connection or channel ended, after lost or refused fired with e.
func reason(e *amqp091.Error) error {
	if e == nil {
		return errLost
	}
	return e
}

// cause is why the connection ended, if err only says that something was done on it afterwards: what the broker said first.
// The connection must have been killed.
func (s *conn) cause(err error) error {
	if !errors.Is(err, amqp091.ErrClosed) {
		return err
	}
	for e := range s.refused {
		if e != nil {
			return e
		}
	}
	return err
}

// loginExternal is the rabbit_login_method that takes the user from the client's certificate.
const loginExternal = "EXTERNAL"

func authentication(login string, host Host) []amqp091.Authentication {
	switch login {
	case "PLAIN":
		return []amqp091.Authentication{&amqp091.PlainAuth{Username: host.User, Password: host.Password}}
	case loginExternal:
		return []amqp091.Authentication{&amqp091.ExternalAuth{}}
	}
	return []amqp091.Authentication{&amqp091.AMQPlainAuth{Username: host.User, Password: host.Password}}
}

// loginError is a broker that refuses the credentials or the virtual host: an operator must act.
type loginError struct {
	text string
	err  error
}

func (e *loginError) Error() string { return e.text + ": " + e.err.Error() }
func (e *loginError) Unwrap() error { return e.err }

func explainLogin(err error, c *resolved, host Host) error {
	refused, ok := errors.AsType[*amqp091.Error](err)
	if !ok {
		return err
	}
	if errors.Is(err, amqp091.ErrVhost) { // the library's guess when the socket closes, before which the broker always says why
		return fmt.Errorf("open virtual host %q: %w", c.url.VHost, errLost)
	}
	user, option := fmt.Sprintf("user %q", host.User), "transport_url"
	if c.Options.Login == loginExternal {
		user, option = "the user that the client certificate stands for", "ssl_cert_file"
	}
	switch refused.Code {
	case amqp091.AccessRefused:
		return &loginError{fmt.Sprintf("the broker refuses %s for virtual host %q: correct %s or the user's permissions", user, c.url.VHost, option), err}
	case amqp091.NotAllowed, amqp091.InvalidPath:
		return &loginError{fmt.Sprintf("the broker does not let %s into virtual host %q: correct transport_url or create it", user, c.url.VHost), err}
	}
	return err
}

func properties(name, link string) amqp091.Table {
	if name == "" {
		name = filepath.Base(os.Args[0])
	}
	return amqp091.Table{
		"product":         "go-cyborg",
		"connection_name": name + ":" + strconv.Itoa(os.Getpid()) + ":" + link,
	}
}
