package config

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// iniCase is one recorded reading of oslo.config.
type iniCase struct {
	Name       string
	Files      map[string]string
	Argv       []string
	Env        map[string]string
	Opts       [][]json.RawMessage
	ParseError *string `json:"parse_error"`
	Values     map[string]json.RawMessage
	Log        []string
}

// tally counts the outcome of the vectors of one area.
type tally struct{ passed, failed, skipped int }

func TestVectors(t *testing.T) {
	dir := filepath.Join("testdata", "vectors", "conf")
	if root := os.Getenv("VECTORS_DIR"); root != "" {
		dir = filepath.Join(root, "conf")
	}
	var count tally
	t.Cleanup(func() {
		fmt.Fprintf(os.Stdout, "conf vectors: %d passed, %d failed, %d skipped\n", count.passed, count.failed, count.skipped)
	})
	run := func(name string, check func(*testing.T)) {
		if t.Run(name, check) {
			count.passed++
		} else {
			count.failed++
		}
	}
	for _, c := range readVectors[iniCase](t, dir, "oslo_config_ini.json") {
		run(c.Name, c.check)
	}
	for _, c := range readVectors[lookupCase](t, dir, "default_config_lookup.json") {
		run(c.Name, c.check)
	}
	for _, o := range readOptions(t, dir) {
		run(o.Group+"/"+o.Dest, o.check)
	}
}

func readVectors[T any](t *testing.T, dir, name string) []T {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		return nil
	}
	var out []T
	if err == nil {
		err = json.Unmarshal(content, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// peerOption is one option as the peer declares it.
type peerOption struct {
	Group, Dest, Type string
	Default           any
	Secret, Mutable   bool
	CLI               bool
	DeprecatedOpts    []string `json:"deprecated_opts"`
	Min, Max          *float64
	Choices           []*string
}

func readOptions(t *testing.T, dir string) []peerOption {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "options.json"))
	if os.IsNotExist(err) {
		return nil
	}
	var file struct{ Options []peerOption }
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Options
}

// notDeclared are the options that are read before any other or that describe
// only the peer's command line.
var notDeclared = []string{"config_file", "config_dir", "config_source", "shell_completion"}

// The table must declare what the peer declares: type, default, former names.
func (o peerOption) check(t *testing.T) {
	if slices.Contains(notDeclared, o.Dest) {
		return
	}
	facts := Facts{Hostname: "<gethostname()>", FQDN: "<getfqdn()>", Program: "<argv[0] basename>"}
	schema, err := NewSchema(Options(facts))
	if err != nil {
		t.Fatal(err)
	}
	// The specification renames it and keeps the old name.
	if o.Dest == "passthrough_whitelist" {
		o.Dest = "device_spec"
	}
	i, ok := schema.index[Name{o.Group, o.Dest}]
	if !ok {
		t.Fatal("not declared")
	}
	got := schema.options[i]
	kinds := map[string]Kind{"Integer": Int, "Boolean": Bool, "List": List, "Float": Float, "MultiString": MultiStr, "HostAddress": HostAddr, "Port": Port}
	want := kinds[o.Type]
	if want == "" {
		want = Str
	}
	if got.Kind != want || got.Secret != o.Secret || got.Mutable != o.Mutable || got.Flag != "" != o.CLI {
		t.Errorf("kind %s, secret %v, mutable %v, flag %q; want %+v", got.Kind, got.Secret, got.Mutable, got.Flag, o)
	}
	// A choice of nothing is "unset" here.
	choices := slices.DeleteFunc(o.Choices, func(c *string) bool { return c == nil })
	if diff := cmp.Diff(len(choices), len(got.Choices)); diff != "" {
		t.Errorf("choices (-oslo +ours):\n%s", diff)
	}
	for _, former := range o.DeprecatedOpts {
		group, name, _ := strings.Cut(former, ".")
		if !slices.Contains(got.former, normalName(group, name)) {
			t.Errorf("former name %s is missing", former)
		}
	}
	text := func(v any) string { return strings.TrimSuffix(strings.Trim(fmt.Sprint(v), "[]"), "<nil>") }
	// A directory of Python's has no meaning here.
	if text(o.Default) != text(got.Default) && o.Dest != "pybasedir" {
		t.Errorf("default %v, want %v", got.Default, o.Default)
	}
}

func (c iniCase) check(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, c.Files)
	options, keys := c.options(t)
	schema, err := NewSchema(options)
	if err != nil {
		t.Fatal(err)
	}
	src := Source{Program: "vectors", Args: c.args(dir), Root: dir}
	for k, v := range c.Env {
		src.Environ = append(src.Environ, k+"="+v)
	}
	cfg, err := Read(schema, src)
	if c.ParseError != nil {
		if err == nil {
			err = cfg.Check()
		}
		c.checkParseError(t, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range options {
		c.checkValue(t, cfg, o, keys[i])
	}
	if len(c.Log) > 0 {
		if diff := cmp.Diff(c.Log, cfg.Warnings()); diff != "" {
			t.Errorf("warnings (-oslo +ours):\n%s", diff)
		}
	}
}

func (c iniCase) checkParseError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted; oslo.config says %s", *c.ParseError)
	}
	// "at main.conf:2," names the line; ours must be the same.
	if _, at, ok := strings.Cut(*c.ParseError, ": at "); ok {
		at, _, _ = strings.Cut(at, ",")
		if !strings.Contains(err.Error(), at) {
			t.Errorf("error %q does not name %s", err, at)
		}
	}
}

