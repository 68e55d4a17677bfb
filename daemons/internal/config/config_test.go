package config

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read reads one file with the real table of options.
func read1(t *testing.T, text string, environ ...string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"cyborg.conf": text})
	return Read(realSchema(t), Source{
		Program: "cyborg-agent", Args: []string{"--config-file", filepath.Join(dir, "cyborg.conf")}, Environ: environ, Root: dir,
	})
}

func realSchema(t testing.TB) *Schema {
	t.Helper()
	schema, err := NewSchema(Options(Facts{Hostname: "node7", FQDN: "node7.cloud.example", Program: "cyborg-agent"}))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	c, err := read1(t, "")
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.String("agent", "resource_provider_name") != "node7.cloud.example" || c.String("DEFAULT", "host") != "node7" {
		t.Error("names of the host are not the defaults")
	}
	if c.String("upgrade_levels", "conductor") != "1.1" || c.String("upgrade_levels", "agent") != "1.0" {
		t.Error("caps of the specification are not the defaults")
	}
}

// Old and new name of device_spec: all values count, the old ones first, and one
// warning is written.
func TestOldAndNewNameTogether(t *testing.T) {
	t.Parallel()
	c, err := read1(t, "[PCI]\npassthrough_whitelist = o1\ndevice-spec = n1\npassthrough_whitelist = o2\n")
	if err != nil {
		t.Fatal(err)
	}
	var values, names []string
	var lines []int
	for _, e := range c.Entries("pci", "device_spec") {
		values = append(values, e.Value)
		names = append(names, e.Origin.As.String())
		lines = append(lines, e.Origin.Line)
	}
	if diff := cmp.Diff([]string{"o1", "o2", "n1"}, values); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"[PCI] passthrough_whitelist", "[PCI] passthrough_whitelist", "[PCI] device-spec"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{2, 4, 3}, lines); diff != "" {
		t.Error(diff)
	}
	want := []string{`Deprecated: Option "passthrough_whitelist" from group "pci" is deprecated. Use option "device_spec" from group "pci".`}
	if diff := cmp.Diff(want, c.Warnings()); diff != "" {
		t.Error(diff)
	}
}

func TestCommentInsideJSONNamesFileAndLine(t *testing.T) {
	t.Parallel()
	for _, between := range []string{"# only the A16 cards", "", "   "} {
		_, err := read1(t, "[pci]\ndevice_spec = {\"vendor_id\": \"10de\",\n"+between+"\n               \"product_id\": \"25b6\",\n")
		var parse *ParseError
		if !errors.As(err, &parse) || parse.Line != 4 || !strings.HasSuffix(parse.File, "cyborg.conf") {
			t.Errorf("%q: error %v, want a parse error at line 4", between, err)
		}
	}
}

func TestVersionCaps(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		option, value string
		says          string
	}{
		{"conductor", "1.0", ""},
		{"conductor", "1.1", ""},
		{"conductor", " 1.1 ", ""},
		{"agent", "1.0", ""},
		{"conductor", "auto", "set the version by hand"},
		{"conductor", "AUTO", "set the version by hand"},
		{"conductor", "1", "MAJOR.MINOR"},
		{"conductor", "", "MAJOR.MINOR"},
		{"conductor", "1.01", "MAJOR.MINOR"},
		{"conductor", "1.1.0", "MAJOR.MINOR"},
		{"conductor", `" 1.1 "`, "MAJOR.MINOR"},
		{"conductor", "v1.1", "MAJOR.MINOR"},
		{"conductor", "1.2", "not supported by this client"},
		{"conductor", "2.0", "not supported by this client"},
		{"agent", "1.1", "not supported by this client"},
	} {
		c, err := read1(t, "[upgrade_levels]\n"+tc.option+" = "+tc.value+"\n")
		if err != nil {
			t.Fatal(err)
		}
		err = c.Check()
		if tc.says == "" {
			if err != nil {
				t.Errorf("%s = %q: %v", tc.option, tc.value, err)
			}
			continue
		}
		for _, part := range []string{tc.says, "[upgrade_levels] " + tc.option, "cyborg.conf:2", "allowed are 1.0"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s = %q: error %v does not say %q", tc.option, tc.value, err, part)
			}
		}
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	c, err := read1(t, "[DEFAULT]\nrpc_response_timeout = soon\n[api]\nport = 70000\n[nvme]\ncleanup_timeout = 3\n[cache]\nexpiration_time = x\n")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Check()
	for _, part := range []string{"rpc_response_timeout", "cyborg.conf:2", `"soon"`, "[api] port", "65535", "cleanup_timeout", "60"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "expiration_time") {
		t.Error("an option without effect stopped the daemon")
	}
	var value *ValueError
	if !errors.As(err, &value) || value.Origin.Place != FromFile {
		t.Errorf("no ValueError in %v", err)
	}
}

