package conductord_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the databases of the peers
	"github.com/google/uuid"
)

// stack is a real Keystone and Placement out of the peers' root, a Nova that takes every event, a vhost and databases.
type stack struct {
	t     *testing.T
	root  string // of the chroot
	dir   string // of the configuration, inside it
	name  string // of vhost and databases
	ports map[string]int
	nova  *httptest.Server
	front *httptest.Server // in front of Placement
	admin string           // token
	http  *http.Client

	placement *peerDaemon

	mu     sync.Mutex
	seen   []string // requests to Placement
	events []string // bodies that Nova got
}

const (
	stackHost     = "peer-host-1"
	stackPassword = "peerpass"
	stackWait     = 90 * time.Second
)

func newStack(t *testing.T) *stack {
	t.Helper()
	root := currentPeer(t)
	if os.Getenv("CYBORG_TEST_AMQP_URL") == "" || os.Getenv("CYBORG_TEST_MYSQL_URL") == "" {
		t.Skip("CYBORG_TEST_AMQP_URL and CYBORG_TEST_MYSQL_URL are not set")
	}
	dir, err := os.MkdirTemp(filepath.Join(root, "tmp"), "stack-")
	if err != nil {
		t.Skip(err)
	}
	s := &stack{
		t: t, root: root, dir: strings.TrimPrefix(dir, root), name: "cyborg_test_" + uuid.NewString()[:8],
		ports: map[string]int{"keystone": freePort(t), "placement": freePort(t), "cyborg": freePort(t)},
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 16
	s.http = &http.Client{Transport: pool}
	t.Cleanup(pool.CloseIdleConnections)
	s.nova = httptest.NewServer(http.HandlerFunc(s.serveNova))
	t.Cleanup(s.nova.Close)
	target, err := url.Parse(s.url("placement"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = pool // the usual one keeps two connections, fewer than the conductor uses
	s.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.URL.RequestURI())
		s.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.front.Close)
	s.makeVhost()
	s.makeDatabase("placement")
	s.makeDatabase("cyborg")
	s.configure()
	s.startKeystone()
	s.startPlacement()
	return s
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (s *stack) url(name string) string { return fmt.Sprintf("http://127.0.0.1:%d", s.ports[name]) }

func (s *stack) serveNova(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost {
		fmt.Fprintf(w, `{"version": {"id": "v2.1", "status": "CURRENT", "version": "2.96", "min_version": "2.1", "links": [{"rel": "self", "href": "%s/v2.1/"}]}}`, s.nova.URL)
		return
	}
	s.mu.Lock()
	s.events = append(s.events, string(raw))
	s.mu.Unlock()
	_, _ = w.Write(raw)
}

func (s *stack) command(name string, args ...string) {
	s.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

func (s *stack) makeVhost() {
	s.t.Helper()
	s.command("rabbitmqctl", "-q", "add_vhost", s.name)
	s.t.Cleanup(func() { s.command("rabbitmqctl", "-q", "delete_vhost", s.name) })
	s.command("rabbitmqctl", "-q", "set_permissions", "-p", s.name, "guest", ".*", ".*", ".*")
}

// mysql is a connection to MariaDB with the account of the integration tests.
func (s *stack) mysql(database string) *sql.DB {
	s.t.Helper()
	db, err := sql.Open("mysql", "cyborg_test:cyborg_test@tcp(127.0.0.1:3306)/"+database)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() })
	return db
}

func (s *stack) makeDatabase(kind string) {
	s.t.Helper()
	db := s.mysql("")
	if _, err := db.Exec("CREATE DATABASE " + s.name + "_" + kind + " CHARACTER SET utf8mb3"); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if _, err := s.mysql("").Exec("DROP DATABASE " + s.name + "_" + kind); err != nil {
			s.t.Error(err)
		}
	})
}

func (s *stack) databaseURL(kind string) string {
	return "mysql+pymysql://cyborg_test:cyborg_test@127.0.0.1:3306/" + s.name + "_" + kind + "?charset=utf8"
}

