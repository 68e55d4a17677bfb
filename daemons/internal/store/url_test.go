package store

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]dbURL{
		"mysql+pymysql://u:p%40ss@h/db?charset=utf8mb4&ssl_ca=%2Fca.pem": {
			backend: "mysql", user: "u", password: "p@ss", host: "h", database: "db",
			query: url.Values{"charset": {"utf8mb4"}, "ssl_ca": {"/ca.pem"}},
		},
		"mysql://cyborg:pa/ss#w?rd:x@db.example:3307/cyborg": {
			backend: "mysql", user: "cyborg", password: "pa/ss#w?rd:x", host: "db.example", port: 3307, database: "cyborg", query: url.Values{},
		},
		"mariadb+mysqldb://u@[fe80::1]:3306/db": {backend: "mysql", user: "u", host: "fe80::1", port: 3306, database: "db", query: url.Values{}},
		"mysql+pymysql://u:a+b%2B@/db?unix_socket=/run/m.sock": {
			backend: "mysql", user: "u", password: "a+b+", database: "db", query: url.Values{"unix_socket": {"/run/m.sock"}},
		},
		"postgresql+psycopg2://u%2F:p@h:5433/db": {backend: "postgresql", user: "u/", password: "p", host: "h", port: 5433, database: "db", query: url.Values{}},
		"postgresql:///db?host=/var/run":         {backend: "postgresql", database: "db", query: url.Values{"host": {"/var/run"}}},
		"sqlite:///rel/cyborg.sqlite":            {backend: "sqlite", database: "rel/cyborg.sqlite", query: url.Values{}},
		"sqlite:////var/lib/cyborg.sqlite":       {backend: "sqlite", database: "/var/lib/cyborg.sqlite", query: url.Values{}},
		"sqlite+pysqlite://":                     {backend: "sqlite", query: url.Values{}},
		"sqlite:///:memory:":                     {backend: "sqlite", database: ":memory:", query: url.Values{}},
	} {
		got, err := parseURL(text, "")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(dbURL{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	got, err := parseURL("mysql://h/db?charset=utf8", "&connect_timeout=3&charset=utf8mb4")
	if err != nil || got.take("connect_timeout") != "3" || got.take("charset") != "utf8mb4" {
		t.Errorf("connection_parameters: %+v, %v", got, err)
	}
}

func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                            "not set",
		"cyborg.sqlite":                               "not of the form",
		"oracle://u:secret@h/db":                      "oracle",
		"postgres://u:secret@h/db":                    "postgres",
		"mysql://u:secret@h:port/db":                  "port",
		"mysql://u:secret@h:0/db":                     "port",
		"mysql://u:%zzsecret@h/db":                    "password",
		"mysql://%zz:secret@h/db":                     "user",
		"mysql://u:secret@h/db?a=%zz":                 "query",
		"mysql://u:secret@h/db?chrset=":               "chrset",
		"mysql://u:secret@h/db?ssl_ca=/nowhere.pem":   "ssl_ca",
		"mysql://u:secret@h/db?ssl_capath=/etc":       "ssl_capath",
		"mysql://u:secret@h/db?ssl_cipher=x":          "ssl_cipher",
		"mysql://u:secret@h/db?ssl_cert=/nowhere.pem": "certificate",
		"mysql://u:secret@h/db?connect_timeout=soon":  "connect_timeout",
		"postgresql://u:secret@h/db?sslmod=require":   "sslmod",
		"sqlite://var/lib/cyborg.sqlite":              "four slashes",
		"sqlite:///x?timeout=-1":                      "timeout",
		"sqlite:///x?journal=1":                       "journal",
	} {
		_, err := connectorOf(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "[database] connection") {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", text, err)
		}
	}
}

func connectorOf(text string) (any, error) {
	u, err := parseURL(text, "")
	if err != nil {
		return nil, err
	}
	return Config{}.withDefaults().connector(u)
}

