package sysfstest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree maps slash-separated paths below the sysfs root to nodes. Parent
// directories are implied.
type Tree map[string]Node

// Node is one entry of a tree: a link when Link is set, else a directory when
// Dir is set, else a file with Content.
type Node struct {
	Dir     bool
	Link    string
	Content []byte
}

// ParseJSON reads a recorded tree.
func ParseJSON(data []byte) (Tree, error) {
	var file struct {
		Tree map[string]struct {
			Dir  bool    `json:"dir"`
			Link *string `json:"link"`
			Text *string `json:"text"`
			B64  *string `json:"b64"`
		} `json:"tree"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read a recorded sysfs tree: %w", err)
	}
	t := Tree{}
	for name, n := range file.Tree {
		below, ok := strings.CutPrefix(name, "/sys/")
		switch {
		case !ok:
		case n.Link != nil:
			t[below] = Node{Link: *n.Link}
		case n.Text != nil:
			t[below] = Node{Content: []byte(*n.Text)}
		case n.B64 != nil:
			content, err := base64.StdEncoding.DecodeString(*n.B64)
			if err != nil {
				return nil, fmt.Errorf("read a recorded sysfs tree: %s: %w", name, err)
			}
			t[below] = Node{Content: content}
		case n.Dir:
			t[below] = Node{Dir: true}
		}
	}
	return t, nil
}

// Merge gives a tree with the nodes of all trees; of nodes with the same path
// the last counts.
func Merge(trees ...Tree) Tree {
	out := Tree{}
	for _, t := range trees {
		maps.Copy(out, t)
	}
	return out
}

// Expand writes the tree below dir, which is created if it is missing. Links
// are written as they are, so they must be relative. On failure part of the
// tree may have been written.
func (t Tree) Expand(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("expand a sysfs tree: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("expand a sysfs tree: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if err := t[name].write(root, name); err != nil {
			return fmt.Errorf("expand a sysfs tree into %s: %w", dir, err)
		}
	}
	return nil
}

func (n Node) write(root *os.Root, name string) error {
	if err := root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return err
	}
	switch {
	case n.Link != "":
		return root.Symlink(filepath.FromSlash(n.Link), name)
	case n.Dir:
		return root.MkdirAll(name, 0o750)
	}
	return root.WriteFile(name, n.Content, 0o640)
}
