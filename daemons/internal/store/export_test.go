package store

import "database/sql"

// Raw gives tests the store's connections.
func (s *Store) Raw() *sql.DB { return s.db.DB }