func mysqlOf(t *testing.T, c Config) *mysql.Config {
	t.Helper()
	u, err := parseURL(c.URL, c.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := c.withDefaults().mysqlConfig(u)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestMySQLOptions(t *testing.T) {
	t.Parallel()
	cfg := mysqlOf(t, Config{
		URL: "mysql+pymysql://u:p%40@h/db?charset=utf8&use_unicode=1&read_timeout=7", Parameters: "unix_socket=/run/x", WsrepSyncWait: 3,
	})
	if cfg.User != "u" || cfg.Passwd != "p@" || cfg.Net != "unix" || cfg.Addr != "/run/x" || cfg.DBName != "db" {
		t.Errorf("%+v", cfg)
	}
	if !cfg.ClientFoundRows || !cfg.ParseTime || !cfg.InterpolateParams || cfg.Timeout != 10*time.Second || cfg.ReadTimeout != 7*time.Second {
		t.Errorf("%+v", cfg)
	}
	if diff := cmp.Diff(map[string]string{"sql_mode": "'TRADITIONAL'", "wsrep_sync_wait": "3"}, cfg.Params); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	if cfg := mysqlOf(t, Config{URL: "mysql://h:33/db", SQLMode: "ANSI"}); cfg.Params["sql_mode"] != "'ANSI'" || cfg.Addr != "h:33" || cfg.TLS != nil {
		t.Errorf("%+v", cfg)
	}
	if cfg := mysqlOf(t, Config{URL: "mysql:///db", ServerSQLMode: true}); len(cfg.Params) != 0 || cfg.Addr != "127.0.0.1:3306" {
		t.Errorf("%+v", cfg)
	}
}

func TestMySQLTLS(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wrong *URLError
	if _, err := connectorOf("mysql://h/db?ssl_ca=" + ca); !errors.As(err, &wrong) {
		t.Errorf("no PEM: %v", err)
	}
	if err := os.WriteFile(ca, []byte(testCA), 0o600); err != nil {
		t.Fatal(err)
	}
	if cfg := mysqlOf(t, Config{URL: "mysql://h/db?ssl_ca=" + ca}); cfg.TLS.InsecureSkipVerify || cfg.TLS.ServerName != "h" || cfg.TLS.RootCAs == nil {
		t.Errorf("ssl_ca: %+v", cfg.TLS)
	}
	if cfg := mysqlOf(t, Config{URL: "mysql://h/db?ssl_check_hostname=false&ssl_ca=" + ca}); cfg.TLS.VerifyConnection == nil || !cfg.TLS.InsecureSkipVerify {
		t.Errorf("ssl_check_hostname: %+v", cfg.TLS)
	}
	for query, skip := range map[string]bool{"ssl=true": true, "ssl_verify_cert=true": false, "ssl_verify_identity=1": false} {
		if cfg := mysqlOf(t, Config{URL: "mysql://h/db?" + query}); cfg.TLS == nil || cfg.TLS.InsecureSkipVerify != skip {
			t.Errorf("%s: %+v", query, cfg.TLS)
		}
	}
}

func TestPostgresDSN(t *testing.T) {
	t.Parallel()
	u, err := parseURL(`postgresql://u:it%27s\%20x@h/db?sslmode=verify-full&sslrootcert=/ca&client_encoding=utf8`, "")
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := postgresDSN(u)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(dsn)
	want := []string{
		`password='it\'s\\`, `x'`, `user='u'`, `host='h'`, `port='5432'`, `dbname='db'`, `sslmode='verify-full'`, `sslrootcert='/ca'`,
		`connect_timeout='10'`, `TimeZone='UTC'`,
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSQLiteDSN(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sqlite:////a b/c.sqlite":        "file:///a%20b/c.sqlite?_pragma=busy_timeout%285000%29&_pragma=foreign_keys%281%29&_pragma=synchronous%28FULL%29&_txlock=immediate",
		"sqlite:////c?timeout=2&mode=ro": "file:///c?_pragma=busy_timeout%282000%29&_pragma=foreign_keys%281%29&_pragma=synchronous%28FULL%29&_txlock=immediate&mode=ro",
		"sqlite://":                      ":memory:?_pragma=busy_timeout%285000%29&_pragma=foreign_keys%281%29&_pragma=synchronous%28FULL%29&_txlock=immediate",
	} {
		u, err := parseURL(text, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Config{}.sqliteDSN(u)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"mysql+pymysql://u:p%40ss@h/db?charset=utf8mb4", "sqlite:////a", "postgresql://[::1]:1/x?host=y", "mysql://u:p/#?@h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseURL(text, "")
		if err != nil {
			if wrong := new(URLError); !errors.As(err, &wrong) {
				t.Errorf("not a URLError: %v", err)
			}
			return
		}
		if u.backend == "" || u.port < 0 || u.port > 65535 {
			t.Errorf("%+v", u)
		}
	})
}

// testCA is a self-signed certificate made for these tests.
const testCA = `-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUQNvBXK/HyPMfoYlAaRb5evP4YncwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHdGVzdC1jYTAgFw0yNjExMjkxNjE0NDVaGA8yMTI2MTEwNTE2
MTQ0NVowEjEQMA4GA1UEAwwHdGVzdC1jYTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABCrg6rYSW31baTL2GZAwWjMK9ZWvQ7OVEYCoztvkF89ODfUc/RksR/YVh2my
A4L2Ow4IIcHtGHXnXtofPnAX7vmjUzBRMB0GA1UdDgQWBBT358ATmS8oTsc0d4g4
bF5sksCSMTAfBgNVHSMEGDAWgBT358ATmS8oTsc0d4g4bF5sksCSMTAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCICMxmNi8FFQW7oe93ojLoxIv82g0
7cVmM1Geh8lscqy/AiEAxGaq9PsNgz3S3De2ua7TiqSrdRgvAE7zrL+W5btjnTw=
-----END CERTIFICATE-----`
