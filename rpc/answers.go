package rpc

const (
	// maxAnswers is how many replies are kept to be given again, maxAnswerBytes how large they are together and maxAnswer how
	// large one of them may be, in bytes.
	maxAnswers     = duplicateWindow
	maxAnswerBytes = 16 << 20
	maxAnswer      = 1 << 20
)

// answers are the latest replies by the unique id of their request. A caller sends a request again, if it may be, when a
// broker may have lost it; what was lost may as well be the reply, and then dropping the repetition would leave the caller
// without an answer. Python's servers give none, so a reply is repeated only if a connection was lost since.
type answers struct {
	ids   [maxAnswers]string // a ring
	first int                // the oldest
	n     int
	byID  map[string]answer
	bytes int
	age   int // how often listening began
}

type answer struct {
	queue, id string
	body      []byte
	age       int // when it was given
}

// lost gives the reply to a request that comes again if the broker may have lost it.
func (a *answers) lost(unique string) (x answer, ok bool) {
	x, ok = a.byID[unique]
	return x, ok && x.age != a.age
}

func (a *answers) add(unique string, x answer) {
	if _, again := a.byID[unique]; again || unique == "" || len(x.body) > maxAnswer {
		return
	}
	if a.byID == nil {
		a.byID = make(map[string]answer, maxAnswers)
	}
	for a.n == maxAnswers || a.bytes+len(x.body) > maxAnswerBytes {
		oldest := &a.ids[a.first]
		a.bytes -= len(a.byID[*oldest].body)
		delete(a.byID, *oldest)
		*oldest = ""
		a.first = (a.first + 1) % maxAnswers
		a.n--
	}
	a.ids[(a.first+a.n)%maxAnswers] = unique
	a.n++
	x.age = a.age
	a.byID[unique] = x
	a.bytes += len(x.body)
}
