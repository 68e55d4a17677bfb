package config

func databaseOptions() []Option {
	return group("database", []Option{
		{Name: "asyncio_connection", Secret: true, Inert: true, Help: "unused"},
		{Name: "asyncio_slave_connection", Secret: true, Inert: true, Help: "unused"},
		{Name: "backend", Default: "sqlalchemy", Inert: true},
		{Name: "connection", Secret: true, Help: "SQLAlchemy URL (default sqlite:///$state_path/cyborg.sqlite set by the models module)"},
		{Name: "connection_debug", Kind: Int, Default: 0, Max: new(100.0), Inert: true, Help: "SQL echo verbosity"},
		{Name: "connection_parameters", Default: "", Help: "appended to the URL query"},
		{Name: "connection_recycle_time", Kind: Int, Default: 3600, Help: "close pooled connections older than s"},
		{Name: "connection_trace", Kind: Bool, Default: false, Inert: true, Help: "add stack to SQL comments"},
		{Name: "db_inc_retry_interval", Kind: Bool, Default: true, Help: "double the sleep"},
		{Name: "db_max_retries", Kind: Int, Default: 20, Help: "attempts (-1 forever)"},
		{Name: "db_max_retry_interval", Kind: Int, Default: 10, Help: "cap s"},
		{Name: "db_retry_interval", Kind: Int, Default: 1, Help: "retry sleep s"},
		{Name: "max_overflow", Kind: Int, Default: 50, Help: "extra connections"},
		{Name: "max_pool_size", Kind: Int, Default: 5, Help: "pool size"},
		{Name: "max_retries", Kind: Int, Default: 10, Help: "connection attempts at start (-1 forever)"},
		{Name: "mysql_engine", Default: "InnoDB", Inert: true, Help: "no effect with mysql+pymysql URLs"},
		{Name: "mysql_sql_mode", Default: "TRADITIONAL", Help: "SQL mode set on each connection; empty keeps server default"},
		{Name: "mysql_wsrep_sync_wait", Kind: Int, Help: "Galera causal reads"},
		{Name: "pool_timeout", Kind: Int, Help: "wait for pool s"},
		{Name: "retry_interval", Kind: Int, Default: 10, Help: "s between them"},
		{Name: "slave_connection", Secret: true, Help: "read-only URL (readers use it)"},
		{Name: "sqlite_synchronous", Kind: Bool, Default: true, Help: "SQLite PRAGMA"},
		{Name: "synchronous_reader", Kind: Bool, Default: true, Inert: true, Help: "reader waits for replica"},
		{Name: "use_db_reconnect", Kind: Bool, Default: false, Help: "retry on lost connection"},
	})
}
