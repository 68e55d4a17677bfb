package store

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
	"modernc.org/sqlite"
)

// connector builds the driver's side of a URL.
func (c Config) connector(u dbURL) (driver.Connector, error) {
	switch u.backend {
	case "mysql":
		cfg, err := c.mysqlConfig(u)
		if err != nil {
			return nil, err
		}
		return mysql.NewConnector(cfg)
	case "postgresql":
		dsn, err := postgresDSN(u)
		if err != nil {
			return nil, err
		}
		if _, err := pq.NewConnector(dsn); err != nil {
			return nil, err
		}
		return postgresConnector{dsn}, nil
	default:
		dsn, err := c.sqliteDSN(u)
		if err != nil {
			return nil, err
		}
		return sqlite.NewConnector(dsn)
	}
}

// mysqlConfig follows PyMySQL's options. clientFoundRows makes "no row
// affected" mean "no row matched"; interpolation saves the prepare and the
// close of each statement.
func (c Config) mysqlConfig(u dbURL) (*mysql.Config, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = u.user, u.password, u.database
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(orDefault(u.host, "127.0.0.1"), strconv.Itoa(orDefault(u.port, 3306)))
	if socket := u.take("unix_socket"); socket != "" {
		cfg.Net, cfg.Addr = "unix", socket
	}
	cfg.ParseTime, cfg.ClientFoundRows, cfg.InterpolateParams = true, true, true
	cfg.Logger = &mysql.NopLogger{}
	cfg.Params = map[string]string{}
	switch {
	case c.ServerSQLMode:
	case c.SQLMode != "":
		cfg.Params["sql_mode"] = quoteSQL(c.SQLMode)
	default:
		cfg.Params["sql_mode"] = quoteSQL("TRADITIONAL")
	}
	if c.WsrepSyncWait != 0 {
		cfg.Params["wsrep_sync_wait"] = strconv.Itoa(c.WsrepSyncWait)
	}
	for name, field := range map[string]*time.Duration{
		"connect_timeout": &cfg.Timeout, "read_timeout": &cfg.ReadTimeout, "write_timeout": &cfg.WriteTimeout,
	} {
		n, err := u.takeSeconds(name)
		if err != nil {
			return nil, err
		}
		*field = time.Duration(n) * time.Second
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second // PyMySQL's default
	}
	if mode := u.take("sql_mode"); mode != "" {
		cfg.Params["sql_mode"] = quoteSQL(mode)
	}
	var err error
	if cfg.TLS, err = mysqlTLS(u); err != nil {
		return nil, err
	}
	// The wire is always utf8mb4, whatever the table's own charset is: the
	// server converts.
	if err := cfg.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, err
	}
	return cfg, u.done("charset", "use_unicode", "binary_prefix", "client_flag", "local_infile", "compress",
		"max_allowed_packet", "program_name", "autocommit", "defer_connect", "plugin", "read_default_file", "read_default_group")
}

// mysqlTLS follows PyMySQL: a CA means that the chain and the host name are
// checked, ssl_check_hostname=false leaves the name out, and without a CA the
// line is encrypted but nothing is verified.
func mysqlTLS(u dbURL) (*tls.Config, error) {
	ca, cert, key := u.take("ssl_ca"), u.take("ssl_cert"), u.take("ssl_key")
	capath, cipher := u.take("ssl_capath"), u.take("ssl_cipher")
	checkName, verifyCert, verifyID := u.take("ssl_check_hostname"), u.take("ssl_verify_cert"), u.take("ssl_verify_identity")
	wanted := u.take("ssl")
	if ca+cert+key+capath+cipher+checkName+verifyCert+verifyID == "" && !isTrue(wanted) {
		return nil, nil
	}
	if capath != "" {
		return nil, &URLError{"ssl_capath", "a directory of certificates is not supported; name one file with ssl_ca"}
	}
	if cipher != "" {
		return nil, &URLError{"ssl_cipher", "cipher suites cannot be chosen; remove it"}
	}
	cfg := &tls.Config{ServerName: u.host, MinVersion: tls.VersionTLS12}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, orDefault(key, cert))
		if err != nil {
			return nil, &URLError{"client certificate", err.Error()}
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	if ca == "" {
		cfg.InsecureSkipVerify = !isTrue(verifyCert) && !isTrue(verifyID)
		return cfg, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, &URLError{"ssl_ca", err.Error()}
	}
	cfg.RootCAs = x509.NewCertPool()
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return nil, &URLError{"ssl_ca", fmt.Sprintf("%s holds no PEM certificate", ca)}
	}
	if checkName != "" && !isTrue(checkName) {
		verifyChainOnly(cfg)
	}
	return cfg, nil
}

