package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/lib/pq"
)

// postgresConnector makes connections that a caller's deadline ends even when
// the server does not answer any more. lib/pq then only asks the server, over
// a second connection, to cancel the query, and goes on reading.
type postgresConnector struct{ dsn string }

// Connect implements driver.Connector.
func (c postgresConnector) Connect(ctx context.Context) (driver.Conn, error) {
	connector, err := pq.NewConnector(c.dsn)
	if err != nil {
		return nil, err
	}
	d := &cancelDialer{}
	connector.Dialer(d)
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	d.established()
	all, ok := conn.(postgresDriverConn)
	if !ok {
		return nil, errors.Join(errors.New("lib/pq: the connection lacks a method"), conn.Close())
	}
	return postgresConn{all, d}, nil
}

// postgresDriverConn is what lib/pq's connections can do.
type postgresDriverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// postgresConn begins transactions under the caller's deadline: lib/pq watches
// it only from the first statement on.
type postgresConn struct {
	postgresDriverConn
	dialer *cancelDialer
}

// BeginTx implements driver.ConnBeginTx.
func (c postgresConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	stop := context.AfterFunc(ctx, c.dialer.interrupt)
	defer stop()
	return c.postgresDriverConn.BeginTx(ctx, opts)
}

// Driver implements driver.Connector.
func (c postgresConnector) Driver() driver.Driver { return &pq.Driver{} }

// cancelPatience is how long a query may go on that has been cancelled.
const cancelPatience = 2 * time.Second

// cancelDialer dials for one connection. Whatever is dialled after it has been
// established is a request to cancel its query.
type cancelDialer struct {
	mu          sync.Mutex
	conn        net.Conn // the last one dialled, until established the attempt
	cancellable bool
}

func (d *cancelDialer) established() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancellable = true
}

// interrupt ends what the connection is doing. The connection is not used
// again, so the deadline may stay.
func (d *cancelDialer) interrupt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.conn.SetReadDeadline(time.Now().Add(cancelPatience))
}

// DialContext implements pq.DialerContext.
func (d *cancelDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	cancelling := d.cancellable
	d.mu.Unlock()
	if cancelling {
		d.interrupt()
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil && !cancelling {
		d.mu.Lock()
		d.conn = conn
		d.mu.Unlock()
	}
	return conn, err
}

// Dial implements pq.Dialer.
func (d *cancelDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout implements pq.Dialer.
func (d *cancelDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}
