package ovo

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/interop/peer.py
var peerScript string

// TestInteropDifferential drives random classes, objects, changes, versions and texts through the real oslo.versionedobjects and through this package, and
// compares everything that comes out. It needs CYBORG_PEERS, which .ci/interop sets; OVO_SEED repeats a run, OVO_ROUNDS changes its length.
func TestInteropDifferential(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, peerFolder(t, "forky"))
	rounds := setting(t, "OVO_ROUNDS", 3000)
	if testing.Short() {
		rounds = setting(t, "OVO_ROUNDS", 300)
	}
	seed := uint64(setting(t, "OVO_SEED", int(time.Now().UnixNano()&0xffffffff)))
	differences := 0
	for i := range rounds {
		r, err := newRound(mustWorld(t, seed, i))
		if err != nil {
			t.Fatalf("seed %d round %d: %v", seed, i, err)
		}
		var a answer
		peer.ask(t, r.req, &a)
		if d := r.differences(&a); len(d) > 0 {
			differences++
			if differences <= 10 {
				t.Errorf("seed %d round %d: %s\nclasses %s\nsteps %s", seed, i, strings.Join(d, "\n  "), plainJSON(r.req.Classes), plainJSON(r.req.Steps))
			}
		}
	}
	fmt.Fprintf(os.Stdout, "ovo differential: %d rounds, %d differences, seed %d\n", rounds, differences, seed)
	if differences > 0 {
		t.Errorf("%d rounds differ", differences)
	}
}

// mustWorld makes the classes of a round; a round depends on nothing but seed and number.
func mustWorld(t *testing.T, seed uint64, round int) *world {
	t.Helper()
	w, err := newWorld(rand.New(rand.NewPCG(seed, uint64(round))))
	if err != nil {
		t.Fatalf("seed %d round %d: %v", seed, round, err)
	}
	return w
}

func setting(t *testing.T, name string, def int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func plainJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// peerFolder finds the chroot of a suite in CYBORG_PEERS ("suite=folder suite=folder").
func peerFolder(t *testing.T, suite string) string {
	t.Helper()
	for p := range strings.FieldsSeq(os.Getenv("CYBORG_PEERS")) {
		if dir, ok := strings.CutPrefix(p, suite+"="); ok {
			return dir
		}
	}
	t.Skipf("CYBORG_PEERS names no %s; run make interop", suite)
	return ""
}

// peerProcess is the Python process.
type peerProcess struct {
	in  *json.Encoder
	out *bufio.Reader
}

func startPeer(t *testing.T, chroot string) *peerProcess {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "chroot", chroot, "python3", "-W", "ignore", "-c", peerScript)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PYTHONHASHSEED=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return &peerProcess{json.NewEncoder(in), bufio.NewReaderSize(out, 1<<16)}
}

func (p *peerProcess) ask(t *testing.T, question, answer any) {
	t.Helper()
	if err := p.in.Encode(question); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil && !(errors.Is(err, io.EOF) && len(line) > 0) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		t.Fatal(err)
	}
}

// differences compares what the peer gave with what ours gives.
func (r *round) differences(a *answer) []string {
	c := comparer{round: r}
	for name, theirs := range a.Fingerprints {
		c.equal("fingerprint of "+name, r.reg.Highest(name).Fingerprint(), theirs)
	}
	for name, theirs := range a.Manifests {
		m, err := r.reg.Manifest(name)
		if err != nil {
			c.add("manifest of " + name + ": " + err.Error())
		}
		c.equal("manifest of "+name, fmt.Sprint(m), fmt.Sprint(theirs))
	}
	for i, theirs := range a.Outcomes {
		c.outcome(fmt.Sprintf("step %d", i), nil, r.errs[i], theirs)
	}
	c.equal("changes", fmt.Sprint(r.view.Changes()), fmt.Sprint(a.Changes))
	c.text("text", r.view.String(), a.Text.JSON)
	own, err := r.reg.Append(nil, r.view.o)
	c.outcome("own", own, err, a.Own)
	c.clone(a.Clone)
	for i, b := range r.req.Backs {
		got, err := r.reg.AppendAt(nil, r.view.o, b.Target, b.Manifest)
		c.outcome("written at "+plainJSON(b), got, err, a.Backs[i])
	}
	for i, read := range r.req.Reads {
		c.read(read, a.Reads[i])
	}
	if a.Own.Error == "" {
		c.read(reading{Text: a.Own.JSON}, a.Again)
	}
	for i, q := range r.req.Lookups {
		class, err := r.reg.Lookup(q[0].(string), q[1].(string))
		version := ""
		if err == nil {
			version = class.version
		}
		if c.failure("look-up of "+fmt.Sprint(q), err, a.Lookups[i]) {
			c.equal("look-up of "+fmt.Sprint(q), version, a.Lookups[i].JSON)
		}
	}
	return c.found
}

