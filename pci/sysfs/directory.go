package sysfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// attributeSize bounds what is read of one attribute: sysfs gives at most a
// page.
const attributeSize = 4096

// directory is the part of a file system that a scan needs. Names are relative
// and use slashes.
type directory interface {
	read(name string) ([]byte, error)
	list(name string) ([]string, error)
	// link gives the target of a link, with slashes, without following it.
	link(name string) (string, error)
	// sub opens a directory below, through links.
	sub(name string) (directory, error)
	close() error
}

// rootDirectory keeps a scan inside its tree, whatever the links in it say.
type rootDirectory struct{ root *os.Root }

func openDirectory(path string) (directory, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return rootDirectory{root}, nil
}

func (d rootDirectory) read(name string) (data []byte, err error) {
	file, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, attributeSize))
}

func (d rootDirectory) list(name string) (names []string, err error) {
	file, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return file.Readdirnames(-1)
}

func (d rootDirectory) link(name string) (string, error) {
	target, err := d.root.Readlink(name)
	return filepath.ToSlash(target), err
}

// sub follows links inside the tree and refuses those that lead out of it.
func (d rootDirectory) sub(name string) (directory, error) {
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return rootDirectory{root}, nil
}

func (d rootDirectory) close() error { return d.root.Close() }
