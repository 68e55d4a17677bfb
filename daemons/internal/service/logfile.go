package service

import (
	"fmt"
	"log/syslog"
	"os"
	"strings"
	"sync"
)

// logFile appends to a file that can be opened anew after a rotation.
type logFile struct {
	path string
	mu   sync.Mutex
	file *os.File
}

func openLogFile(path string) (*logFile, error) {
	f := &logFile{path: path}
	return f, f.Reopen()
}

// Reopen opens the path again; when that fails the old file stays in use.
func (f *logFile) Reopen() error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return fmt.Errorf("open log file: %w; make its directory writable for this user or change log_file", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		f.file.Close()
	}
	f.file = file
	return nil
}

func (f *logFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Write(p)
}

func (f *logFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// dialSyslog connects to the local syslog daemon. Records carry their own level
// in the text; the priority is INFO for all of them.
func dialSyslog(facility, program string) (*syslog.Writer, error) {
	priority, ok := facilities()[strings.TrimPrefix(strings.ToUpper(facility), "LOG_")]
	if !ok {
		return nil, fmt.Errorf("option [DEFAULT] syslog_log_facility: %q is not a facility such as LOG_USER or LOG_LOCAL0", facility)
	}
	w, err := syslog.New(priority|syslog.LOG_INFO, program)
	if err != nil {
		return nil, fmt.Errorf("connect to the local syslog daemon: %w; start it or unset use_syslog", err)
	}
	return w, nil
}

func facilities() map[string]syslog.Priority {
	return map[string]syslog.Priority{
		"KERN": syslog.LOG_KERN, "USER": syslog.LOG_USER, "MAIL": syslog.LOG_MAIL, "DAEMON": syslog.LOG_DAEMON,
		"AUTH": syslog.LOG_AUTH, "SYSLOG": syslog.LOG_SYSLOG, "LPR": syslog.LOG_LPR, "NEWS": syslog.LOG_NEWS,
		"UUCP": syslog.LOG_UUCP, "CRON": syslog.LOG_CRON, "AUTHPRIV": syslog.LOG_AUTHPRIV, "FTP": syslog.LOG_FTP,
		"LOCAL0": syslog.LOG_LOCAL0, "LOCAL1": syslog.LOG_LOCAL1, "LOCAL2": syslog.LOG_LOCAL2, "LOCAL3": syslog.LOG_LOCAL3,
		"LOCAL4": syslog.LOG_LOCAL4, "LOCAL5": syslog.LOG_LOCAL5, "LOCAL6": syslog.LOG_LOCAL6, "LOCAL7": syslog.LOG_LOCAL7,
	}
}
