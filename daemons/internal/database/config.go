package database

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// Config returns what the section says. The error joins the
// *[config.ValueError] of every value that cannot be used; the rest of the
// configuration is not looked at.
func Config(c *config.Config, log *slog.Logger) (store.Config, error) {
	r := reader{c: c}
	out := store.Config{
		URL:           r.text("connection"),
		Parameters:    r.text("connection_parameters"),
		SQLMode:       r.text("mysql_sql_mode"),
		WsrepSyncWait: r.number("mysql_wsrep_sync_wait"),
		PoolSize:      r.number("max_pool_size"),
		Overflow:      zeroIsNone(r.number("max_overflow")),
		Attempts:      r.number("max_retries"),
		Log:           log,
	}
	out.ServerSQLMode = strings.TrimSpace(out.SQLMode) == ""
	r.check("connection_recycle_time")
	r.check("retry_interval")
	r.check("sqlite_synchronous")
	if err := errors.Join(r.errs...); err != nil {
		return store.Config{}, err
	}
	out.Recycle = c.Seconds(group, "connection_recycle_time")
	out.RetryInterval = c.Seconds(group, "retry_interval")
	out.Unsynced = !c.Bool(group, "sqlite_synchronous")
	if out.URL == "" {
		out.URL = "sqlite:///" + filepath.Join(c.String("DEFAULT", "state_path"), "cyborg.sqlite")
	}
	return out, nil
}

const group = "database"

// zeroIsNone writes an operator's 0 as the store's "none", whose own zero is
// the default.
func zeroIsNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// reader collects the errors of the options it reads.
type reader struct {
	c    *config.Config
	errs []error
}

func (r *reader) check(option string) bool {
	_, err := r.c.Value(group, option)
	if err != nil {
		r.errs = append(r.errs, err)
	}
	return err == nil
}

func (r *reader) text(option string) string {
	if !r.check(option) {
		return ""
	}
	return r.c.String(group, option)
}

func (r *reader) number(option string) int {
	if !r.check(option) {
		return 0
	}
	return int(r.c.Int(group, option))
}
