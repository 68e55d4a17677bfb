package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

func ExampleConnect() {
	ctx := context.Background()
	s, err := store.Connect(ctx, store.Config{URL: "sqlite://"})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	if err := s.Upgrade(ctx, store.Head); err != nil {
		panic(err)
	}
	p, err := s.CreateProfile(ctx, store.Profile{Name: "fpga-1", Groups: []arq.Group{{{Key: "resources:FPGA", Value: "1"}}}})
	if err != nil {
		panic(err)
	}
	qs, err := s.CreateARQs(ctx, []arq.New{{ProfileName: p.Name, ProjectID: "demo"}})
	fmt.Println(qs[0].State, qs[0].Group[0].Key, err)
	// Output: Initial resources:FPGA <nil>
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	_, err = store.Open(context.Background(), store.Config{URL: "sqlite:///" + filepath.Join(dir, "cyborg.sqlite")})
	var schema *store.SchemaError
	fmt.Println(errors.As(err, &schema))
	fmt.Println(err)
	// Output:
	// true
	// database schema without a revision: no tables of Cyborg here; run cyborg-dbsync upgrade
}