// comparer collects differences.
type comparer struct {
	*round
	found []string
}

func (c *comparer) add(d string) { c.found = append(c.found, d) }

func (c *comparer) equal(what, ours, theirs string) {
	if ours != theirs {
		c.add(fmt.Sprintf("%s: ours %s, theirs %s", what, ours, theirs))
	}
}

// text compares the text form, in which a set has no order.
func (c *comparer) text(what, ours, theirs string) {
	if !c.hasSets {
		c.equal(what, ours, theirs)
	}
}

// failure compares errors by their Python class; it is true when both have none.
func (c *comparer) failure(what string, err error, theirs outcome) bool {
	if err == nil && theirs.Error == "" {
		return true
	}
	ours := ""
	if err != nil {
		ours = pythonClass(err)
	}
	chance := c.hasSets && ours != "" && theirs.Error != "" // which of two bad elements of a set comes first is chance in Python
	if ours != theirs.Error && !chance {
		c.add(fmt.Sprintf("%s: ours %q (%v), theirs %q (%s)", what, ours, err, theirs.Error, theirs.Message))
	}
	return false
}

// gap is the library's failure for a version between two entries of child_versions, where ours takes the earlier entry: see docs/ovo.md.
const gap = "'dict_items' object is not subscriptable"

func (c *comparer) outcome(what string, got []byte, err error, theirs outcome) {
	if theirs.Message == gap {
		return
	}
	if !c.failure(what, err, theirs) || theirs.JSON == "" && got == nil {
		return
	}
	ours, err := newDecoder(c.reg, got).value()
	want, err2 := newDecoder(c.reg, []byte(theirs.JSON)).value()
	if err := errors.Join(err, err2); err != nil {
		c.add(what + ": " + err.Error())
		return
	}
	if !same(c.canonical(ours, false), c.canonical(want, false), nil) {
		c.add(fmt.Sprintf("%s: ours %s, theirs %s", what, got, theirs.JSON))
	}
}

func (c *comparer) clone(theirs outcome) {
	clone, err := c.view.Clone()
	if err != nil {
		c.add("clone: " + err.Error())
		return
	}
	got, err := c.reg.Append(nil, clone)
	c.outcome("clone", got, err, theirs)
}

// read compares what becomes of a text.
func (c *comparer) read(r reading, theirs readOutcome) {
	o, err := c.reg.Decode([]byte(r.Text))
	if !c.failure("reading "+r.Text, err, theirs.outcome) {
		return
	}
	v, err := c.reg.View(o)
	if err != nil {
		c.add(err.Error())
		return
	}
	own, err := c.reg.Append(nil, o)
	c.outcome("read and written "+r.Text, own, err, theirs.Own)
	c.text("text of "+r.Text, v.String(), theirs.Text)
	c.equal("changes of "+r.Text, fmt.Sprint(v.Changes()), fmt.Sprint(theirs.Changes))
	got, err := c.reg.AppendAt(nil, o, r.Target, r.Manifest)
	c.outcome("read and written at "+plainJSON(r), got, err, theirs.Back)
}

// canonical sorts what has no order: dicts, lists of changes and, where there are sets, all lists.
func (c *comparer) canonical(v any, unordered bool) any {
	switch v := v.(type) {
	case []any:
		list, _ := eachItem(v, func(e any) (any, error) { return c.canonical(e, false), nil })
		if unordered || c.hasSets {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(pyRepr(a), pyRepr(b)) })
		}
		return list
	case *Dict:
		keys := slices.SortedFunc(slices.Values(v.keys), func(a, b any) int { return strings.Compare(pyRepr(a), pyRepr(b)) })
		d := &Dict{}
		for _, k := range keys {
			e, _ := v.Get(k)
			_ = d.Set(k, c.canonical(e, strings.HasSuffix(pyStr(k), ".changes")))
		}
		return d
	}
	return v
}
