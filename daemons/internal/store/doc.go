// Package store keeps Cyborg's database: devices and what they offer, attach
// handles, device profiles and accelerator requests (ARQs), in the schema of
// Cyborg 17.0.0 (alembic revision [Head]) on MySQL/MariaDB, PostgreSQL and
// SQLite.
//
// # Opening
//
// [Open] takes the SQLAlchemy URL that stands in [database] connection and
// refuses a database whose revision is not [Head]; [Connect] leaves the
// revision alone and is for cyborg-dbsync and for a daemon that creates its
// own embedded database:
//
//	s, err := store.Connect(ctx, store.Config{URL: "sqlite:////var/lib/cyborg/cyborg.sqlite"})
//	if err != nil { … }
//	defer s.Close()
//	if err := s.Upgrade(ctx, store.Head); err != nil { … }
//
// One [Store] serves a whole process and is safe for concurrent use. Its
// methods satisfy the small interfaces that the consumers declare
// (reconcile.Store, the conductor's ARQ and lifecycle stores, the row readers
// of package ovo/cyborg).
//
// # Transactions
//
// A method is one transaction. Writers run at READ COMMITTED and lock first,
// in the order ARQ row, device row, handle rows; what they change they change
// by compare-and-set. Readers of more than one table see one snapshot. No
// transaction ever waits for anything but the database, and none is visible
// outside this package.
//
// A deadlock, a serialisation failure, a lock wait that timed out and a
// connection that was lost run the whole transaction again, also when it is
// the COMMIT that reports them (Galera): at most 8 attempts with growing
// random pauses. Conditions are recognised by the number the server sends,
// never by its text.
//
// # Errors
//
// An absent row is an [*arq.NotFoundError] with the peer's text, an existing
// unique name a [*DuplicateError], an ARQ in the wrong state an
// [*arq.BadStateError]. The report's writers answer with the errors of package
// reconcile, the remotable methods with those of package ovo/cyborg. Whatever
// the engine refuses is an [*Error] whose Kind says what to do about it.
//
// # Times and texts
//
// Times are UTC without zone; MySQL columns have no fraction, so the fraction
// is cut off before it is sent there. JSON texts (attach_info, cpid_info,
// profile_json, board infos) are kept byte for byte. They are never compared
// in SQL, because MySQL's collation takes "0A" for "0a".
package store
