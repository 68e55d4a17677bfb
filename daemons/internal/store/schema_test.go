package store

import (
	"context"
	"path/filepath"
	"testing"
)

func TestProbe(t *testing.T) {
	ctx := context.Background()
	s, err := Connect(ctx, Config{URL: "sqlite:///" + filepath.Join(t.TempDir(), "c.sqlite")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Upgrade(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckSchema(ctx); err != nil {
		t.Fatal(err)
	}
}
