package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

func (v *vectors) versionCompat(t *testing.T) {
	var file struct {
		Cases []struct {
			Have    *string `json:"implemented_or_cap"`
			Want    *string `json:"requested"`
			Outcome string  `json:"outcome"`
		}
	}
	if !v.load(t, "topology/version-compat.json", &file) {
		return
	}
	for i, c := range file.Cases {
		v.check(t, fmt.Sprint(i), func(t *testing.T) {
			same(t, "outcome", c.Outcome, compatible(t, c.Have, c.Want))
		})
	}
}

// compatible is the outcome of the rule on texts, and checks that Version agrees wherever it can hold both.
func compatible(t *testing.T, have, want *string) string {
	switch {
	case have == nil:
		return python(rpc.Version{}.Supports(rpc.Version{}))
	case want == nil:
		v, err := rpc.ParseVersion(*have)
		return python(err == nil && v.Supports(rpc.Version{}))
	}
	ok, err := wire.Compatible(*have, *want)
	if p, ok := errors.AsType[*wire.PythonError](err); ok {
		return "EXC " + p.Class + " " + p.Text
	}
	h, err1 := rpc.ParseVersion(*have)
	w, err2 := rpc.ParseVersion(*want)
	if err1 == nil && err2 == nil {
		same(t, "Version.Supports", ok, h.Supports(w))
	}
	return python(ok)
}

