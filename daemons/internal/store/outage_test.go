package store_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// gate is a TCP proxy in front of a server that can be shut.
type gate struct {
	target string
	addr   string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	wg       sync.WaitGroup
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	g := &gate{target: target, addr: "127.0.0.1:0", conns: map[net.Conn]bool{}}
	g.open(t)
	t.Cleanup(func() {
		g.shut()
		g.wg.Wait()
	})
	return g
}

// open lets connections through, on the address of the first time.
func (g *gate) open(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	g.listener, g.addr = l, l.Addr().String()
	g.mu.Unlock()
	g.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.pipe(c)
		}
	})
}

func (g *gate) pipe(client net.Conn) {
	server, err := net.Dial("tcp", g.target)
	if err != nil {
		client.Close()
		return
	}
	g.mu.Lock()
	g.conns[client], g.conns[server] = true, true
	g.mu.Unlock()
	for _, p := range [][2]net.Conn{{client, server}, {server, client}} {
		g.wg.Go(func() {
			_, _ = io.Copy(p[0], p[1])
			p[0].Close()
			p[1].Close()
		})
	}
}

// shut ends every connection and accepts no more.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener.Close()
	for c := range g.conns {
		c.Close()
	}
	g.conns = map[net.Conn]bool{}
}

// cut ends every connection; new ones are let through.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		c.Close()
	}
	g.conns = map[net.Conn]bool{}
}

// through replaces the server in a URL by the gate.
func through(t *testing.T, url, defaultPort string) (*gate, string) {
	t.Helper()
	scheme, rest, _ := strings.Cut(url, "://")
	at := strings.LastIndex(rest, "@") + 1
	host, path, _ := strings.Cut(rest[at:], "/")
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, defaultPort)
	}
	g := newGate(t, host)
	return g, scheme + "://" + rest[:at] + g.addr + "/" + path
}

// TestServerGoesAwayIntegration loses the server between and inside transactions.
func TestServerGoesAwayIntegration(t *testing.T) {
	t.Parallel()
	for engine, port := range map[string]string{"mysql": "3306", "postgres": "5432"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			direct := freshDatabase(t, needs(t, engine))
			upgrade(t, connect(t, direct))
			g, url := through(t, direct, port)
			var cut func(store.Point)
			s := opener(url)(t, func(cfg *store.Config) {
				cfg.Fault = func(p store.Point) error {
					if cut != nil {
						cut(p)
					}
					return nil
				}
			})
			ctx := context.Background()
			binds := raceBinds(t, s)

			// A connection that breaks in the middle of a transaction costs nothing.
			for i, stage := range []store.Stage{store.StageBegin, store.StageRead, store.StageWrite, store.StageCommit} {
				once := true
				cut = func(p store.Point) {
					if once && p.Op == "Begin" && p.Stage == stage {
						once = false
						g.cut()
					}
				}
				if q, err := s.Begin(ctx, binds[i]); err != nil || q.State != arq.Bound {
					t.Errorf("cut before %s: %s, %v", stage, q.State, err)
				}
			}
			cut = nil
			if n := held(t, s, binds[0].Hostname); n != 4 {
				t.Errorf("%d handles held, want 4", n)
			}

			g.shut()
			var down *store.Error
			if _, err := s.Begin(ctx, binds[10]); !errors.As(err, &down) || down.Kind != store.Unavailable {
				t.Errorf("bind while the server is away: %v", err)
			}
			if err := s.Ping(ctx); !errors.As(err, &down) || down.Kind != store.Unavailable {
				t.Errorf("ping while the server is away: %v", err)
			}
			g.open(t)
			if q, err := s.Begin(ctx, binds[10]); err != nil || q.State != arq.Bound {
				t.Errorf("bind after the outage: %s, %v", q.State, err)
			}
			if n := held(t, s, binds[0].Hostname); n != 5 {
				t.Errorf("%d handles held, want 5", n)
			}
		})
	}
}

