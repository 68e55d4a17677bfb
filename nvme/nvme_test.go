package nvme_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-cyborg/cyborg/nvme"
)

func TestNewPlan(t *testing.T) {
	t.Parallel()
	everything := nvme.Controller{SanitizeCrypto: true, SanitizeBlock: true, Format: true, FormatCrypto: true, WriteZeroes: true}
	alone := nvme.Topology{Exclusive: true, Writable: true}
	vf := everything
	vf.VirtualFunction = true
	touchesAll := everything
	touchesAll.EraseAll = true
	for name, c := range map[string]struct {
		controller nvme.Controller
		topology   nvme.Topology
		policy     nvme.Policy
		want       []nvme.Method
	}{
		"auto, alone": {everything, alone, nvme.Policy{}, []nvme.Method{
			nvme.MethodSanitizeCrypto, nvme.MethodSanitizeBlock, nvme.MethodFormatCrypto, nvme.MethodFormatUser, nvme.MethodZero,
		}},
		"auto, siblings in use": {everything, nvme.Topology{Writable: true}, nvme.Policy{}, []nvme.Method{
			nvme.MethodFormatCrypto, nvme.MethodFormatUser, nvme.MethodZero,
		}},
		"auto, siblings in use and format reaches them": {touchesAll, nvme.Topology{Writable: true}, nvme.Policy{}, []nvme.Method{nvme.MethodZero}},
		"crypto":                         {everything, alone, nvme.Policy{Strategy: nvme.StrategyCrypto}, []nvme.Method{nvme.MethodSanitizeCrypto, nvme.MethodFormatCrypto}},
		"block":                          {everything, alone, nvme.Policy{Strategy: nvme.StrategyBlock}, []nvme.Method{nvme.MethodSanitizeBlock, nvme.MethodFormatUser}},
		"crypto without it":              {nvme.Controller{SanitizeBlock: true, Format: true}, alone, nvme.Policy{Strategy: nvme.StrategyCrypto}, nil},
		"sanitize on a virtual function": {vf, alone, nvme.Policy{Action: nvme.ActionSanitize}, nil},
		"sanitize, siblings in use":      {everything, nvme.Topology{Writable: true}, nvme.Policy{Action: nvme.ActionSanitize}, nil},
		"zero":                           {nvme.Controller{}, alone, nvme.Policy{Action: nvme.ActionZero}, []nvme.Method{nvme.MethodZero}},
		"zero, write protected":          {nvme.Controller{}, nvme.Topology{Exclusive: true}, nvme.Policy{Action: nvme.ActionZero}, nil},
		"detached namespaces": {everything, nvme.Topology{Exclusive: true, Writable: true, Detached: true}, nvme.Policy{}, []nvme.Method{
			nvme.MethodSanitizeCrypto, nvme.MethodSanitizeBlock,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := nvme.NewPlan(c.controller, c.topology, c.policy)
			if diff := cmp.Diff(c.want, plan.Attempts); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			if _, refused := errors.AsType[*nvme.RefusedError](err); refused != (c.want == nil) {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestPolicyValidate(t *testing.T) {
	t.Parallel()
	for _, p := range []nvme.Policy{
		{Action: "shred"}, {Strategy: "Crypto"}, {Action: nvme.ActionZero, Strategy: nvme.StrategyBlock},
	} {
		if _, ok := errors.AsType[*nvme.PolicyError](p.Validate()); !ok {
			t.Errorf("%+v was accepted", p)
		}
	}
	if err := (nvme.Policy{}).Validate(); err != nil {
		t.Errorf("the zero policy: %v", err)
	}
}

// TestLifecycleNeverSkipsCleaning walks random events: once a guest had the drive, only a finished cleaning or an operator
// who forces it makes the drive available again.
func TestLifecycleNeverSkipsCleaning(t *testing.T) {
	t.Parallel()
	events := []nvme.Event{
		nvme.EventBind, nvme.EventBindUndone, nvme.EventRelease, nvme.EventBegin, nvme.EventPostpone, nvme.EventCleaned,
		nvme.EventFail, nvme.EventRetry, nvme.EventForce, nvme.EventSuspectDirty, nvme.EventWasNeverOurs, "unknown",
	}
	rapid.Check(t, func(t *rapid.T) {
		state, dirty := nvme.Available, false
		for _, e := range rapid.SliceOf(rapid.SampledFrom(events)).Draw(t, "events") {
			next, err := state.Next(e)
			if err != nil {
				if next != state {
					t.Fatalf("%s refused %s but moved to %s", state, e, next)
				}
				continue
			}
			if e == nvme.EventRelease {
				dirty = true
			}
			if e == nvme.EventCleaned || e == nvme.EventForce {
				dirty = false
			}
			if next.Usable() && dirty {
				t.Fatalf("%s after %s is usable although nothing was cleaned", next, e)
			}
			state = next
		}
	})
	if _, err := nvme.State("").Next(nvme.EventBind); err == nil {
		t.Error("a drive without a state was bound")
	}
}

func TestDecodersRefuseAbsentAnswers(t *testing.T) {
	t.Parallel()
	for _, b := range [][]byte{nil, make([]byte, 100), make([]byte, nvme.PageSize)} {
		if _, err := nvme.DecodeController(b); err == nil {
			t.Errorf("identify controller of %d bytes was accepted", len(b))
		}
		if _, err := nvme.DecodeNamespace(b); err == nil {
			t.Errorf("identify namespace of %d bytes was accepted", len(b))
		}
	}
	if _, err := nvme.DecodeControllerList([]byte{9, 0, 1, 0}); err == nil {
		t.Error("a list that announces more than it holds was accepted")
	}
	if got := nvme.DecodeNamespaceList([]byte{1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}); !slices.Equal(got, []uint32{1, 5}) {
		t.Errorf("namespace list = %v", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, nvme.PageSize))
	f.Add([]byte{1, 0, 7, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := nvme.DecodeNamespace(b); err == nil && n.BlockSize&(n.BlockSize-1) != 0 {
			t.Errorf("block size %d", n.BlockSize)
		}
		if ids, err := nvme.DecodeControllerList(b); err == nil && 2+2*len(ids) > len(b) {
			t.Errorf("%d identifiers from %d bytes", len(ids), len(b))
		}
		_, _ = nvme.DecodeController(b)
		nvme.DecodeNamespaceList(b)
		if p := nvme.DecodeSanitizeLog(b).Progress; p < 0 || p > 1 {
			t.Errorf("progress %v", p)
		}
	})
}