func (s *stack) write(name, text string) string {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.root, s.dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return s.dir + "/" + name
}

// auth are the credentials of a user in a section.
func (s *stack) auth(section, user string) string {
	return fmt.Sprintf(`[%s]
auth_url = %s/v3
auth_type = password
username = %s
password = %s
user_domain_name = Default
project_name = service
project_domain_name = Default
region_name = RegionOne
`, section, s.url("keystone"), user, stackPassword)
}

func (s *stack) configure() {
	d := s.dir
	s.write("keystone.conf", fmt.Sprintf("[DEFAULT]\nlog_file = %[1]s/keystone.log\n[database]\nconnection = sqlite:///%[1]s/keystone.sqlite\n"+
		"[token]\nprovider = fernet\nexpiration = 86400\n[fernet_tokens]\nkey_repository = %[1]s/fernet\n[fernet_receipts]\nkey_repository = %[1]s/fernet\n"+
		"[credential]\nkey_repository = %[1]s/credential\n", d))
	s.write("placement.conf", "[DEFAULT]\nlog_file = "+d+"/placement.log\n[api]\nauth_strategy = keystone\n[placement_database]\nconnection = "+
		s.databaseURL("placement")+"\n"+s.auth("keystone_authtoken", "placement"))
	s.write("api-paste.ini", `[pipeline:main]
pipeline = cors http_proxy_to_wsgi request_id authtoken api_v2
[app:api_v2]
paste.app_factory = cyborg.api.app:app_factory
[filter:authtoken]
acl_public_routes = /, /v2
paste.filter_factory = cyborg.api.middleware.auth_token:AuthTokenMiddleware.factory
[filter:request_id]
paste.filter_factory = oslo_middleware:RequestId.factory
[filter:cors]
paste.filter_factory = oslo_middleware.cors:filter_factory
oslo_config_project = cyborg
[filter:http_proxy_to_wsgi]
paste.filter_factory = oslo_middleware.http_proxy_to_wsgi:HTTPProxyToWSGI.factory
`)
	s.configureCyborg("cyborg.conf", s.databaseURL("cyborg"), "fake_driver")
	for _, name := range []string{"keystone", "placement", "cyborg"} {
		s.configureServer(name, 1)
	}
}

// configureServer says how many processes shall serve a peer.
func (s *stack) configureServer(name string, workers int) {
	s.t.Helper()
	text := fmt.Sprintf("wsgi_app = '%s.wsgi.api:application'\nbind = '127.0.0.1:%d'\nworkers = %d\nthreads = 4\nkeepalive = 75\ngraceful_timeout = 1\n", name, s.ports[name], workers)
	if name == "cyborg" { // it hands the process's own arguments to oslo.config
		text += fmt.Sprintf("import sys\nsys.argv = ['cyborg-api', '--config-file', '%[1]s/cyborg.conf', '--log-file', '%[1]s/api.log']\n", s.dir)
	}
	s.write("gunicorn-"+name+".py", text)
}

// configureCyborg writes a cyborg.conf that Python and Go daemons share.
func (s *stack) configureCyborg(name, database, driver string) {
	d := s.dir
	s.write(name, "[DEFAULT]\nhost = "+stackHost+"\ntransport_url = rabbit://guest:guest@127.0.0.1:5672/"+s.name+"\nstate_path = "+d+
		"\n[api]\napi_paste_config = "+d+"/api-paste.ini\n[database]\nconnection = "+database+"\n[oslo_concurrency]\nlock_path = "+d+
		"\n[cyborg_sys_admin]\nhelper_command = privsep-helper --config-file "+d+"/"+name+
		"\n[agent]\nenabled_drivers = "+driver+"\nresource_provider_name = "+stackHost+"\n[pci]\npassthrough_whitelist = {\"vendor_id\": \"ffff\"}\n"+
		s.auth("keystone_authtoken", "cyborg")+s.auth("placement", "cyborg")+s.auth("nova", "cyborg")+s.auth("service_user", "cyborg"))
}

