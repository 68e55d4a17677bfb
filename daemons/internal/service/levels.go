package service

import (
	"fmt"
	"strings"

	"go.uber.org/zap/zapcore"
)

// levels decides which records pass: by logger name, else by the general level.
type levels struct {
	general zapcore.Level
	byName  map[string]zapcore.Level
	lowest  zapcore.Level
}

func newLevels(debug bool, pairs []string) (*levels, error) {
	l := &levels{general: zapcore.InfoLevel, byName: map[string]zapcore.Level{}}
	if debug {
		l.general = zapcore.DebugLevel
	}
	l.lowest = l.general
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		level, known := parseLevel(strings.TrimSpace(text))
		if !ok || !known {
			return nil, fmt.Errorf("option [DEFAULT] default_log_levels: %q is not logger=LEVEL with DEBUG, INFO, WARNING, ERROR or CRITICAL", pair)
		}
		l.byName[strings.TrimSpace(name)] = level
		l.lowest = min(l.lowest, level)
	}
	return l, nil
}

// of returns the level of the longest dotted prefix of name.
func (l *levels) of(name string) zapcore.Level {
	for name != "" {
		if level, ok := l.byName[name]; ok {
			return level
		}
		dot := strings.LastIndexByte(name, '.')
		name = name[:max(dot, 0)]
	}
	return l.general
}
