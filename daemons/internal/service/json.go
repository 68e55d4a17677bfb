package service

import (
	"encoding/json"
	"fmt"

	"go.uber.org/zap/zapcore"
)

// jsonRecord has the keys of oslo.log's JSONFormatter that log pipelines use.
type jsonRecord struct {
	Message   string         `json:"message"`
	Asctime   string         `json:"asctime"`
	Name      string         `json:"name"`
	LevelName string         `json:"levelname"`
	LevelNo   int            `json:"levelno"`
	Process   int            `json:"process"`
	Hostname  string         `json:"hostname"`
	Created   float64        `json:"created"`
	Msecs     float64        `json:"msecs"`
	PathName  string         `json:"pathname,omitempty"`
	LineNo    int            `json:"lineno,omitempty"`
	FuncName  string         `json:"funcname,omitempty"`
	Traceback *string        `json:"traceback"`
	Context   map[string]any `json:"context"`
	Extra     map[string]any `json:"extra"`
}

func formatJSON(o origin, e zapcore.Entry, fields []zapcore.Field) []byte {
	level, number := levelName(e.Level)
	request, attrs := attributes(fields)
	record := jsonRecord{
		Message: e.Message, Asctime: e.Time.Local().Format("2006-01-02 15:04:05"),
		Name: loggerName(e), LevelName: level, LevelNo: number, Process: o.pid, Hostname: o.host,
		Created: float64(e.Time.UnixMicro()) / 1e6, Msecs: float64(e.Time.Nanosecond()/1e3) / 1e3,
		Context: requestObject(request), Extra: map[string]any{},
	}
	if e.Caller.Defined {
		record.PathName, record.LineNo, record.FuncName = e.Caller.File, e.Caller.Line, functionName(e.Caller.Function)
	}
	for _, a := range attrs {
		record.Extra[a.key] = a.value
	}
	line, err := json.Marshal(record)
	if err != nil {
		// A value that JSON cannot carry (NaN, a channel) is written as text.
		for key, value := range record.Extra {
			record.Extra[key] = fmt.Sprint(value)
		}
		line, _ = json.Marshal(record)
	}
	return append(line, '\n')
}

func requestObject(r *Request) map[string]any {
	out := map[string]any{}
	if r == nil {
		return out
	}
	for key, value := range map[string]string{
		"request_id": r.ID, "global_request_id": r.GlobalID, "user": r.User, "project_id": r.Project,
		"domain": r.Domain, "system_scope": r.SystemScope, "user_domain": r.UserDomain, "project_domain": r.ProjectDomain,
	} {
		out[key] = value
		if value == "" {
			out[key] = nil
		}
	}
	return out
}
