package wire

import (
	"bytes"

	"github.com/go-cyborg/cyborg/ovo/pyjson"
)

const contextPrefix = "_context_"

// Request is a request. The raw values are nil when the member is absent.
type Request struct {
	Method    []byte // raw, a string
	Args      []byte // raw, an object
	Namespace []byte // raw, a string
	Version   []byte // raw, a string
	Timeout   []byte // raw, a number or null: the call-monitor timeout
	// MsgID and ReplyQueue are set for calls only, UniqueID always. A member that is no string, or longer than any name in
	// AMQP, counts as absent.
	MsgID, ReplyQueue, UniqueID string
	// Context holds the members of the request context as they arrived, without their prefix. Of a key that occurs twice the
	// last counts.
	Context []Member
}

// Encode gives the body of r. context is what [EscapeContext] made of the context; r.Context is not looked at.
func (r *Request) Encode(context []byte) ([]byte, error) {
	s := takeScratch()
	defer s.giveBack()
	b := s.b
	b = append(append(b, `{"method": `...), r.Method...)
	b = append(append(b, `, "args": `...), r.Args...)
	b = appendRaw(b, `, "namespace": `, r.Namespace)
	b = appendRaw(b, `, "version": `, r.Version)
	b = appendID(b, `, "_msg_id": "`, r.MsgID)
	b = appendID(b, `, "_reply_q": "`, r.ReplyQueue)
	b = appendRaw(b, `, "_timeout": `, r.Timeout)
	b = appendID(b, `, "_unique_id": "`, r.UniqueID)
	s.b = b
	return seal(b, context)
}

func appendRaw(b []byte, key string, raw []byte) []byte {
	if raw == nil {
		return b
	}
	return append(append(b, key...), raw...)
}

// appendID appends an id of our own or one that was read by us, which needs no more than the usual escapes.
func appendID(b []byte, key, id string) []byte {
	if id == "" {
		return b
	}
	b = append(b, key[:len(key)-1]...)
	b, err := pyjson.AppendString(b, id)
	if err != nil {
		b = append(b, `""`...)
	}
	return b
}

// AppendContext appends one member of the request context.
func AppendContext(dst []byte, key string, value []byte) ([]byte, error) {
	dst = append(append(dst, pyjson.ItemSeparator+`"`...), contextPrefix...)
	last := len(dst) - 1
	dst, err := pyjson.AppendString(dst[:last], key)
	if err != nil {
		return nil, err
	}
	dst[last] = contextPrefix[len(contextPrefix)-1] // where the opening quote of key stands
	return append(append(dst, pyjson.KeySeparator...), value...), nil
}

// EscapeContext gives the members of a request context as they stand in the envelope. That is done once for all requests
// with that context.
func EscapeContext(members []byte) ([]byte, error) {
	dst, err := pyjson.AppendBytes(make([]byte, 0, len(members)+len(members)/4+8), members)
	if err != nil {
		return nil, err
	}
	return dst[1 : len(dst)-1], nil
}

// Decode reads a body. After an error the ids are set if they could be found, so that the sender can be answered.
func (r *Request) Decode(body []byte) error {
	*r = Request{}
	message, err := open(body)
	if err == nil {
		err = r.decode(message)
	}
	if err != nil {
		r.Salvage(body)
	}
	return err
}

// Salvage sets the ids, if they can be found in a body that cannot be read.
func (r *Request) Salvage(body []byte) { r.MsgID, r.ReplyQueue = salvage(body) }

func (r *Request) decode(message []byte) error {
	r.Context = make([]Member, 0, 22)
	s := scanner{doc: message}
	for s.next() {
		switch string(s.key) {
		case "method":
			r.Method = s.value
		case "args":
			r.Args = s.value
		case "namespace":
			r.Namespace = s.value
		case "version":
			r.Version = s.value
		case "_timeout":
			r.Timeout = s.value
		case "_msg_id":
			r.MsgID = idText(s.value)
		case "_reply_q":
			r.ReplyQueue = idText(s.value)
		case "_unique_id":
			r.UniqueID = idText(s.value)
		default:
			if len(s.key) >= len(contextPrefix) && string(s.key[:len(contextPrefix)]) == contextPrefix {
				r.Context = append(r.Context, Member{internKey(s.key[len(contextPrefix):]), s.value})
			}
		}
	}
	return s.err
}

// maxID is the size of the longest name in AMQP when every byte of it is escaped, in bytes. Ids are kept and logged after
// their message is gone.
const maxID = 2 + 6*255

func idText(raw []byte) string {
	if len(raw) > maxID {
		return ""
	}
	id, _ := Text(raw)
	return id
}

// internKey spares the copy of the usual keys.
func internKey(key []byte) string {
	for _, k := range usualKeys {
		if k == string(key) {
			return k
		}
	}
	return string(key)
}

// usualKeys are those of Cyborg's request context, and the one that every server adds; the table is never written.
var usualKeys = [...]string{
	"user", "user_id", "user_name", "project_id", "project", "project_name", "domain", "user_domain", "project_domain",
	"system_scope", "is_admin", "is_admin_project", "read_only", "show_deleted", "auth_token", "request_id",
	"global_request_id", "resource_uuid", "roles", "user_identity", "service_catalog", "client_timeout",
}

// salvage finds the ids of a call in a body that cannot be decoded, by looking for the text that Python writes; the last
// one counts, since the arguments come first.
func salvage(body []byte) (msgID, replyQueue string) {
	for _, quote := range []string{`\"`, `"`} {
		msgID = salvageText(body, quote, "_msg_id")
		replyQueue = salvageText(body, quote, "_reply_q")
		if msgID != "" && replyQueue != "" {
			return msgID, replyQueue
		}
	}
	return "", ""
}

// salvageID is the id alone, which is all that a reply has.
func salvageID(body []byte) string {
	if id := salvageText(body, `\"`, "_msg_id"); id != "" {
		return id
	}
	return salvageText(body, `"`, "_msg_id")
}

func salvageText(body []byte, quote, key string) string {
	key = quote + key + quote
	at := bytes.LastIndex(body, []byte(key))
	if at < 0 {
		return ""
	}
	rest := bytes.TrimLeft(body[at+len(key):], ": ")
	rest, ok := bytes.CutPrefix(rest, []byte(quote))
	end := bytes.Index(rest, []byte(quote))
	if !ok || end < 0 || end > 255 {
		return ""
	}
	text := rest[:end]
	for _, c := range text {
		if c <= ' ' || c >= 0x7f || c == '\\' || c == '"' {
			return ""
		}
	}
	return string(text)
}
