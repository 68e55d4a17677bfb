package upgradecheck

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// deviceStates is the peer's check, texts included.
func (c *checks) deviceStates(ctx context.Context) Result {
	if c.store == nil {
		return result(Failure, "The database cannot be read: %v", c.storeErr)
	}
	n, err := c.store.UnstatedDevices(ctx)
	schema := c.store.CheckSchema(ctx)
	var engine *store.Error
	switch {
	case errors.As(err, &engine) && engine.Kind == store.Unavailable:
		return result(Failure, "The database cannot be read: %v", err)
	case err != nil:
		return result(Failure, "Unable to query device_state column. Run: cyborg-dbsync upgrade")
	case schema != nil: // it has the column, and yet it is not ours
		return result(Failure, "%v", schema)
	case n > 0:
		return result(Failure, "%d device(s) still have NULL device_state. Run: cyborg-dbsync online_data_migrations", n)
	}
	return result(Success, "All device_state values backfilled.")
}

// usable returns why the database cannot be looked at, or nil.
func (c *checks) usable(ctx context.Context) *Result {
	err := c.storeErr
	if c.store != nil {
		err = c.store.CheckSchema(ctx)
	}
	if err == nil {
		return nil
	}
	r := skipped("%v", err)
	return &r
}

// downgrade lists the handles that a conductor of 17.0.0 would delete and
// create anew under another uuid, because it compares their whole text with
// what a Python agent reports.
func (c *checks) downgrade(ctx context.Context) Result {
	if r := c.usable(ctx); r != nil {
		return *r
	}
	handles, err := c.store.MetadataHandles(ctx)
	if err != nil {
		return result(Failure, "The attach handles cannot be read: %v", err)
	}
	if len(handles) == 0 {
		return result(Success, "No attach handle carries managed, stateful or numa_node: the way back to 17.0.0 is open.")
	}
	list := make([]string, len(handles))
	for i, h := range handles {
		list[i] = fmt.Sprintf("%s (%s: %s)", h.UUID, h.Host, strings.Join(h.Keys, ", "))
	}
	return result(Warning, "A conductor of 17.0.0 would re-create %d attach handle(s), also those in use, because their text carries keys it does not know."+
		" Unbind them and report them without these keys before going back: %s", len(handles), strings.Join(list, "; "))
}

// withdrawn lists what a Python conductor would never offer again.
func (c *checks) withdrawn(ctx context.Context) Result {
	if r := c.usable(ctx); r != nil {
		return *r
	}
	ps, err := c.store.WithdrawnDeployables(ctx)
	if err != nil {
		return result(Failure, "The deployables cannot be read: %v", err)
	}
	if len(ps) == 0 {
		return result(Success, "Every deployable is on offer.")
	}
	list := make([]string, len(ps))
	for i, p := range ps {
		list[i] = fmt.Sprintf("%s on %s", p.Name, p.Host)
	}
	return result(Warning, "%d deployable(s) are not on offer: new, missing while allocated, or not clean. A Python conductor would leave them so;"+
		" let a report of their hosts finish before going back: %s", len(ps), strings.Join(list, "; "))
}
