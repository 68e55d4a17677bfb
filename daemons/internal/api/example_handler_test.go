package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/api"
	"github.com/go-cyborg/cyborg/daemons/internal/policy"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// noConductor is a service whose conductor does not run.
type noConductor struct{}

var errNoConductor = fmt.Errorf("no conductor runs")

func (noConductor) CreateProfile(context.Context, store.Profile) (string, error) {
	return "", errNoConductor
}
func (noConductor) DeleteProfile(context.Context, store.Profile) error     { return errNoConductor }
func (noConductor) CreateRequest(context.Context, arq.New) (string, error) { return "", errNoConductor }
func (noConductor) ApplyPatches(context.Context, []api.Patch) error        { return errNoConductor }
func (noConductor) DeleteRequests(context.Context, []string) error         { return errNoConductor }

func ExampleNew() {
	ctx := context.Background()
	db, err := store.Connect(ctx, store.Config{URL: "sqlite://"})
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.CreateSchema(ctx); err != nil {
		panic(err)
	}
	rules, err := policy.New(policy.Defaults(), nil, policy.Config{})
	if err != nil {
		panic(err)
	}
	handler, err := api.New(api.Config{Store: db, Conductor: noConductor{}, Authenticator: api.NoAuth(), Policy: rules})
	if err != nil {
		panic(err)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/accelerator/v2/devices", nil))
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 {"devices": []}
}
