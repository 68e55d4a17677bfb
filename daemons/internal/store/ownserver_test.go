package store_test

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // asks whether the server is up
	_ "github.com/lib/pq"
)

// ownServer is a database server of a test's own, which it may kill.
type ownServer struct {
	*testing.T
	url          string // SQLAlchemy's, of the database cyborg
	driver, dsn  string // of the database that every server has
	command      func() *exec.Cmd
	process      *exec.Cmd
	ended        chan struct{}
	createTarget string
}

const ownPassword = "p@ss/word"

// serverDirectory is a short path that the server's user owns: sockets have short names.
func serverDirectory(t *testing.T, owner *syscall.Credential) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if owner != nil {
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func freeAddress(t *testing.T) (address, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return l.Addr().String(), port
}

// serverProgram finds a program of a server or skips the test.
func serverProgram(t *testing.T, name string, places ...string) string {
	t.Helper()
	for _, pattern := range append(places, "/usr/sbin/"+name, "/usr/bin/"+name) {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return slices.Max(found)
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

func ownMariaDB(t *testing.T) *ownServer {
	t.Helper()
	install, daemon := serverProgram(t, "mariadb-install-db"), serverProgram(t, "mariadbd")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := serverDirectory(t, nil)
	// A server that starts deletes what another one keeps in the same folder for temporary tables.
	own := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Env = append(os.Environ(), "TMPDIR="+dir)
		return cmd
	}
	out, err := own(exec.Command(install, "--no-defaults", "--datadir="+dir+"/data", "--auth-root-authentication-method=normal", "--skip-test-db",
		"--user="+me.Username)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address, port := freeAddress(t)
	s := &ownServer{
		T: t, driver: "mysql", dsn: "root@unix(" + dir + "/s)/mysql",
		url:          "mysql+pymysql://cyborg:p%40ss/word@" + address + "/cyborg?charset=utf8",
		createTarget: "CREATE DATABASE cyborg CHARACTER SET utf8mb3; CREATE USER cyborg@'127.0.0.1' IDENTIFIED BY '" + ownPassword + "'; GRANT ALL ON cyborg.* TO cyborg@'127.0.0.1'",
		command: func() *exec.Cmd {
			return own(exec.Command(daemon, "--no-defaults", "--datadir="+dir+"/data", "--port="+port, "--bind-address=127.0.0.1", "--socket="+dir+"/s",
				"--user="+me.Username, "--skip-name-resolve", "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M"))
		},
	}
	s.create()
	return s
}

func ownPostgreSQL(t *testing.T) *ownServer {
	t.Helper()
	initdb := serverProgram(t, "initdb", "/usr/lib/postgresql/*/bin/initdb")
	owner := ordinaryUser(t)
	as := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
		cmd.Dir = "/"
		return cmd
	}
	dir := serverDirectory(t, owner)
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(ownPassword+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := as(exec.Command(initdb, "-D", dir+"/data", "-A", "scram-sha-256", "--pwfile", secret, "-U", "postgres", "-E", "UTF8", "--locale=C")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address, port := freeAddress(t)
	s := &ownServer{
		T: t, driver: "postgres", dsn: "postgres://postgres:p%40ss%2Fword@" + address + "/postgres?sslmode=disable",
		url:          "postgresql+psycopg2://postgres:p%40ss/word@" + address + "/cyborg",
		createTarget: "CREATE DATABASE cyborg",
		command: func() *exec.Cmd {
			return as(exec.Command(filepath.Join(filepath.Dir(initdb), "postgres"), "-D", dir+"/data", "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir))
		},
	}
	s.create()
	return s
}

// ordinaryUser is whom a PostgreSQL server may run as: it refuses root.
func ordinaryUser(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Skip("PostgreSQL does not run as root and there is no user for it: ", err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// create starts the server for the first time and makes the database.
func (s *ownServer) create() {
	s.Helper()
	s.Cleanup(func() { s.kill() })
	s.up()
	db, err := sql.Open(s.driver, s.dsn)
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	for statement := range strings.SplitSeq(s.createTarget, "; ") {
		if _, err := db.Exec(statement); err != nil {
			s.Fatal(err)
		}
	}
}

// up starts the server and waits until it answers. A PostgreSQL server does not start while processes of its
// predecessor are still ending, so it is started until it stays.
func (s *ownServer) up() {
	s.Helper()
	db, err := sql.Open(s.driver, s.dsn)
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	deadline := time.After(90 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for s.begin(); db.Ping() != nil; {
		select {
		case <-s.ended:
			<-tick.C
			s.begin()
		case <-tick.C:
		case <-deadline:
			s.Fatal("the server does not come up")
		}
	}
}

func (s *ownServer) begin() {
	cmd, ended := s.command(), make(chan struct{})
	if err := cmd.Start(); err != nil {
		panic(fmt.Sprintf("start the server: %v", err)) // may run beside the test
	}
	s.process, s.ended = cmd, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
}

// kill ends the server as a power failure of its process does, and waits for its end.
func (s *ownServer) kill() {
	_ = s.process.Process.Kill()
	<-s.ended
}

// signal reaches the server and its children.
func (s *ownServer) signal(sig syscall.Signal) {
	s.Helper()
	pid := s.process.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		s.Skip(err)
	}
	for _, text := range append(strings.Fields(string(children)), strconv.Itoa(pid)) {
		if n, err := strconv.Atoi(text); err == nil {
			_ = syscall.Kill(n, sig)
		}
	}
}
