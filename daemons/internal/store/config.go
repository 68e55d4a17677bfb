package store

import (
	"log/slog"
	"time"
)

// Config is what the [database] section of cyborg.conf says, and the
// collaborators of a Store. The zero value of every field but URL is the
// default of oslo.db.
type Config struct {
	// URL is the SQLAlchemy URL ([database] connection):
	// mysql+pymysql://user:password@host:port/name?charset=utf8mb4,
	// postgresql://… , sqlite:///relative/path or sqlite:////absolute/path.
	// "sqlite://" is a database in memory that ends with the Store.
	URL string
	// Parameters is appended to the query of URL ([database]
	// connection_parameters): name=value pairs joined by '&'.
	Parameters string

	// SQLMode is set on every MySQL session ([database] mysql_sql_mode).
	// Empty means TRADITIONAL. Other engines ignore it.
	SQLMode string
	// ServerSQLMode leaves the server's own sql_mode in force (mysql_sql_mode
	// set to nothing). Without a strict mode the server cuts over-long texts.
	ServerSQLMode bool
	// WsrepSyncWait is Galera's wsrep_sync_wait for every session ([database]
	// mysql_wsrep_sync_wait). Zero sets nothing.
	WsrepSyncWait int
	// Unsynced makes SQLite answer before its file is on the disk ([database]
	// sqlite_synchronous = false): a power loss may undo or damage it.
	Unsynced bool
	// Existing is for a tool that must not make a database: a SQLite file that is not there is an error, and one that
	// is keeps its journal mode.
	Existing bool

	// PoolSize is the number of idle connections kept ([database]
	// max_pool_size). Zero means 5.
	PoolSize int
	// Overflow is the number of connections above PoolSize that may be open
	// at once ([database] max_overflow). Zero means 50, negative none.
	Overflow int
	// Recycle is the age at which a pooled connection is replaced ([database]
	// connection_recycle_time). Zero means one hour, negative never.
	Recycle time.Duration

	// Attempts bounds how often the first connection is tried ([database]
	// max_retries). Zero means 10, negative for ever.
	Attempts int
	// RetryInterval is the pause between those attempts ([database]
	// retry_interval). Zero means 10 seconds.
	RetryInterval time.Duration

	// Log receives retries and schema steps; nil discards them.
	Log *slog.Logger
	// Now is the clock of created_at and updated_at; nil means time.Now.
	Now func() time.Time
	// Fault is called before every statement and around every commit. It is
	// for tests: it may end the process, or return an error that then stands
	// for the engine's. Nil means nothing is injected.
	Fault func(Point) error
}

// Point is a place in a transaction at which [Config.Fault] is called.
type Point struct {
	// Op is the name of the transaction: the Store method that runs it.
	Op string
	// Stage says what comes next, or for StageCommitted what has just
	// happened.
	Stage Stage
	// N counts the points of one attempt of the transaction from zero.
	N int
	// SQL is the statement about to be sent; empty at the other stages.
	SQL string
}

// Stage is the kind of a [Point].
type Stage string

// The stages of a transaction.
const (
	StageBegin     Stage = "begin"
	StageRead      Stage = "read"
	StageWrite     Stage = "write"
	StageCommit    Stage = "commit"
	StageCommitted Stage = "committed"
)

func (c Config) withDefaults() Config {
	if c.PoolSize == 0 {
		c.PoolSize = 5
	}
	switch {
	case c.Overflow == 0:
		c.Overflow = 50
	case c.Overflow < 0:
		c.Overflow = 0
	}
	switch {
	case c.Recycle == 0:
		c.Recycle = time.Hour
	case c.Recycle < 0:
		c.Recycle = 0
	}
	if c.Attempts == 0 {
		c.Attempts = 10
	}
	if c.RetryInterval == 0 {
		c.RetryInterval = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
