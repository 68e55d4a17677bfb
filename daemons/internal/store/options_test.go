package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// options answers with what a test sets and the defaults of oslo.db.
type options map[string]any

func (o options) value(option string) any {
	if v, ok := o[option]; ok {
		return v
	}
	return map[string]any{
		"state_path": "/var/lib/cyborg", "sqlite_synchronous": true, "mysql_sql_mode": "TRADITIONAL", "max_pool_size": int64(5),
		"max_overflow": int64(50), "connection_recycle_time": int64(3600), "max_retries": int64(10), "retry_interval": int64(10),
	}[option]
}

func (o options) String(_, option string) string { s, _ := o.value(option).(string); return s }
func (o options) Bool(_, option string) bool     { b, _ := o.value(option).(bool); return b }
func (o options) Int(_, option string) int64     { n, _ := o.value(option).(int64); return n }
func (o options) IsSet(_, option string) bool    { _, ok := o[option]; return ok }

func TestOptionsOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  options
		want func(*store.Config)
	}{
		"defaults":       {options{}, func(*store.Config) {}},
		"connection":     {options{"connection": "postgresql://h/db"}, func(c *store.Config) { c.URL = "postgresql://h/db" }},
		"server's mode":  {options{"mysql_sql_mode": ""}, func(c *store.Config) { c.SQLMode, c.ServerSQLMode = "", true }},
		"no overflow":    {options{"max_overflow": int64(0)}, func(c *store.Config) { c.Overflow = -1 }},
		"for ever":       {options{"max_retries": int64(-1)}, func(c *store.Config) { c.Attempts = -1 }},
		"never recycled": {options{"connection_recycle_time": int64(-1)}, func(c *store.Config) { c.Recycle = -time.Second }},
		"unsynced":       {options{"sqlite_synchronous": false}, func(c *store.Config) { c.Unsynced = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := store.Config{
				URL: "sqlite:////var/lib/cyborg/cyborg.sqlite", SQLMode: "TRADITIONAL", PoolSize: 5, Overflow: 50,
				Recycle: time.Hour, Attempts: 10, RetryInterval: 10 * time.Second,
			}
			tt.want(&want)
			if diff := cmp.Diff(want, store.OptionsOf(tt.set), cmp.AllowUnexported(store.Config{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func ExampleOptionsOf() {
	c := store.OptionsOf(options{"connection": "sqlite:////tmp/cyborg.sqlite"})
	fmt.Println(c.URL, c.Embedded(), c.CheckURL())
	// Output: sqlite:////tmp/cyborg.sqlite true <nil>
}
