package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// fileError explains a SQLite file that could not be opened: the engine says
// neither which file nor why, so the system is asked.
func (u dbURL) fileError(err error) error {
	if u.backend != "sqlite" || u.inMemory() || !isKind(err, Unavailable) {
		return err
	}
	path, absErr := u.file()
	if absErr != nil {
		return err
	}
	reason := openable(path)
	switch {
	case reason == nil:
		return &Error{"connect", Unavailable, fmt.Errorf("%s: %w", path, err)}
	case errors.Is(reason, syscall.EROFS):
		return &Error{"connect", ReadOnly, reason}
	case errors.Is(reason, fs.ErrPermission):
		return &Error{"connect", Denied, reason}
	}
	return &Error{"connect", Unavailable, reason}
}

// mustExist refuses a SQLite file that is not there: the engine would make it.
func (u dbURL) mustExist() error {
	if u.backend != "sqlite" || u.inMemory() {
		return nil
	}
	path, err := u.file()
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return &Error{"connect", Unavailable, err}
	}
	return nil
}

// openable reports why a file, or the log that SQLite keeps beside it, cannot
// be written.
func openable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	const writeAndSearch = 2 | 1
	dir := filepath.Dir(path)
	if err := syscall.Access(dir, writeAndSearch); err != nil {
		return &fs.PathError{Op: "write to directory", Path: dir, Err: err}
	}
	return nil
}