// verifyChainOnly checks the server's chain against the pool but not its name.
func verifyChainOnly(cfg *tls.Config) {
	cfg.InsecureSkipVerify = true
	cfg.VerifyConnection = func(state tls.ConnectionState) error {
		opts := x509.VerifyOptions{Roots: cfg.RootCAs, Intermediates: x509.NewCertPool()}
		for _, c := range state.PeerCertificates[1:] {
			opts.Intermediates.AddCert(c)
		}
		_, err := state.PeerCertificates[0].Verify(opts)
		return err
	}
}

// postgresDSN writes libpq's keyword form. sslmode is set even when the URL
// has none, to libpq's own default.
func postgresDSN(u dbURL) (string, error) {
	kv := map[string]string{
		"host": orDefault(u.host, "localhost"), "port": strconv.Itoa(orDefault(u.port, 5432)),
		"user": u.user, "password": u.password, "dbname": u.database,
		"sslmode": "prefer", "connect_timeout": "10", "TimeZone": "UTC",
	}
	for _, name := range []string{
		"host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout",
		"application_name", "options", "target_session_attrs", "passfile",
	} {
		if v := u.take(name); v != "" {
			kv[name] = v
		}
	}
	if err := u.done("client_encoding", "gssencmode", "keepalives", "keepalives_idle", "keepalives_interval",
		"keepalives_count", "tcp_user_timeout"); err != nil {
		return "", err
	}
	var b strings.Builder
	for k, v := range kv {
		if v != "" {
			fmt.Fprintf(&b, "%s='%s' ", k, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v))
		}
	}
	return b.String(), nil
}

// sqliteDSN names the file and the pragmas of each connection. A write locks
// the file at BEGIN, so that no transaction that has read must be upgraded.
func (c Config) sqliteDSN(u dbURL) (string, error) {
	if u.host != "" {
		return "", &URLError{"host", "sqlite has none; an absolute path takes four slashes: sqlite:////var/lib/cyborg/cyborg.sqlite"}
	}
	timeout := 5000
	if n, err := u.takeSeconds("timeout"); err != nil {
		return "", err
	} else if n > 0 {
		timeout = n * 1000
	}
	mode := u.take("mode")
	if err := u.done("check_same_thread", "isolation_level", "cached_statements", "uri", "detect_types"); err != nil {
		return "", err
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", timeout), "foreign_keys(1)",
	}}
	if c.Unsynced {
		q.Add("_pragma", "synchronous(OFF)")
	} else {
		q.Add("_pragma", "synchronous(FULL)")
	}
	if u.inMemory() {
		return ":memory:?" + q.Encode(), nil
	}
	if mode != "" {
		q.Set("mode", mode)
	}
	path, err := u.file()
	if err != nil {
		return "", &URLError{"file", err.Error()}
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String(), nil
}

// file is the absolute path of a SQLite URL.
func (u dbURL) file() (string, error) { return filepath.Abs(strings.TrimPrefix(u.database, "file:")) }

// inMemory reports whether a SQLite URL names no file.
func (u dbURL) inMemory() bool {
	return u.backend == "sqlite" && (u.database == "" || u.database == ":memory:")
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "1", "yes", "on":
		return true
	}
	return false
}

func quoteSQL(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