// inside runs a program of the peers to its end and returns its output.
func (s *stack) inside(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("chroot", append([]string{s.root, "env", "LC_ALL=C.UTF-8"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s%s", args, err, out, errs.String())
	}
	return string(out)
}

// peerDaemon is a process of the peers.
type peerDaemon struct {
	cmd  *exec.Cmd
	done chan error
	log  string
	once sync.Once
}

func (s *stack) start(name string, args ...string) *peerDaemon {
	s.t.Helper()
	log, err := os.Create(filepath.Join(s.root, s.dir, name+".out"))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command("chroot", append([]string{s.root, "env", "LC_ALL=C.UTF-8", "OS_KEYSTONE_CONFIG_DIR=" + s.dir, "OS_PLACEMENT_CONFIG_DIR=" + s.dir}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	d := &peerDaemon{cmd: cmd, done: make(chan error, 1), log: log.Name()}
	go func() {
		d.done <- cmd.Wait()
		log.Close()
	}()
	s.t.Cleanup(d.stop)
	return d
}

// stop ends the process as systemd does and waits: first kindly, then by force, its children too.
func (d *peerDaemon) stop() {
	d.once.Do(func() {
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.done:
		case <-time.After(stackWait):
		}
		_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL)
	})
}

func (s *stack) gunicorn(name string) *peerDaemon {
	s.t.Helper()
	d := s.start("gunicorn-"+name, "GUNICORN_CMD_ARGS=--config "+s.dir+"/gunicorn-"+name+".py", "gunicorn")
	s.until(name+" listens", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url(name), "http://"))
		if err == nil {
			c.Close()
		}
		return err == nil
	}, d.log)
	return d
}

// until waits for a condition; the files help to see why it did not come.
func (s *stack) until(what string, ok func() bool, logs ...string) {
	s.t.Helper()
	s.untilWithin(stackWait, what, ok, logs...)
}

func (s *stack) untilWithin(limit time.Duration, what string, ok func() bool, logs ...string) {
	s.t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			for _, file := range logs {
				text, _ := os.ReadFile(file)
				s.t.Logf("%s:\n%s", file, text[max(0, len(text)-4000):])
			}
			s.t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (s *stack) startKeystone() {
	s.t.Helper()
	config := s.dir + "/keystone.conf"
	s.inside("mkdir", "-p", s.dir+"/fernet", s.dir+"/credential")
	s.inside("keystone-manage", "--config-file", config, "db_sync")
	for _, step := range []string{"fernet_setup", "credential_setup"} {
		s.inside("keystone-manage", "--config-file", config, step, "--keystone-user", "root", "--keystone-group", "root")
	}
	s.inside("keystone-manage", "--config-file", config, "bootstrap", "--bootstrap-password", stackPassword, "--bootstrap-region-id", "RegionOne",
		"--bootstrap-public-url", s.url("keystone")+"/v3", "--bootstrap-internal-url", s.url("keystone")+"/v3")
	s.gunicorn("keystone")
	s.admin = s.token("admin", "admin")
	s.personas()
}

func (s *stack) startPlacement() {
	s.t.Helper()
	s.inside("placement-manage", "--config-file", s.dir+"/placement.conf", "db", "sync")
	s.placement = s.gunicorn("placement")
	s.admin = s.token("cyborg", "service")
	s.addHost(stackHost)
}

// restartPlacement lets a number of processes serve it.
func (s *stack) restartPlacement(workers int) {
	s.t.Helper()
	s.placement.stop()
	s.http.CloseIdleConnections()
	s.configureServer("placement", workers)
	s.placement = s.gunicorn("placement")
}

// call sends JSON to a service and returns status and body.
func (s *stack) call(token, method, url string, body any, headers ...string) (int, http.Header, map[string]any) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	if body == nil {
		raw = nil
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), method, url, bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Auth-Token", token)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&answer) // an empty body stays nil
	return resp.StatusCode, resp.Header, answer
}
