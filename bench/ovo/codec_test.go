package main

import (
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// TestAllocations holds the promise of at most one allocation for each set field, reading and writing together. It counts, so it does not run in parallel.
func TestAllocations(t *testing.T) {
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, d := range inventory() {
		n, err := setFields(c.registry, d)
		if err != nil {
			t.Fatal(err)
		}
		fields += n
	}
	got := testing.AllocsPerRun(10, func() {
		if err := c.run(); err != nil {
			t.Fatal(err)
		}
	})
	if got > float64(fields) {
		t.Errorf("%.0f allocations for %d set fields", got, fields)
	}
}

// TestChangeTrackingAllocates holds that marks cost nothing: neither setting fields nor writing what changed.
func TestChangeTrackingAllocates(t *testing.T) {
	r, err := cyborg.NewRelease17()
	if err != nil {
		t.Fatal(err)
	}
	changed := device(7)
	clean, err := ovo.Decode[cyborg.DriverDevice](r, mustAppend(t, r, nil, device(7)))
	if err != nil {
		t.Fatal(err)
	}
	if err := reset(r, clean); err != nil {
		t.Fatal(err)
	}
	set := testing.AllocsPerRun(100, func() {
		changed.Vendor.Set("8086")
		changed.StdBoardInfo.SetNull()
		changed.Stub.Set(true)
		changed.DeviceState.Set(cyborg.Available)
	})
	if set != 0 {
		t.Errorf("%.0f allocations for four assignments", set)
	}
	buffer := make([]byte, 0, 1<<14)
	with := testing.AllocsPerRun(100, func() { buffer = mustAppend(t, r, buffer[:0], changed) })
	without := testing.AllocsPerRun(100, func() { buffer = mustAppend(t, r, buffer[:0], clean) })
	if with > without {
		t.Errorf("%.0f allocations to write a changed object, %.0f to write an unchanged one", with, without)
	}
}

func reset(r *ovo.Registry, o ovo.Object) error {
	v, err := r.View(o)
	if err != nil {
		return err
	}
	return v.Reset(true)
}

func mustAppend(t *testing.T, r *ovo.Registry, dst []byte, o ovo.Object) []byte {
	t.Helper()
	b, err := r.Append(dst, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSameContent checks that the report survives decoding and encoding.
func TestSameContent(t *testing.T) {
	t.Parallel()
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.run(); err != nil {
		t.Fatal(err)
	}
	if string(c.buffer) != string(c.body) {
		t.Error("the report is not the same after decoding and encoding")
	}
}
