package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source says where a configuration is read from. The zero value reads the
// default files of a program without a name.
type Source struct {
	// Program names the program's own files: PROGRAM.conf, PROGRAM.conf.d.
	Program string
	// Args is the command line without the program's name.
	Args []string
	// Environ holds KEY=VALUE pairs, as os.Environ gives them.
	Environ []string
	// Home replaces a leading ~ in paths and is searched for default files;
	// empty means that there is none.
	Home string
	// Root is put before /etc in the search for default files; empty means
	// the real one.
	Root string
}

// project names the files all daemons share: cyborg.conf, cyborg.conf.d.
const project = "cyborg"

// place is a file to read and the reason for reading it.
type place struct {
	path string
	flag string
}

// files lists the configuration files in the order of application.
func (s Source) files(line commandLine) ([]place, []error) {
	var places []place
	var problems []error
	if !line.hasFile {
		for _, base := range s.basenames(".conf") {
			if path, ok := s.search(base); ok {
				places = append(places, place{path: path})
			}
		}
	}
	if !line.hasDir {
		for _, base := range s.basenames(".conf.d") {
			if path, ok := s.search(base); ok {
				found, _ := directory(path)
				places = append(places, found...)
			}
		}
	}
	for _, a := range line.places {
		path := s.expandHome(a.path)
		if a.flag == flagConfigFile {
			places = append(places, place{path: path, flag: a.flag})
			continue
		}
		found, err := directory(path)
		if err != nil {
			problems = append(problems, &FileError{Path: path, Flag: "--" + a.flag, Err: err})
		}
		for _, p := range found {
			p.flag = a.flag
			places = append(places, p)
		}
	}
	return places, problems
}

func (s Source) basenames(extension string) []string {
	if s.Program == "" || s.Program == project {
		return []string{project + extension}
	}
	return []string{project + extension, s.Program + extension}
}

// search returns the first place that has the file or directory.
func (s Source) search(base string) (string, bool) {
	for _, dir := range s.searchPath() {
		path := filepath.Join(dir, base)
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

func (s Source) searchPath() []string {
	var dirs []string
	if s.Home != "" {
		dirs = append(dirs, filepath.Join(s.Home, "."+project), s.Home)
	}
	dirs = append(dirs, filepath.Join(s.Root, "/etc", project), filepath.Join(s.Root, "/etc"))
	for _, variable := range []string{"SNAP_COMMON", "SNAP"} {
		if dir := s.env(variable); dir != "" {
			dirs = append(dirs, filepath.Join(dir, "etc", project))
		}
	}
	return dirs
}

// directory lists the *.conf files of a directory in name order; like a shell's
// pattern it leaves out hidden ones.
func directory(path string) ([]place, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var out []place
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".conf") && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, place{path: filepath.Join(path, e.Name())})
		}
	}
	slices.SortFunc(out, func(a, b place) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

func (s Source) expandHome(path string) string {
	if s.Home == "" || path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	return s.Home + path[1:]
}

func (s Source) env(name string) string {
	value, _ := s.lookupEnv(name)
	return value
}

func (s Source) lookupEnv(name string) (string, bool) {
	// The last of equal names wins, as in a shell's environment.
	for _, pair := range slices.Backward(s.Environ) {
		if key, value, ok := strings.Cut(pair, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}
