package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// RequestFilter chooses ARQs; its zero value chooses all.
type RequestFilter struct {
	// UUIDs, unless nil, are those wanted.
	UUIDs []string
	// Instance, unless empty, is the instance_uuid.
	Instance string
	// Project, unless nil, is the only project whose requests are seen.
	Project *string
}

// Requests returns ARQs with their handles and profile groups in id order, in
// two statements however many there are.
func (s *Store) Requests(ctx context.Context, f RequestFilter) ([]arq.Request, error) {
	if f.UUIDs != nil && len(f.UUIDs) == 0 {
		return nil, nil
	}
	where, args := []string{"1 = 1"}, []any{}
	if f.UUIDs != nil {
		list, ids := in(f.UUIDs)
		where, args = append(where, "e.uuid IN "+list), append(args, ids...)
	}
	if f.Instance != "" {
		where, args = append(where, "e.instance_uuid = ?"), append(args, f.Instance)
	}
	if f.Project != nil {
		where, args = append(where, "e.project_id = ?"), append(args, *f.Project)
	}
	return s.requestsWhere(ctx, "Requests", strings.Join(where, " AND "), args...)
}

// Request returns one ARQ, or an [*arq.NotFoundError].
func (s *Store) Request(ctx context.Context, id string) (q arq.Request, err error) {
	err = s.read(ctx, "Request", func(t *tx) error {
		q, err = t.request(ctx, id)
		return err
	})
	return q, err
}

// Order is how a list is sorted and cut. The zero value is id order, the
// whole list.
type Order struct {
	// Newest is the order of the peer's lists with a filter: by SortKey and
	// then by id, both descending.
	Newest bool
	// SortKey is a column; empty means created_at.
	SortKey string
	// Ascending turns the order of SortKey and id round.
	Ascending bool
	// Limit, unless nil, is the greatest number of rows.
	Limit *int
}

// SortKeyError says that a sort key is no column of the list.
type SortKeyError struct{ Key string }

// Error implements error with the peer's text.
func (e *SortKeyError) Error() string {
	return fmt.Sprintf("The sort_key value %q is an invalid field for sorting", e.Key)
}

// clause writes ORDER BY and LIMIT. columns is the list the key must be in.
func (o Order) clause(alias, columns string) (string, error) {
	out := " ORDER BY " + alias + ".id"
	if o.Newest {
		key, dir := orDefault(o.SortKey, "created_at"), " DESC"
		if o.Ascending {
			dir = " ASC"
		}
		if !slices.Contains(strings.Split(strings.ReplaceAll(columns, "`", ""), ", "), alias+"."+key) {
			return "", &SortKeyError{key}
		}
		out = " ORDER BY " + alias + ".`" + key + "`" + dir + ", " + alias + ".id" + dir
	}
	if o.Limit != nil {
		out += fmt.Sprintf(" LIMIT %d", *o.Limit)
	}
	return out, nil
}

// DeviceFilter chooses devices; empty fields choose all. An unknown type
// chooses none.
type DeviceFilter struct {
	Type, Vendor, Hostname string
	Order
}

// Devices returns devices.
func (s *Store) Devices(ctx context.Context, f DeviceFilter) (rows []cyborg.DeviceRow, err error) {
	order, err := f.clause("d", deviceColumns)
	if err != nil {
		return nil, err
	}
	if f.Type != "" && !slices.Contains(deviceTypeNames, f.Type) {
		return nil, nil // PostgreSQL refuses a value that is not in the enum
	}
	where, args := conditions("d.`type`", f.Type, "d.vendor", f.Vendor, "d.hostname", f.Hostname)
	err = s.read(ctx, "Devices", func(t *tx) error {
		rows = nil
		return t.all(ctx, &rows, "SELECT "+deviceColumns+" FROM devices d"+where+order, args...)
	})
	return rows, err
}

var deviceTypeNames = []string{"GPU", "FPGA", "AICHIP", "QAT", "NIC", "SSD", "MDEV", "PCI", arq.DeviceTypeNVMe}

// conditions joins the pairs of column and value whose value is not empty.
func conditions(pairs ...string) (where string, args []any) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		where += " AND " + pairs[i] + " = ?"
		args = append(args, pairs[i+1])
	}
	return strings.Replace(where, " AND ", " WHERE ", 1), args
}

// DeviceByUUID returns one device, or an [*arq.NotFoundError].
func (s *Store) DeviceByUUID(ctx context.Context, id string) (row cyborg.DeviceRow, err error) {
	err = s.read(ctx, "DeviceByUUID", func(t *tx) error {
		return found("Device", id)(t.one(ctx, &row, "SELECT "+deviceColumns+" FROM devices d WHERE d.uuid = ?", id))
	})
	return row, err
}

// found turns the answer of [tx.one] into an error.
func found(resource, id string) func(bool, error) error {
	return func(ok bool, err error) error {
		if err == nil && !ok {
			err = notFound(resource, "uuid", id)
		}
		return err
	}
}

// SetDeviceStatus enables a device or puts it into maintenance. A missing
// device is an [*arq.NotFoundError].
func (s *Store) SetDeviceStatus(ctx context.Context, id, status string) error {
	return s.write(ctx, "SetDeviceStatus", func(t *tx) error {
		n, err := t.exec(ctx, "UPDATE devices SET status = ?, updated_at = ? WHERE uuid = ?", status, t.now(), id)
		return found("Device", id)(n > 0, err)
	})
}

