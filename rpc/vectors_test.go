package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

// vectors are the captures from real peers, and the count of those that we agree with.
type vectors struct {
	dir string

	mu                      sync.Mutex
	passed, failed, skipped int
}

// TestVectors checks the codec and the rules against what oslo.messaging 18.3 and Cyborg 17.0.0 did. VECTORS_DIR replaces
// the recordings kept here.
func TestVectors(t *testing.T) {
	v := &vectors{dir: filepath.Join("testdata", "vectors", "rpc")}
	if dir := os.Getenv("VECTORS_DIR"); dir != "" {
		v.dir = filepath.Join(dir, "rpc")
	}
	t.Run("bodies", v.bodies)
	t.Run("version-compat", v.versionCompat)
	t.Run("transport-url-parse", v.transportURLs)
	t.Run("context-from-dict", v.contexts)
	t.Run("option-matrix", v.optionMatrix)
	t.Run("declared-defaults", v.declaredDefaults)
	t.Run("queues-after-clients-exit", v.queuesLeft)
	t.Run("request-acceptance", v.requestAcceptance)
	t.Run("reply-acceptance", v.replyAcceptance)
	t.Run("fake-driver", v.fakeDriver)
	fmt.Fprintf(os.Stdout, "rpc vectors: %d passed, %d failed, %d skipped\n", v.passed, v.failed, v.skipped)
	if v.failed > 0 {
		t.Fail()
	}
	if v.passed == 0 {
		t.Error("no vector was found")
	}
}

// load reads a file of cases and reports whether there is one.
func (v *vectors) load(t *testing.T, path string, into any) bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(v.dir, path))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return true
}

// check counts one case; f reports problems to its t.
func (v *vectors) check(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	ok := t.Run(name, f)
	v.mu.Lock()
	defer v.mu.Unlock()
	if ok {
		v.passed++
	} else {
		v.failed++
	}
}

func (v *vectors) skip(t *testing.T, name, reason string) {
	t.Helper()
	t.Run(name, func(t *testing.T) { t.Skip(reason) })
	v.mu.Lock()
	defer v.mu.Unlock()
	v.skipped++
}

func (v *vectors) fakeDriver(t *testing.T) {
	var file struct{ Cases []struct{ Case string } }
	if !v.load(t, "topology/fake-driver.json", &file) {
		return
	}
	for _, c := range file.Cases {
		v.skip(t, c.Case, "the fake driver has no wire")
	}
}

// pythonText is raw JSON as json.dumps would write it.
func pythonText(t *testing.T, raw []byte) []byte {
	t.Helper()
	out, err := appendPython(nil, pyjson.NewReader(raw))
	if err != nil {
		t.Fatalf("%.80s: %v", raw, err)
	}
	return out
}

func appendPython(dst []byte, r *pyjson.Reader) ([]byte, error) {
	switch r.Peek() {
	case pyjson.Object:
		return appendMembers(dst, r)
	case pyjson.Array:
		return appendElements(dst, r)
	case pyjson.String:
		s, err := r.ReadString()
		if err != nil {
			return nil, err
		}
		return pyjson.AppendString(dst, s)
	default:
		raw, err := r.ReadRaw()
		return append(dst, raw...), err
	}
}

func appendMembers(dst []byte, r *pyjson.Reader) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	more, err := r.BeginObject()
	for ; more && err == nil; more, err = r.NextMember() {
		if !first {
			dst = append(dst, pyjson.ItemSeparator...)
		}
		first = false
		key, err := r.ReadKey()
		if err != nil {
			return nil, err
		}
		if dst, err = pyjson.AppendString(dst, key); err != nil {
			return nil, err
		}
		dst = append(dst, pyjson.KeySeparator...)
		if dst, err = appendPython(dst, r); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), err
}

func appendElements(dst []byte, r *pyjson.Reader) ([]byte, error) {
	dst = append(dst, '[')
	first := true
	more, err := r.BeginArray()
	for ; more && err == nil; more, err = r.NextElement() {
		if !first {
			dst = append(dst, pyjson.ItemSeparator...)
		}
		first = false
		if dst, err = appendPython(dst, r); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), err
}

// same reports a difference.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
