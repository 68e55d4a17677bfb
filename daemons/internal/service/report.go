package service

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"time"
)

// Section writes one part of a report: RPCs in flight, ARQs being bound,
// cleanups running. It must not block.
type Section func(w io.Writer)

// Reports collects the sections of the report made on USR2. It is safe for
// concurrent use.
type Reports struct {
	mu       sync.Mutex
	names    []string
	sections []Section
}

// Add adds a section under a heading.
func (r *Reports) Add(name string, s Section) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, name)
	r.sections = append(r.sections, s)
}

func (r *Reports) write(w io.Writer) {
	r.mu.Lock()
	names, sections := r.names, r.sections
	r.mu.Unlock()
	for i, s := range sections {
		heading(w, names[i])
		s(w)
	}
}

// WriteReport writes the report: package, process, readiness, the sections of
// [Process.Reports], the configuration with secrets masked, goroutine stacks.
func (p *Process) WriteReport(w io.Writer) {
	heading(w, "Package")
	fmt.Fprintf(w, "program = %s\nversion = %s\ngo = %s\n", p.Program, Version(), runtime.Version())
	heading(w, "Process")
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Fprintf(w, "pid = %d\ngoroutines = %d\nheap bytes = %d\ntime = %s\n",
		os.Getpid(), runtime.NumGoroutine(), memory.HeapAlloc, time.Now().Format(time.RFC3339))
	heading(w, "Readiness")
	for _, r := range p.Readiness.Reasons() {
		fmt.Fprintf(w, "%s: %s\n", r.Condition, r.Reason)
	}
	p.Reports.write(w)
	heading(w, "Configuration")
	if err := p.Config.Write(w); err != nil {
		fmt.Fprintln(w, err)
	}
	heading(w, "Goroutines")
	if err := pprof.Lookup("goroutine").WriteTo(w, 2); err != nil {
		fmt.Fprintln(w, err)
	}
}

// writeReport sends the report to standard error or into [oslo_reports] log_dir.
func (p *Process) writeReport() {
	dir := p.Config.String("oslo_reports", "log_dir")
	if dir == "" {
		p.WriteReport(os.Stderr)
		return
	}
	path := filepath.Join(dir, p.Program+"_gurumeditation_"+time.Now().Format("20060102150405"))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		p.log.Error("report cannot be written", "error", err)
		return
	}
	defer file.Close()
	p.WriteReport(file)
	p.log.Info("report written", "path", path)
}

func heading(w io.Writer, name string) {
	fmt.Fprintf(w, "========================================================================\n====%32s%s\n========================================================================\n", "", name)
}

// Version is the version of this build: the module's, else the revision.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "unknown"
}