func (c iniCase) checkValue(t *testing.T, cfg *Config, o Option, key string) {
	t.Helper()
	got, err := cfg.Value(o.Group, o.Name)
	if o.Kind == MultiStr && c.Env[environmentName(normalName(o.Group, o.Name))] != "" {
		// The one deviation: the peer would split the text into characters.
		if err == nil {
			t.Errorf("%s: set from the environment to %v, want an error", key, got)
		}
		return
	}
	var failure struct{ Error string }
	if json.Unmarshal(c.Values[key], &failure) == nil && failure.Error != "" {
		if err == nil {
			t.Errorf("%s = %#v, want an error like %q", key, got, failure.Error)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return
	}
	want := decodeNumber(t, c.Values[key])
	if diff := cmp.Diff(want, jsonValue(got)); diff != "" {
		t.Errorf("%s (-oslo +ours):\n%s", key, diff)
	}
}

// decodeNumber keeps the digits of numbers.
func decodeNumber(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func jsonValue(v any) any {
	switch v := v.(type) {
	case int64, *big.Int:
		return json.Number(fmt.Sprint(v))
	case float64:
		return json.Number(pythonFloat(v))
	case []string:
		out := []any{}
		for _, s := range v {
			out = append(out, s)
		}
		return out
	case map[string]string:
		out := map[string]any{}
		for k, s := range v {
			out[k] = s
		}
		return out
	}
	return v
}

func (c iniCase) args(dir string) []string {
	out := slices.Clone(c.Argv)
	for i, a := range out {
		flag, value, joined := strings.Cut(a, "=")
		switch {
		case joined && strings.HasPrefix(flag, "--config-"):
			out[i] = flag + "=" + filepath.Join(dir, value)
		case i > 0 && (out[i-1] == "--config-file" || out[i-1] == "--config-dir"):
			out[i] = filepath.Join(dir, a)
		}
	}
	return out
}

func (c iniCase) options(t *testing.T) ([]Option, []string) {
	t.Helper()
	var options []Option
	var keys []string
	for _, raw := range c.Opts {
		var o Option
		var kind string
		var more struct {
			Default    json.RawMessage
			Deprecated [][2]*string
			Min, Max   *float64
			Choices    []string
			IgnoreCase bool `json:"ignore_case"`
			Regex      string
			MaxLength  int `json:"max_length"`
			Required   bool
			Quotes     bool
			Bounds     bool
			ForRemoval bool   `json:"deprecated_for_removal"`
			Reason     string `json:"deprecated_reason"`
		}
		targets := []any{&o.Group, &o.Name, &kind, &more}
		for i, r := range raw {
			if err := json.Unmarshal(r, targets[i]); err != nil {
				t.Fatalf("option %s: %v", r, err)
			}
		}
		o.Kind = Kind(strings.Replace(kind, "host", "hostaddr", 1))
		o.Min, o.Max, o.Choices, o.IgnoreCase = more.Min, more.Max, more.Choices, more.IgnoreCase
		o.Pattern, o.MaxLength, o.Required = more.Regex, more.MaxLength, more.Required
		o.Quotes, o.Bounds = more.Quotes, more.Bounds
		o.Flag = strings.ReplaceAll(o.Name, "_", "-")
		if more.ForRemoval {
			o.Removal = more.Reason
		}
		for _, d := range more.Deprecated {
			o.Deprecated = append(o.Deprecated, Name{Group: deref(d[0]), Option: deref(d[1])})
		}
		o.Default = caseDefault(t, o.Kind, more.Default)
		options = append(options, o)
		keys = append(keys, fmt.Sprintf("[%s] %s", o.Group, o.Name))
	}
	return options, keys
}

func caseDefault(t *testing.T, kind Kind, raw json.RawMessage) any {
	t.Helper()
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var list []string
	if (kind == List || kind == MultiStr) && json.Unmarshal(raw, &list) == nil {
		return list
	}
	return decodeNumber(t, raw)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// lookupCase is one recorded search for default files; ~/.proj and prog stand for
// the project's and the program's names.
type lookupCase struct {
	Name string
	Args []string
	A    string
	M    []string
}

func (c lookupCase) check(t *testing.T) {
	home := t.TempDir()
	files := map[string]string{
		".cyborg/cyborg.conf":          "projconf",
		".cyborg/prog.conf":            "progconf",
		".cyborg/cyborg.conf.d/a.conf": "projd",
		".cyborg/prog.conf.d/a.conf":   "progd",
		"x.conf":                       "x",
		"xd/a.conf":                    "xd",
		"cyborg.conf":                  "home",
	}
	for name, value := range files {
		files[name] = fmt.Sprintf("[DEFAULT]\na = %s\nm = %s\n", value, value)
	}
	writeFiles(t, home, files)
	schema, err := NewSchema([]Option{{Name: "a"}, {Name: "m", Kind: MultiStr}})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(schema, Source{Program: "prog", Args: c.Args, Home: home, Root: home})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.M, cfg.List("", "m")); diff != "" {
		t.Errorf("m (-oslo +ours):\n%s", diff)
	}
	if got := cfg.String("", "a"); got != c.A {
		t.Errorf("a = %q, want %q", got, c.A)
	}
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
