package ovo

import (
	"crypto/md5" //nolint:gosec // the digest is Python's choice; it guards against mistakes, not attacks
	"encoding/hex"
	"slices"
	"strings"
)

// Fingerprints returns the fingerprint of the highest version of every class: what Python's ObjectVersionChecker.get_hashes gives.
func (r *Registry) Fingerprints() map[string]string {
	prints := make(map[string]string, len(r.names))
	for _, name := range r.names {
		prints[name] = r.Highest(name).Fingerprint()
	}
	return prints
}

// Fingerprint returns the version and the MD5 of the [Class.Contract], with a hyphen between them. It changes whenever the contract with
// peers does.
func (c *Class) Fingerprint(extra ...any) string {
	sum := md5.Sum([]byte(c.Contract(extra...))) //nolint:gosec // see the import
	return c.version + "-" + hex.EncodeToString(sum[:])
}

// Contract returns the text that the fingerprint is made of: fields, remotable methods and, of list objects, member versions, as Python prints them. Extra
// values of the value model are appended, as the items of an extra data function are in Python. The class must be a registered one.
func (c *Class) Contract(extra ...any) string {
	parts := []string{c.fieldContracts(), c.methodContracts()}
	if c.isList || len(c.children) > 0 {
		parts = append(parts, c.memberContract())
	}
	for _, v := range extra {
		parts = append(parts, pyRepr(v))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func (c *Class) fieldContracts() string {
	items := make([]string, 0, len(c.fields))
	for _, name := range c.namesOf(^uint64(0)) {
		items = append(items, "("+pyReprString(name)+", "+c.fields[c.byName[name]].contract()+")")
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (c *Class) methodContracts() string {
	items := []string{}
	for _, s := range c.contractSignatures() {
		items = append(items, "("+pyReprString(s.name)+", "+s.spec()+")")
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// memberContract prints the table of member versions. Python sorts it as text.
func (c *Class) memberContract() string {
	pairs := slices.Clone(c.children)
	slices.SortFunc(pairs, func(a, b versionPair) int { return strings.Compare(a.own, b.own) })
	items := make([]string, len(pairs))
	for i, p := range pairs {
		items[i] = "(" + pyReprString(p.own) + ", " + pyReprString(p.child) + ")"
	}
	if len(items) == 0 {
		return "OrderedDict()"
	}
	return "OrderedDict([" + strings.Join(items, ", ") + "])"
}