// DeployableFilter chooses deployables; an empty name chooses all.
type DeployableFilter struct {
	Name string
	Order
}

// Deployable is a row of deployables with its attributes in id order.
type Deployable struct {
	cyborg.DeployableRow
	Attributes []Attribute
}

// Deployables returns deployables with their attributes.
func (s *Store) Deployables(ctx context.Context, f DeployableFilter) (out []Deployable, err error) {
	order, err := f.clause("p", deployableColumns)
	if err != nil {
		return nil, err
	}
	where, args := conditions("p.name", f.Name)
	return s.deployables(ctx, "Deployables", where+order, args...)
}

// DeployableByUUID returns one deployable, or an [*arq.NotFoundError].
func (s *Store) DeployableByUUID(ctx context.Context, id string) (Deployable, error) {
	out, err := s.deployables(ctx, "DeployableByUUID", " WHERE p.uuid = ?", id)
	if err = found("Deployable", id)(len(out) > 0, err); err != nil {
		return Deployable{}, err
	}
	return out[0], nil
}

func (s *Store) deployables(ctx context.Context, op, tail string, args ...any) (out []Deployable, err error) {
	err = s.read(ctx, op, func(t *tx) error {
		var rows []cyborg.DeployableRow
		if err := t.all(ctx, &rows, "SELECT "+deployableColumns+" FROM deployables p"+tail, args...); err != nil {
			return err
		}
		out = make([]Deployable, len(rows))
		at := make(map[int64]int, len(rows))
		for i, r := range rows {
			out[i], at[r.ID] = Deployable{DeployableRow: r}, i
		}
		var attributes []Attribute
		if err := allIn(ctx, t, &attributes, selectAttributes+" WHERE a.deployable_id IN ? ORDER BY a.id", keys(at)); err != nil {
			return err
		}
		for _, a := range attributes {
			i := at[a.DeployableID]
			out[i].Attributes = append(out[i].Attributes, a)
		}
		return nil
	})
	return out, err
}

// Attribute is a row of attributes.
type Attribute struct {
	ID           int64      `db:"id"`
	UUID         string     `db:"uuid"`
	DeployableID int64      `db:"deployable_id"`
	Key          string     `db:"key"`
	Value        string     `db:"value"`
	CreatedAt    *time.Time `db:"created_at"`
	UpdatedAt    *time.Time `db:"updated_at"`
}

const selectAttributes = "SELECT " + attributeColumns + " FROM attributes a"

// AttributeFilter chooses attributes; its zero value chooses all.
type AttributeFilter struct {
	DeployableID *int64
	Key          string
}

// Attributes returns attributes in id order. Keys are compared byte by byte.
func (s *Store) Attributes(ctx context.Context, f AttributeFilter) (rows []Attribute, err error) {
	where, args := "", []any{}
	if f.DeployableID != nil {
		where, args = " WHERE a.deployable_id = ?", append(args, *f.DeployableID)
	}
	err = s.read(ctx, "Attributes", func(t *tx) error {
		rows = nil
		return t.all(ctx, &rows, selectAttributes+where+" ORDER BY a.id", args...)
	})
	if f.Key != "" {
		rows = slices.DeleteFunc(rows, func(a Attribute) bool { return a.Key != f.Key })
	}
	return rows, err
}

// AttributeByUUID returns one attribute, or an [*arq.NotFoundError].
func (s *Store) AttributeByUUID(ctx context.Context, id string) (row Attribute, err error) {
	err = s.read(ctx, "AttributeByUUID", func(t *tx) error {
		return found("Attribute", id)(t.one(ctx, &row, selectAttributes+" WHERE a.uuid = ?", id))
	})
	return row, err
}

// CreateAttribute stores an attribute of a deployable and returns its row. An
// unknown deployable is an [*Error] of kind [Referenced], an existing uuid a
// [*DuplicateError].
func (s *Store) CreateAttribute(ctx context.Context, a Attribute) (row Attribute, err error) {
	a.UUID = orDefault(a.UUID, uuid.NewString())
	err = s.write(ctx, "CreateAttribute", func(t *tx) error {
		rows := [][]any{{a.UUID, a.DeployableID, a.Key, a.Value, t.now()}}
		if err := t.insert(ctx, "attributes", insertAttribute, rows); err != nil {
			return err
		}
		row = Attribute{}
		return found("Attribute", a.UUID)(t.one(ctx, &row, selectAttributes+" WHERE a.uuid = ?", a.UUID))
	})
	if isKind(err, Duplicate) {
		err = &DuplicateError{Resource: "Attribute", Key: "uuid", Value: a.UUID}
	}
	return row, err
}

// DeleteAttribute deletes an attribute by uuid. A missing one is an
// [*arq.NotFoundError].
func (s *Store) DeleteAttribute(ctx context.Context, id string) error {
	return s.write(ctx, "DeleteAttribute", func(t *tx) error {
		n, err := t.exec(ctx, "DELETE FROM attributes WHERE uuid = ?", id)
		return found("Attribute", id)(n > 0 || t.again, err)
	})
}
