package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-cyborg/cyborg/reconcile"
)

// Withdraw takes deployables off offer and claims their rows: updated_at, by
// which a claim is known, becomes a time after every one that was seen. All
// of the rows must be as seen, or [reconcile.ErrStale] is returned and none
// is changed.
func (s *Store) Withdraw(ctx context.Context, seen []reconcile.Version) ([]reconcile.Claim, error) {
	if len(seen) == 0 {
		return nil, nil
	}
	seen = slices.Clone(seen)
	slices.SortFunc(seen, func(a, b reconcile.Version) int { return int(a.ID - b.ID) })
	var newest time.Time
	for _, v := range seen {
		if v.UpdatedAt.After(newest) {
			newest = v.UpdatedAt
		}
	}
	at := s.later(newest)
	err := s.write(ctx, "Withdraw", func(t *tx) error {
		return chunks(seen, maxIn, func(part []reconcile.Version) error {
			where, args := s.versions(part)
			n, err := t.exec(ctx, "UPDATE deployables SET rp_uuid = NULL, updated_at = ? WHERE "+where, append([]any{s.d.time(at)}, args...)...)
			if err == nil && n != int64(len(part)) {
				if t.again && t.withdrawn(ctx, part, at) {
					return nil
				}
				err = reconcile.ErrStale
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	claims := make([]reconcile.Claim, len(seen))
	for i, v := range seen {
		claims[i] = reconcile.Claim{ID: v.ID, UpdatedAt: at}
	}
	return claims, nil
}

// withdrawn reports whether an earlier attempt, whose COMMIT was not
// answered, has claimed the rows.
func (t *tx) withdrawn(ctx context.Context, part []reconcile.Version, at time.Time) bool {
	mine := make([]reconcile.Version, len(part))
	for i, v := range part {
		mine[i] = reconcile.Version{ID: v.ID, UpdatedAt: at}
	}
	where, args := t.s.versions(mine)
	var n int
	_, err := t.one(ctx, &n, "SELECT COUNT(*) FROM deployables WHERE rp_uuid IS NULL AND ("+where+")", args...)
	return err == nil && n == len(part)
}

// versions writes the condition that each row is as it was seen. Rows that
// share a version share an IN list.
func (s *Store) versions(vs []reconcile.Version) (where string, args []any) {
	groups := map[time.Time][]int64{}
	var order []time.Time
	for _, v := range vs {
		at := v.UpdatedAt
		if !at.IsZero() {
			at = s.d.truncate(at)
		}
		if _, ok := groups[at]; !ok {
			order = append(order, at)
		}
		groups[at] = append(groups[at], v.ID)
	}
	var b strings.Builder
	for i, at := range order {
		if i > 0 {
			b.WriteString(" OR ")
		}
		list, ids := in(groups[at])
		b.WriteString("(id IN " + list)
		args = append(args, ids...)
		if at.IsZero() {
			b.WriteString(" AND updated_at IS NULL)")
			continue
		}
		b.WriteString(" AND updated_at = ?)")
		args = append(args, s.d.time(at))
	}
	return b.String(), args
}

// Offer puts deployables on offer where the claim still holds and returns the
// claims that do not. It leaves updated_at alone, which stays the version.
func (s *Store) Offer(ctx context.Context, claims []reconcile.Claim) (lost []reconcile.Claim, err error) {
	if len(claims) == 0 {
		return nil, nil
	}
	claims = slices.Clone(claims)
	slices.SortFunc(claims, func(a, b reconcile.Claim) int { return int(a.ID - b.ID) })
	err = s.write(ctx, "Offer", func(t *tx) error {
		lost = nil
		return chunks(claims, maxIn, func(part []reconcile.Claim) error {
			n, err := t.offer(ctx, part)
			if err != nil || n == int64(len(part)) {
				return err
			}
			gone, err := t.notOffered(ctx, part)
			lost = append(lost, gone...)
			return err
		})
	})
	return lost, err
}

func (t *tx) offer(ctx context.Context, claims []reconcile.Claim) (int64, error) {
	var set strings.Builder
	var args []any
	versions := make([]reconcile.Version, len(claims))
	for i, c := range claims {
		set.WriteString(" WHEN ? THEN ?")
		args = append(args, c.ID, c.Offer)
		versions[i] = reconcile.Version{ID: c.ID, UpdatedAt: c.UpdatedAt}
	}
	where, more := t.s.versions(versions)
	return t.exec(ctx, "UPDATE deployables SET rp_uuid = CASE id"+set.String()+" END WHERE rp_uuid IS NULL AND ("+where+")", append(args, more...)...)
}

// notOffered finds the claims whose row does not carry their offer.
func (t *tx) notOffered(ctx context.Context, claims []reconcile.Claim) (lost []reconcile.Claim, err error) {
	var rows []struct {
		ID        int64      `db:"id"`
		Offer     *string    `db:"rp_uuid"`
		UpdatedAt *time.Time `db:"updated_at"`
	}
	ids := make([]int64, len(claims))
	for i, c := range claims {
		ids[i] = c.ID
	}
	if err := allIn(ctx, t, &rows, "SELECT id, rp_uuid, updated_at FROM deployables WHERE id IN ?", ids); err != nil {
		return nil, err
	}
	now := make(map[int64]reconcile.Claim, len(rows))
	for _, r := range rows {
		now[r.ID] = reconcile.Claim{ID: r.ID, UpdatedAt: utc(r.UpdatedAt), Offer: value(r.Offer)}
	}
	for _, c := range claims {
		if have := now[c.ID]; have.Offer != c.Offer || !have.UpdatedAt.Equal(c.UpdatedAt) {
			lost = append(lost, c)
		}
	}
	return lost, nil
}
