package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/policy"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/rpc"
)

// fault is an error of a resource: shape B of the peer's answers.
type fault struct {
	status int
	text   string
}

func (f *fault) Error() string { return f.text }

func refuse(status int, format string, args ...any) error {
	return &fault{status, fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return refuse(http.StatusBadRequest, format, args...)
}

// wrongType is a body of a JSON type that the peer trips over: it answers 500 with a
// text of Python's.
func wrongType(format string, args ...any) error {
	return refuse(http.StatusInternalServerError, format, args...)
}

func unknownArgument(name string) error { return badRequest(`Unknown argument: "%s"`, name) }

func missingArgument(name string) error { return badRequest(`Missing argument: "%s"`, name) }

func needsVersion(v arq.Microversion) error {
	return refuse(http.StatusNotAcceptable, "Request not acceptable. The minimal required API version should be %s", v)
}

// asFault says with which status and text an error is answered. The peer's habit is
// kept: what carries no 4xx status of its own is 500, even when the caller is to
// blame. Texts of engines and tracebacks stay in the log.
func asFault(err error) *fault {
	var (
		own       *fault
		denied    *policy.DeniedError
		missing   *arq.NotFoundError
		state     *arq.BadStateError
		group     *arq.GroupError
		info      *arq.InfoError
		duplicate *store.DuplicateError
		sortKey   *store.SortKeyError
		remote    *rpc.RemoteError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &denied):
		return &fault{http.StatusForbidden, denied.Error()}
	case errors.As(err, &missing):
		return &fault{http.StatusNotFound, missing.Error()}
	case errors.As(err, &state):
		return &fault{http.StatusInternalServerError, state.Error()}
	case errors.As(err, &group) && !group.WrongType:
		return &fault{http.StatusBadRequest, group.Error()}
	case errors.As(err, &group):
		return &fault{http.StatusInternalServerError, group.Error()}
	case errors.As(err, &info):
		return &fault{http.StatusInternalServerError, info.Error()}
	case errors.As(err, &duplicate):
		return duplicateFault(duplicate)
	case errors.As(err, &sortKey):
		return &fault{http.StatusBadRequest, sortKey.Error()}
	case errors.As(err, &remote):
		return remoteFault(remote)
	}
	return generalFault(err)
}

func duplicateFault(e *store.DuplicateError) *fault {
	if e.Key == "name" {
		return &fault{http.StatusConflict, fmt.Sprintf("A device_profile with name %s already exists.", e.Value)}
	}
	return &fault{http.StatusInternalServerError, fmt.Sprintf("%s with uuid %s already exists.", strings.ReplaceAll(e.Resource, " ", ""), e.Value)}
}

// remoteFault keeps class and status of Cyborg's own exceptions; any other class is
// 500 and says so. Only the first line is passed on: the rest is a traceback.
func remoteFault(e *rpc.RemoteError) *fault {
	message, _, _ := strings.Cut(e.Message, "\n")
	if e.Class.Module == "cyborg.common.exception" {
		status := e.Code()
		if status < 400 || status > 599 {
			status = http.StatusInternalServerError
		}
		return &fault{status, message}
	}
	return &fault{http.StatusInternalServerError, fmt.Sprintf("Remote error: %s %s", e.Class.Name, message)}
}

func generalFault(err error) *fault {
	var engine *store.Error
	var timeout *rpc.TimeoutError
	switch {
	case errors.As(err, &engine) && engine.Kind == store.Unavailable:
		return &fault{http.StatusServiceUnavailable, "The database is not available."}
	case errors.As(err, &engine):
		return &fault{http.StatusInternalServerError, fmt.Sprintf("Database error: %s.", engine.Kind)}
	case errors.As(err, &timeout):
		return &fault{http.StatusInternalServerError, "Timed out waiting for a reply of the conductor"}
	}
	return &fault{http.StatusInternalServerError, "Internal error; the log of the API names it by this request's id."}
}

// faultCode is Client for 4xx, else Server.
func (f *fault) faultCode() string {
	if f.status < http.StatusInternalServerError {
		return "Client"
	}
	return "Server"
}