func python(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func (v *vectors) transportURLs(t *testing.T) {
	type host struct {
		Hostname           string
		Port               *int
		Username, Password *string
	}
	var file struct {
		Cases []struct {
			URL    string
			Error  string
			Parsed struct {
				Transport string
				VHost     *string
				Query     map[string]string
				Hosts     []host
			}
		}
	}
	if !v.load(t, "topology/transport-url-parse.json", &file) {
		return
	}
	for _, c := range file.Cases {
		v.check(t, c.URL, func(t *testing.T) {
			u, err := amqp.ParseURL(c.URL)
			if c.Error != "" {
				if err == nil {
					t.Errorf("no error, want one like %s", c.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := amqp.URL{Scheme: c.Parsed.Transport, VHost: orElse(c.Parsed.VHost, ""), Query: c.Parsed.Query}
			if want.VHost == "" {
				want.VHost = "/"
			}
			for _, h := range c.Parsed.Hosts {
				want.Hosts = append(want.Hosts, amqp.Host{
					Name: h.Hostname, Port: orElse(h.Port, 0), User: orElse(h.Username, ""), Password: orElse(h.Password, ""),
				})
			}
			same(t, "URL", want, u)
			_, err = amqp.Open(amqp.Config{URL: c.URL})
			var bad *amqp.URLError
			if errors.As(err, &bad) != (u.Scheme != "rabbit") {
				t.Errorf("a configuration with scheme %s: %v", u.Scheme, err)
			}
		})
	}
}

func orElse[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}

func (v *vectors) optionMatrix(t *testing.T) {
	type object struct {
		Name       string `json:"name"`
		Type       string `json:"type"`
		Durable    string `json:"durable"`
		AutoDelete string `json:"auto_delete"`
		Arguments  string `json:"arguments"`
	}
	var file struct {
		Cases []struct {
			Peer, Options     string
			Exchanges, Queues []object
		}
	}
	if !v.load(t, "topology/option-matrix.json", &file) {
		return
	}
	for _, c := range file.Cases {
		v.check(t, c.Peer+" "+c.Options, func(t *testing.T) {
			var o amqp.Options
			for pair := range strings.SplitSeq(strings.Replace(c.Options, "(defaults)", "", 1), "&") {
				name, value, _ := strings.Cut(pair, "=")
				if err := o.Set(name, value); err != nil && name != "" {
					t.Fatal(err)
				}
			}
			var wantX, wantQ, gotQ []string
			reply, fanout := "", ""
			for _, x := range c.Exchanges {
				wantX = append(wantX, fmt.Sprint(x.Name, " ", x.Type, " ", x.Durable, " ", x.AutoDelete))
			}
			for _, q := range c.Queues {
				wantQ = append(wantQ, fmt.Sprint(q.Name, " ", q.Durable, " ", q.AutoDelete, " ", sortedArguments(q.Arguments)))
				if strings.HasPrefix(q.Name, "reply_") {
					reply = q.Name
				}
				if strings.HasPrefix(q.Name, "t_fanout_") {
					fanout = q.Name
				}
			}
			gotX := map[string]bool{}
			for _, q := range append(o.ServerQueues("cyborg", "t", "h", fanout), o.ReplyQueue(reply)) {
				if x := q.Exchange; x != nil {
					gotX[fmt.Sprint(x.Name, " ", x.Kind, " ", x.Durable, " ", x.AutoDelete)] = true
				}
				gotQ = append(gotQ, fmt.Sprint(q.Name, " ", q.Durable, " ", q.AutoDelete, " ", arguments(q)))
			}
			same(t, "exchanges", sorted(wantX), slices.Sorted(maps.Keys(gotX)))
			same(t, "queues", sorted(wantQ), sorted(gotQ))
		})
	}
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

var tuple = regexp.MustCompile(`\{[^{}]*\}`)

// sortedArguments is a broker's list of arguments in a fixed order: an argument table has none.
func sortedArguments(text string) []string { return sorted(tuple.FindAllString(text, -1)) }

func arguments(q amqp.Queue) []string {
	var list []string
	for name, value := range q.Arguments {
		if s, ok := value.(string); ok {
			value = `"` + s + `"`
		}
		list = append(list, fmt.Sprintf(`{"%s",%v}`, name, value))
	}
	return sorted(list)
}

// declared is a listing with typed arguments: name, type, value.
type declared struct {
	Exchanges []struct {
		Name       string `json:"name"`
		Type       string `json:"type"`
		Durable    bool   `json:"durable"`
		AutoDelete bool   `json:"auto_delete"`
	}
	Queues []struct {
		Name       string               `json:"name"`
		Durable    bool                 `json:"durable"`
		AutoDelete bool                 `json:"auto_delete"`
		Exclusive  bool                 `json:"exclusive"`
		Arguments  [][3]json.RawMessage `json:"arguments"`
	}
	Bindings []struct {
		Source      string `json:"source_name"`
		Destination string `json:"destination_name"`
		Key         string `json:"routing_key"`
	}
}

// expected is what the servers and clients behind the listing declare: topic and server are read off the names of the queues.
func (d *declared) expected() []amqp.Queue {
	var (
		list []amqp.Queue
		o    amqp.Options
	)
	for _, q := range d.Queues {
		if strings.HasPrefix(q.Name, "reply_") {
			list = append(list, o.ReplyQueue(q.Name))
		} else if topic, server, ok := strings.Cut(q.Name, "."); ok {
			list = append(list, o.ServerQueues("cyborg", topic, server, topic+"_fanout_")...)
		}
	}
	return list
}

func (v *vectors) declaredDefaults(t *testing.T) { v.listing(t, "topology/declared-defaults.json") }

func (v *vectors) queuesLeft(t *testing.T) { v.listing(t, "topology/queues-after-clients-exit.json") }

func (v *vectors) listing(t *testing.T, path string) {
	var file declared
	if !v.load(t, path, &file) {
		return
	}
	exchanges, queues, bindings := map[string]amqp.Exchange{}, map[string]amqp.Queue{}, map[string]bool{}
	for _, q := range file.expected() {
		queues[q.Name] = q
		if q.Exchange != nil {
			exchanges[q.Exchange.Name] = *q.Exchange
			bindings[q.Exchange.Name+" "+q.Name+" "+q.Key] = true
		}
	}
	for _, x := range file.Exchanges {
		if x.Name == "" {
			continue // the broker's own
		}
		v.check(t, "exchange "+x.Name, func(t *testing.T) {
			same(t, "exchange", amqp.Exchange{Name: x.Name, Kind: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete}, exchanges[x.Name])
		})
	}
	for _, q := range file.Queues {
		v.check(t, "queue "+q.Name, func(t *testing.T) {
			got, ok := queues[withoutUnique(q.Name)]
			if !ok {
				t.Fatal("not declared")
			}
			same(t, "flags", []bool{q.Durable, q.AutoDelete, q.Exclusive}, []bool{got.Durable, got.AutoDelete, false})
			var want []string
			for _, a := range q.Arguments {
				want = append(want, fmt.Sprintf("%s %s %s", text(a[0]), text(a[1]), strings.Trim(string(a[2]), `"`)))
			}
			var args []string
			for name, value := range got.Arguments {
				args = append(args, fmt.Sprintf("%v %v %v", name, brokerType(value), value))
			}
			same(t, "arguments", sorted(want), sorted(args))
		})
	}
	for _, b := range file.Bindings {
		if b.Source == "" {
			continue // made by the broker
		}
		v.check(t, "binding "+b.Source+" "+b.Destination, func(t *testing.T) {
			if !bindings[b.Source+" "+withoutUnique(b.Destination)+" "+b.Key] {
				t.Error("not bound")
			}
		})
	}
}

var unique = regexp.MustCompile(`(_fanout_)[0-9a-f]{32}$`)

func withoutUnique(queue string) string { return unique.ReplaceAllString(queue, "$1") }

func brokerType(value any) string {
	switch value.(type) {
	case int32:
		return "signedint"
	case int64:
		return "long"
	case string:
		return "longstr"
	default:
		return fmt.Sprintf("%T", value)
	}
}
