package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// scripts are the raw replies that the cases of reply-acceptance stand for; ID is the id of the call.
var scripts = map[string][]string{
	"minimal":                {`{"result": 1, "failure": null, "ending": true, "_msg_id": "ID", "_unique_id": "u"}`},
	"no_failure_key":         {`{"result": 1, "ending": true, "_msg_id": "ID"}`},
	"no_result_key":          {`{"failure": null, "ending": true, "_msg_id": "ID"}`},
	"no_ending":              {`{"result": 1, "failure": null, "_msg_id": "ID"}`},
	"no_ending_then_ending":  {`{"result": 1, "failure": null, "_msg_id": "ID"}`, `{"result": null, "failure": null, "ending": true, "_msg_id": "ID"}`},
	"two_part":               {`{"result": 7, "failure": null, "ending": false, "_msg_id": "ID"}`, `{"result": null, "failure": null, "ending": true, "_msg_id": "ID"}`},
	"dup_reply":              {`{"result": 1, "failure": null, "ending": true, "_msg_id": "ID"}`, `{"result": 2, "failure": null, "ending": true, "_msg_id": "ID"}`},
	"unsolicited_heartbeat":  {`{"result": null, "failure": null, "ending": false, "_msg_id": "ID"}`},
	"bare":                   {`BARE{"result": 3, "failure": null, "ending": true, "_msg_id": "ID"}`},
	"no_ct":                  {`NOCT{"result": 3, "failure": null, "ending": true, "_msg_id": "ID"}`},
	"wrong_then_right":       {`{"result": 9, "failure": null, "ending": true, "_msg_id": "other"}`, `{"result": 4, "failure": null, "ending": true, "_msg_id": "ID"}`},
	"garbage_then_right":     {`BAREgarbage`, `{"result": 4, "failure": null, "ending": true, "_msg_id": "ID"}`},
	"fail_go_unknown":        {failing(`{"class": "GoError", "module": "go", "message": "boom", "tb": ["tb line\n"], "args": [], "kwargs": {}}`)},
	"fail_cyborg_badkw":      {failing(`{"class": "ResourceNotFound", "module": "cyborg.common.exception", "message": "msg", "tb": [], "args": ["a", "b"], "kwargs": {}}`)},
	"fail_builtin":           {failing(`{"class": "ValueError", "module": "builtins", "message": "bad", "tb": ["t\n"], "args": ["bad"], "kwargs": {}}`)},
	"fail_exceptions_mod":    {failing(`{"class": "ValueError", "module": "exceptions", "message": "bad", "tb": ["t\n"], "args": ["bad"], "kwargs": {}}`)},
	"fail_builtin_notexc":    {failing(`{"class": "print", "module": "builtins", "message": "bad", "tb": [], "args": ["bad"], "kwargs": {}}`)},
	"fail_keyboardinterrupt": {failing(`{"class": "KeyboardInterrupt", "module": "builtins", "message": "bad", "tb": [], "args": ["bad"], "kwargs": {}}`)},
	"fail_null_class":        {failing(`{"class": null, "module": null, "message": "bad", "tb": [], "args": [], "kwargs": {}}`)},
	"fail_not_json":          {`{"result": null, "failure": "not json", "ending": true, "_msg_id": "ID"}`},
	"fail_dict":              {`{"result": null, "failure": {"class": "X"}, "ending": true, "_msg_id": "ID"}`},
	"fail_and_result":        {strings.Replace(failing(`{"class": "ValueError", "module": "builtins", "message": "bad", "tb": [], "args": ["bad"], "kwargs": {}}`), `"result": null`, `"result": 5`, 1)},
	"fail_not_ending_then_ending": {
		strings.Replace(failing(`{"class": "ValueError", "module": "builtins", "message": "bad", "tb": [], "args": ["bad"], "kwargs": {}}`), `"ending": true`, `"ending": false`, 1),
		`{"result": null, "failure": null, "ending": true, "_msg_id": "ID"}`,
	},
	"no_unique_id":   {`{"result": 1, "failure": null, "ending": true, "_msg_id": "ID"}`},
	"fail_cyborg_ok": {failing(`{"class": "ResourceNotFound", "module": "cyborg.common.exception", "message": "msg", "tb": [], "args": ["msg"], "kwargs": {"code": 404}}`)},
	"fail_empty_tb":  {failing(`{"class": "ValueError", "module": "builtins", "message": "bad", "tb": [], "args": ["bad"], "kwargs": {}}`)},
	"fail_tb_string": {failing(`{"class": "GoError", "module": "go", "message": "boom", "tb": "tb as string", "args": [], "kwargs": {}}`)},
	"fail_tb_null":   {failing(`{"class": "ValueError", "module": "builtins", "message": "bad", "tb": null, "args": ["bad"], "kwargs": {}}`)},
}

