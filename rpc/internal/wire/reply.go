package wire

// Reply is an answer to a call, or a sign of life while the call runs (no result, no failure, not ending).
type Reply struct {
	Result  []byte // raw; nil or null for none
	Failure []byte // raw; nil or null for none, else a string that [Failure.Decode] reads
	Ending  bool   // no further answer follows
	MsgID   string // of the request
}

var null = []byte("null")

// Encode gives the body of r.
func (r *Reply) Encode(uniqueID string) ([]byte, error) {
	s := takeScratch()
	defer s.giveBack()
	b := s.b
	b = append(append(b, `{"result": `...), orNull(r.Result)...)
	b = append(append(b, `, "failure": `...), orNull(r.Failure)...)
	if r.Ending {
		b = append(b, `, "ending": true`...)
	} else {
		b = append(b, `, "ending": false`...)
	}
	b = appendID(b, `, "_msg_id": "`, r.MsgID)
	b = appendID(b, `, "_unique_id": "`, uniqueID)
	s.b = b
	return seal(b, nil)
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return null
	}
	return raw
}

// Decode reads a body. After an error the id is set if it could be found.
func (r *Reply) Decode(body []byte) error {
	*r = Reply{}
	message, err := open(body)
	if err == nil {
		err = r.decode(message)
	}
	if err != nil {
		r.Salvage(body)
	}
	return err
}

// Salvage sets the id, if it can be found in a body that cannot be read.
func (r *Reply) Salvage(body []byte) { r.MsgID = salvageID(body) }

func (r *Reply) decode(message []byte) error {
	s := scanner{doc: message}
	for s.next() {
		switch string(s.key) {
		case "result":
			r.Result = notNull(s.value)
		case "failure":
			r.Failure = notNull(s.value)
		case "ending":
			r.Ending = Truthy(s.value)
		case "_msg_id":
			r.MsgID = idText(s.value)
		}
	}
	return s.err
}

func notNull(raw []byte) []byte {
	if raw[0] == 'n' {
		return nil
	}
	return raw
}
