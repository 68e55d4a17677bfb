// Package dbsync is the program cyborg-dbsync: it creates and upgrades the
// database schema and migrates data. The daemons never do so by themselves.
//
//	cyborg-dbsync [options] upgrade [--revision REV]
//	cyborg-dbsync [options] stamp [--revision REV]
//	cyborg-dbsync [options] version
//	cyborg-dbsync [options] create_schema
//	cyborg-dbsync [options] online_data_migrations
//
// Only the [database] section, logging and, for data migrations, [nova] are
// read; mistakes elsewhere in the file do not matter here.
//
// Exit codes are the peer's: 0, 1 for an error, 2 for wrong usage or when a
// data migration failed. Different from the peer: stamp without --revision
// means the newest revision (the peer removes the mark), the command revision,
// which writes migration scripts for developers, does not exist, and
// create_schema makes the same tables as upgrade.
package dbsync