func held(t *testing.T, s *store.Store, host string) (n int) {
	t.Helper()
	inv, err := s.Inventory(context.Background(), host)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range inv.Devices[0].Deployables[0].Handles {
		if h.Held() {
			n++
		}
	}
	return n
}

// TestFirstConnectionIntegration waits for a server that comes late, and for nothing
// else.
func TestFirstConnectionIntegration(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := needs(t, "mysql")
	g, url := through(t, server, "3306")
	g.shut()
	cfg := store.Config{URL: url, Attempts: 3, RetryInterval: time.Millisecond}
	var down *store.Error
	if _, err := store.Connect(ctx, cfg); !errors.As(err, &down) || down.Kind != store.Unavailable {
		t.Errorf("no server: %v", err)
	}
	g.open(t)
	cfg.Attempts = -1
	s, err := store.Connect(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wrong := server[:strings.Index(server, "://")] + "://nobody:secret" + server[strings.LastIndex(server, "@"):]
	_, err = store.Connect(ctx, store.Config{URL: wrong, Attempts: -1})
	if !errors.As(err, &down) || down.Kind != store.Denied || strings.Contains(err.Error(), "secret") {
		t.Errorf("wrong password: %v", err)
	}
	missing := server[:strings.LastIndex(server, "/")+1] + "no_such_database"
	if _, err = store.Connect(ctx, store.Config{URL: missing, Attempts: -1}); !errors.As(err, &down) || down.Kind != store.Schema {
		t.Errorf("no such database: %v", err)
	}
}

// TestSQLiteTroubles: a file that cannot be written, or opened, or is full, or
// is held by somebody else.
func TestSQLiteTroubles(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	url := "sqlite:///" + filepath.Join(dir, "c.sqlite")
	s := connect(t, url)
	upgrade(t, s)
	profile := store.Profile{Name: "p", Groups: []arq.Group{{}}}
	kind := func(err error) store.Kind {
		var e *store.Error
		errors.As(err, &e)
		if e == nil {
			return ""
		}
		return e.Kind
	}

	readOnly := opener(url+"?mode=ro")(t, nil)
	if _, err := readOnly.CreateProfile(ctx, profile); kind(err) != store.ReadOnly {
		t.Errorf("read-only: %v", err)
	}
	if _, err := store.Connect(ctx, store.Config{URL: "sqlite:///" + filepath.Join(dir, "no", "c.sqlite")}); kind(err) != store.Unavailable ||
		!strings.Contains(err.Error(), filepath.Join(dir, "no")+": no such file or directory") {
		t.Errorf("no directory: %v", err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(ctx, store.Config{URL: "sqlite:///" + text}); kind(err) != store.Schema {
		t.Errorf("no database: %v", err)
	}

	// Another process holds the file: a clear error when its patience ends,
	// and no harm afterwards.
	impatient := opener(url+"?timeout=1")(t, nil)
	conn, err := s.Raw().Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := impatient.CreateProfile(short, profile); !errors.Is(err, context.DeadlineExceeded) && kind(err) != store.Contention {
		t.Errorf("locked: %v", err)
	}
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := impatient.CreateProfile(ctx, profile); err != nil {
		t.Errorf("after the lock: %v", err)
	}

	// A full disk, as SQLite's own page limit.
	full := opener(url)(t, nil)
	full.Raw().SetMaxOpenConns(1)
	if _, err := full.Raw().Exec("PRAGMA max_page_count = 1"); err != nil {
		t.Fatal(err)
	}
	profile.Name = strings.Repeat("x", 100)
	profile.Groups = []arq.Group{{{Key: "accel:x", Value: strings.Repeat("x", 1<<20)}}}
	if _, err := full.CreateProfile(ctx, profile); kind(err) != store.Full {
		t.Errorf("full: %v", err)
	}
	if ps, err := s.Profiles(ctx); err != nil || len(ps) != 1 {
		t.Errorf("%d profiles, %v", len(ps), err)
	}
}
