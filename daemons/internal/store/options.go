package store

import "time"

// Options reads options by group and name, as a loaded cyborg.conf does.
type Options interface {
	String(group, option string) string
	Bool(group, option string) bool
	Int(group, option string) int64
	IsSet(group, option string) bool
}

// OptionsOf is what the [database] section says. Without a connection it is the file cyborg.sqlite in [DEFAULT]
// state_path, as the peer's default.
func OptionsOf(o Options) Config {
	const group = "database"
	seconds := func(option string) time.Duration { return time.Duration(o.Int(group, option)) * time.Second }
	c := Config{
		URL: o.String(group, "connection"), Parameters: o.String(group, "connection_parameters"),
		SQLMode: o.String(group, "mysql_sql_mode"), WsrepSyncWait: int(o.Int(group, "mysql_wsrep_sync_wait")),
		Unsynced: !o.Bool(group, "sqlite_synchronous"),
		PoolSize: int(o.Int(group, "max_pool_size")), Overflow: int(o.Int(group, "max_overflow")),
		Recycle:  seconds("connection_recycle_time"),
		Attempts: int(o.Int(group, "max_retries")), RetryInterval: seconds("retry_interval"),
	}
	c.ServerSQLMode = c.SQLMode == "" && o.IsSet(group, "mysql_sql_mode")
	if c.URL == "" {
		c.URL = "sqlite:///" + o.String("DEFAULT", "state_path") + "/cyborg.sqlite"
	}
	if c.Overflow == 0 { // none; zero is the default here
		c.Overflow = -1
	}
	return c
}

// CheckURL reports what is wrong with the URL, without connecting: a *[URLError].
func (c Config) CheckURL() error {
	_, err := parseURL(c.URL, c.Parameters)
	return err
}

// Embedded says whether the database is a file of this process's own, which it creates when there is none.
func (c Config) Embedded() bool {
	u, err := parseURL(c.URL, c.Parameters)
	return err == nil && u.backend == "sqlite"
}