func failing(failure string) string {
	return `{"result": null, "failure": ` + strconv.Quote(failure) + `, "ending": true, "_msg_id": "ID"}`
}

type replyCase struct {
	Case    string
	Result  json.RawMessage
	Exc     string
	ExcType *string `json:"exc_type"`
	Str     string
}

func (v *vectors) replyAcceptance(t *testing.T) {
	var file struct{ Cases []replyCase }
	if !v.load(t, "topology/reply-acceptance.json", &file) {
		return
	}
	for _, c := range file.Cases {
		script, ok := scripts[c.Case]
		if !ok {
			v.skip(t, c.Case, "the name of the case does not say what was sent")
			continue
		}
		v.check(t, c.Case, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.check(t, script) })
		})
	}
}

func (c replyCase) check(t *testing.T, script []string) {
	bus := newTap()
	client := rpc.NewClient(bus, rpc.ClientConfig{Timeout: 2 * time.Second})
	var peer sync.WaitGroup // which goes on after the reply that counts
	peer.Go(func() {
		var r wire.Request
		if err := r.Decode((<-bus.sent).Body); err != nil {
			t.Error(err)
		}
		for _, line := range script {
			bus.deliver(scripted(t, strings.ReplaceAll(line, "ID", r.MsgID)))
		}
	})
	result, err := rpc.NewMethod[struct{}, json.RawMessage]("m", "1.0").Call(t.Context(), rpc.Remote{Client: client, Target: rpc.Target{Topic: "t"}}, struct{}{})
	c.compare(t, result, err)
	peer.Wait()
	if err := client.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func scripted(t *testing.T, line string) rpc.Delivery {
	if bare, ok := strings.CutPrefix(line, "BARE"); ok {
		return rpc.Delivery{Body: []byte(bare)}
	}
	line, unlabelled := strings.CutPrefix(line, "NOCT")
	text, err := json.Marshal(line)
	if err != nil {
		t.Error(err)
	}
	d := rpc.Delivery{Body: fmt.Appendf(nil, `{"oslo.version": "2.0", "oslo.message": %s}`, text)}
	if unlabelled {
		d.Invalid = wire.CheckContent("", "utf-8")
	}
	return d
}

// compare maps what a Python caller saw to what a Go caller sees. Where Python trips over its own feet, a Go caller gets the
// result, an error or at worst its timeout.
func (c replyCase) compare(t *testing.T, result json.RawMessage, err error) {
	t.Helper()
	var remote *rpc.RemoteError
	_, timedOut := errors.AsType[*rpc.TimeoutError](err)
	switch {
	case c.Exc == "":
		if err != nil {
			t.Fatal(err)
		}
		same(t, "result", string(orNullJSON(c.Result)), string(result))
	case c.Exc == "oslo_messaging.exceptions.MessagingTimeout", c.Case == "unsolicited_heartbeat":
		if !timedOut {
			t.Errorf("%v, want a timeout", err)
		}
	case c.Case == "no_failure_key":
		if err != nil || string(result) != "1" {
			t.Errorf("%s, %v", result, err)
		}
	case !errors.As(err, &remote):
		t.Errorf("%s, %v, want a remote error", result, err)
	case c.Exc == "oslo_messaging.rpc.client.RemoteError":
		same(t, "class", orElse(c.ExcType, ""), remote.Class.Name)
		if !strings.Contains(c.Str, " "+remote.Message+"\n") {
			t.Errorf("message %q, want that of %q", remote.Message, c.Str)
		}
	case strings.Contains(c.Exc, "JSONDecodeError"), c.Case == "fail_tb_null": // what remains is the raw text, or the failure
	default:
		dot := strings.LastIndexByte(c.Exc, '.')
		want := rpc.Class{Module: strings.TrimSuffix(c.Exc[:dot], "_Remote"), Name: strings.TrimSuffix(c.Exc[dot+1:], "_Remote")}
		if !errors.Is(err, want) {
			t.Errorf("%v, want a %s", err, want)
		}
	}
}
