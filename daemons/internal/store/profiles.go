package store

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
)

// Profile is a device profile.
type Profile struct {
	ID   int64
	UUID string
	Name string
	// Groups as the column holds them, key order included; nil when the
	// column cannot be read, and then GroupsErr says why.
	Groups      []arq.Group
	GroupsErr   error
	Description *string
	CreatedAt   time.Time
	UpdatedAt   time.Time // zero is NULL
}

type profileRow struct {
	ID          int64      `db:"id"`
	UUID        string     `db:"uuid"`
	Name        string     `db:"name"`
	JSON        string     `db:"profile_json"`
	Description *string    `db:"description"`
	CreatedAt   *time.Time `db:"created_at"`
	UpdatedAt   *time.Time `db:"updated_at"`
}

const selectProfiles = "SELECT id, uuid, name, profile_json, description, created_at, updated_at FROM device_profiles"

func (r profileRow) decode() *Profile {
	p := &Profile{
		ID: r.ID, UUID: r.UUID, Name: r.Name, Description: r.Description,
		CreatedAt: utc(r.CreatedAt), UpdatedAt: utc(r.UpdatedAt),
	}
	p.Groups, p.GroupsErr = arq.DecodeProfile(r.JSON)
	return p
}

// CreateProfile stores a profile and returns it with what was filled in: id,
// created_at and, when p has none, uuid and created_at. An existing name or
// uuid is a [*DuplicateError].
func (s *Store) CreateProfile(ctx context.Context, p Profile) (Profile, error) {
	p.UUID = orDefault(p.UUID, uuid.NewString())
	created := p.CreatedAt
	if created.IsZero() {
		created = s.now()
	}
	var row profileRow
	err := s.write(ctx, "CreateProfile", func(t *tx) error {
		row = profileRow{}
		if t.again { // an attempt whose COMMIT was not answered may have stored it
			if done, err := t.one(ctx, &row, selectProfiles+" WHERE uuid = ?", p.UUID); done || err != nil {
				return err
			}
		}
		if err := t.checkProfile(ctx, p); err != nil {
			return err
		}
		err := t.insert(ctx, "device_profiles", "uuid, name, profile_json, description, created_at",
			[][]any{{p.UUID, p.Name, arq.EncodeProfile(p.Groups), p.Description, s.d.time(created)}})
		if err != nil {
			return err
		}
		_, err = t.one(ctx, &row, selectProfiles+" WHERE uuid = ?", p.UUID)
		return err
	})
	if isKind(err, Duplicate) {
		// Another transaction was faster; its row says which value it was.
		err = s.read(ctx, "CreateProfile", func(t *tx) error { return t.checkProfile(ctx, p) })
		if err == nil {
			err = &DuplicateError{Resource: "Device Profile", Key: "name", Value: p.Name}
		}
	}
	if err != nil {
		return Profile{}, err
	}
	return *row.decode(), nil
}

// checkProfile looks for the values that must be unique. Schemas made by the
// peer's create_schema have no unique index on the uuid alone.
func (t *tx) checkProfile(ctx context.Context, p Profile) error {
	var rows []profileRow
	if err := t.all(ctx, &rows, selectProfiles+" WHERE uuid = ? OR name = ?", p.UUID, p.Name); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	if slices.ContainsFunc(rows, func(r profileRow) bool { return r.UUID != p.UUID || r.Name == p.Name }) {
		return &DuplicateError{Resource: "Device Profile", Key: "name", Value: p.Name}
	}
	return &DuplicateError{Resource: "Device Profile", Key: "uuid", Value: p.UUID}
}

// ProfileByUUID returns one profile, or an [*arq.NotFoundError].
func (s *Store) ProfileByUUID(ctx context.Context, id string) (Profile, error) {
	return s.profile(ctx, "uuid", id)
}

// ProfileByName returns one profile, or an [*arq.NotFoundError]. MySQL finds
// it whatever the case of the letters.
func (s *Store) ProfileByName(ctx context.Context, name string) (Profile, error) {
	return s.profile(ctx, "name", name)
}

func (s *Store) profile(ctx context.Context, key, v string) (Profile, error) {
	var p *Profile
	err := s.read(ctx, "Profile", func(t *tx) error {
		var row profileRow
		found, err := t.one(ctx, &row, selectProfiles+" WHERE "+key+" = ?", v)
		if err == nil && !found {
			err = notFound("Device Profile", key, v)
		}
		p = row.decode()
		return err
	})
	if err != nil {
		return Profile{}, err
	}
	return *p, nil
}

// Profiles returns every profile in id order.
func (s *Store) Profiles(ctx context.Context) ([]Profile, error) {
	var out []Profile
	err := s.read(ctx, "Profiles", func(t *tx) error {
		var rows []profileRow
		if err := t.all(ctx, &rows, selectProfiles+" ORDER BY id"); err != nil {
			return err
		}
		out = make([]Profile, len(rows))
		for i, r := range rows {
			out[i] = *r.decode()
		}
		return nil
	})
	return out, err
}

// DeleteProfile deletes a profile by uuid. A missing one is an
// [*arq.NotFoundError]; one that an ARQ names is an [*Error] of kind
// [Referenced].
func (s *Store) DeleteProfile(ctx context.Context, id string) error {
	return s.write(ctx, "DeleteProfile", func(t *tx) error {
		n, err := t.exec(ctx, "DELETE FROM device_profiles WHERE uuid = ?", id)
		if err == nil && n == 0 && !t.again {
			err = notFound("Device Profile", "uuid", id)
		}
		return err
	})
}