func TestMissingFilesAreOneClearError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Load(realSchema(t), Source{Root: dir, Args: []string{
		"--config-file", dir + "/no.conf", "--config-dir=" + dir + "/no.d",
	}})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want fs.ErrNotExist inside", err)
	}
	for _, part := range []string{"/no.conf (named by --config-file): no such file", "/no.d (named by --config-dir)", "correct the path"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if _, err = Load(realSchema(t), Source{Root: dir, Args: []string{"--config-file", dir}}); err == nil {
		t.Error("a directory was read as a file")
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"f.conf": "[DEFAULT]\nlog_file = file\nlog_dir = file\ndebug = true\n"})
	c, err := Load(realSchema(t), Source{
		Root: dir, Environ: []string{"OS_DEFAULT__LOG_FILE=environment", "OS_OSLO_MESSAGING_RABBIT__PROCESSNAME=x"},
		Args: []string{"check-config", "--config-file", dir + "/f.conf", "--log-file=cli", "--log-dir", "cli", "--nodebug", "more"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.String("DEFAULT", "log_file") != "environment" || c.String("DEFAULT", "log_dir") != "cli" || c.Bool("DEFAULT", "debug") {
		t.Errorf("log_file %q, log_dir %q, debug %v", c.String("DEFAULT", "log_file"), c.String("DEFAULT", "log_dir"), c.Bool("DEFAULT", "debug"))
	}
	if c.String("oslo_messaging_rabbit", "processname") != "x" || c.String("oslo_messaging_rabbit", "hostname") != "node7" {
		t.Error("environment of a group is not read")
	}
	if !slices.Equal(c.Args(), []string{"check-config", "more"}) {
		t.Errorf("words %q", c.Args())
	}
}

func TestArgumentErrors(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--no-such"}, {"--config-file"}, {"--debug=true"}} {
		var argument *ArgumentError
		if _, err := Load(realSchema(t), Source{Root: t.TempDir(), Args: args}); !errors.As(err, &argument) {
			t.Errorf("%q: error %v", args, err)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	c, err := read1(t, "[DEFAULT]\ntransport_url = rabbit://u:hunter2@h\n[nova]\npassword = hunter2$nope\n[placement]\npassword = hunter2\n")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "[nova] password") {
		t.Errorf("error %v", err)
	}
	if strings.Contains(b.String(), "hunter2") || !strings.Contains(b.String(), "transport_url = ****") {
		t.Errorf("dump:\n%s", b.String())
	}
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"good.conf": "[DEFAULT]\ndebug = true\n[pci]\ndevice_spce = {}\n[nonsense]\na = 1\n",
		"bad.conf":  "[api]\nport = x\n[DEFAULT]\ndebug = 7\n",
		"torn.conf": "debug = 1\n",
	})
	for _, tc := range []struct {
		file     string
		code     int
		problems []string
	}{
		{"good.conf", 0, []string{"[pci] device_spce at", "good.conf:4 is ignored", "[nonsense] a at"}},
		{"bad.conf", 1, []string{"error: option [api] port", "error: option [DEFAULT] debug"}},
		{"torn.conf", 1, []string{"torn.conf:1"}},
	} {
		var out, problems strings.Builder
		code := CheckConfig(realSchema(t), Source{Root: dir, Args: []string{"check-config", "--config-file", filepath.Join(dir, tc.file)}}, &out, &problems, nil)
		if code != tc.code {
			t.Errorf("%s: exit code %d, want %d", tc.file, code, tc.code)
		}
		for _, part := range tc.problems {
			if !strings.Contains(problems.String(), part) {
				t.Errorf("%s: problems %q lack %q", tc.file, problems.String(), part)
			}
		}
	}
}

func TestCheckConfigRunsTheDaemonsOwnChecks(t *testing.T) {
	t.Parallel()
	var out, problems strings.Builder
	code := CheckConfig(realSchema(t), Source{Root: t.TempDir()}, &out, &problems, func(*Config) error { return errors.New("spec is wrong") })
	if code != 1 || !strings.Contains(problems.String(), "error: spec is wrong") {
		t.Errorf("code %d, problems %q", code, problems.String())
	}
	problems.Reset()
	code = CheckConfig(realSchema(t), Source{Root: t.TempDir(), Environ: []string{"OS_API__PORT=x"}}, &out, &problems, func(*Config) error {
		return &FileError{Err: errors.New("and a second")}
	})
	if code != 1 || !strings.Contains(problems.String(), "and a second") || !strings.Contains(problems.String(), "error: option [api] port") {
		t.Errorf("beside a value that is not valid: code %d, problems %q", code, problems.String())
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	before, err := read1(t, "[DEFAULT]\ndebug = false\n[nova]\npassword = a\n")
	if err != nil {
		t.Fatal(err)
	}
	after, err := read1(t, "[DEFAULT]\ndebug = true\n[nova]\npassword = b\n[pci]\nexclude_list = a,b\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{Name: Name{"DEFAULT", "debug"}, Old: "False", New: "True", Mutable: true},
		{Name: Name{"nova", "password"}, Old: "****", New: "****"},
		{Name: Name{"pci", "exclude_list"}, Old: "[]", New: "['a', 'b']"},
	}
	if diff := cmp.Diff(want, Changes(before, after)); diff != "" {
		t.Error(diff)
	}
}

func TestSelfReferenceIsAnError(t *testing.T) {
	t.Parallel()
	c, err := read1(t, "[DEFAULT]\nlog_file = $log_dir\nlog_dir = $log_file\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Value("DEFAULT", "log_file"); err == nil || !strings.Contains(err.Error(), "refers to itself") {
		t.Errorf("error %v", err)
	}
}

func TestHostFactsNameThisHost(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := HostFacts(ctx, "cyborg-agent"); f.Hostname == "" || f.FQDN != f.Hostname {
		t.Errorf("facts %+v without a name service", f)
	}
}
