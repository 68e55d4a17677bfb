package store_test

import (
	"database/sql"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// object is a JSON object of a schema listing.
type object = map[string]any

// query reads all rows of a query as text; NULL is nil.
func query(t testing.TB, db *sql.DB, text string) [][]*string {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]*string
	for rows.Next() {
		values, targets := make([]*string, len(names)), make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		out = append(out, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func text(p *string) any {
	if p == nil {
		return nil
	}
	return *p
}

func number(p *string) any {
	if p == nil {
		return nil
	}
	n, _ := strconv.ParseFloat(*p, 64)
	return n
}

// list appends to the list under a key.
func list(o object, key string, v any) {
	l, _ := o[key].([]any)
	o[key] = append(l, v)
}

// under returns the object under a key.
func under(o object, key string) object {
	c, ok := o[key].(object)
	if !ok {
		c = object{}
		o[key] = c
	}
	return c
}

// mysqlListing is the schema in the form of the recorded listings.
func mysqlListing(t testing.TB, db *sql.DB) object {
	t.Helper()
	tables := object{}
	for _, r := range query(t, db, "SELECT table_name, engine, table_collation, row_format FROM information_schema.tables WHERE table_schema = DATABASE()") {
		tables[*r[0]] = object{
			"engine": text(r[1]), "collation": text(r[2]), "row_format": text(r[3]),
			"primary_key": []any{}, "unique": object{}, "foreign_keys": object{}, "indexes": object{},
		}
	}
	for _, r := range query(t, db, "SELECT table_name, column_name, ordinal_position, column_type, is_nullable, column_default, extra,"+
		" character_set_name, collation_name, datetime_precision FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position") {
		list(under(tables, *r[0]), "columns", object{
			"name": text(r[1]), "position": number(r[2]), "type": text(r[3]), "nullable": *r[4] == "YES", "default": text(r[5]), "extra": text(r[6]),
			"charset": text(r[7]), "collation": text(r[8]), "datetime_precision": number(r[9]), "enum": enumOf(*r[3]),
		})
	}
	mysqlKeys(t, db, tables)
	for name := range tables {
		create := *query(t, db, "SHOW CREATE TABLE "+name)[0][1]
		under(tables, name)["show_create"] = sortedLines(create)
	}
	return object{"tables": tables}
}

func mysqlKeys(t testing.TB, db *sql.DB, tables object) {
	t.Helper()
	for _, r := range query(t, db, "SELECT table_name, index_name, non_unique, index_type, column_name FROM information_schema.statistics"+
		" WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index") {
		index := under(under(under(tables, *r[0]), "indexes"), *r[1])
		index["unique"], index["type"] = *r[2] == "0", text(r[3])
		list(index, "columns", text(r[4]))
		switch {
		case *r[1] == "PRIMARY":
			list(under(tables, *r[0]), "primary_key", text(r[4]))
		case *r[2] == "0":
			list(under(under(tables, *r[0]), "unique"), *r[1], text(r[4]))
		}
	}
	for _, r := range query(t, db, "SELECT k.table_name, k.constraint_name, k.column_name, k.referenced_table_name, k.referenced_column_name, c.delete_rule, c.update_rule"+
		" FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints c ON c.constraint_schema = k.constraint_schema"+
		" AND c.constraint_name = k.constraint_name AND c.table_name = k.table_name WHERE k.table_schema = DATABASE() ORDER BY k.ordinal_position") {
		key := under(under(under(tables, *r[0]), "foreign_keys"), *r[1])
		list(key, "columns", text(r[2]))
		list(key, "ref_columns", text(r[4]))
		key["ref_table"], key["on_delete"], key["on_update"] = text(r[3]), text(r[5]), text(r[6])
	}
}

// enumOf is the list of an enum's values.
func enumOf(columnType string) any {
	inner, ok := strings.CutPrefix(columnType, "enum(")
	if !ok {
		return nil
	}
	var out []any
	for v := range strings.SplitSeq(strings.TrimSuffix(inner, ")"), ",") {
		out = append(out, strings.Trim(v, "'"))
	}
	return out
}

// sortedLines makes two CREATE TABLE texts comparable: the server lists the
// indexes of foreign keys in no fixed order.
func sortedLines(create string) string {
	lines := strings.Split(create, "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], ",")
	}
	slices.Sort(lines)
	return regexp.MustCompile(` AUTO_INCREMENT=\d+`).ReplaceAllString(strings.Join(lines, "\n"), "")
}

// postgresListing is the schema in the form of the recorded listings.
func postgresListing(t testing.TB, db *sql.DB) object {
	t.Helper()
	tables, enums := object{}, object{}
	for _, r := range query(t, db, "SELECT c.table_name, c.column_name, c.ordinal_position, c.is_nullable, c.column_default, c.datetime_precision,"+
		" format_type(a.atttypid, a.atttypmod) FROM information_schema.columns c JOIN pg_attribute a ON a.attrelid = c.table_name::regclass"+
		" AND a.attname = c.column_name WHERE c.table_schema = 'public' ORDER BY c.table_name, c.ordinal_position") {
		table := under(tables, *r[0])
		under(table, "constraints")
		under(table, "indexes")
		list(table, "columns", object{
			"name": text(r[1]), "position": number(r[2]), "nullable": *r[3] == "YES", "default": text(r[4]), "datetime_precision": number(r[5]), "type": text(r[6]),
		})
	}
	kinds := map[string]string{"p": "primary", "u": "unique", "f": "foreign"}
	for _, r := range query(t, db, "SELECT conrelid::regclass::text, conname, contype::text, pg_get_constraintdef(oid) FROM pg_constraint"+
		" WHERE connamespace = 'public'::regnamespace") {
		under(under(tables, *r[0]), "constraints")[*r[1]] = object{"type": kinds[*r[2]], "definition": text(r[3])}
	}
	for _, r := range query(t, db, "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'") {
		under(under(tables, *r[0]), "indexes")[*r[1]] = text(r[2])
	}
	for _, r := range query(t, db, "SELECT t.typname, e.enumlabel FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid ORDER BY t.typname, e.enumsortorder") {
		list(enums, *r[0], text(r[1]))
	}
	out := object{"tables": tables, "enum_types": enums}
	for _, r := range query(t, db, "SELECT sequence_name FROM information_schema.sequences WHERE sequence_schema = 'public' ORDER BY sequence_name COLLATE \"C\"") {
		list(out, "sequences", text(r[0]))
	}
	return out
}

// sqliteListing is the schema in the form of the recorded listings.
func sqliteListing(t testing.TB, db *sql.DB) object {
	t.Helper()
	out := object{}
	for _, r := range query(t, db, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY tbl_name, type DESC, name") {
		o := object{"type": text(r[0]), "name": text(r[1]), "table": text(r[2]), "sql": nil}
		if r[3] != nil {
			o["sql"] = strings.Join(strings.Fields(*r[3]), " ")
		}
		out[*r[1]] = o
	}
	return out
}
