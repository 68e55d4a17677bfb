// Package database turns the [database] section of cyborg.conf into the
// configuration of a store. It opens nothing.
//
// Read are connection (default: cyborg.sqlite in state_path),
// connection_parameters, max_pool_size, max_overflow,
// connection_recycle_time, max_retries, retry_interval, mysql_sql_mode,
// mysql_wsrep_sync_wait and sqlite_synchronous. The others have no effect:
// conflicts and lost connections are always retried, and readers use the same
// server as writers.
package database
