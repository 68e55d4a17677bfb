package arq_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/arq"
)

func bound(t *testing.T, typ arq.HandleType, info string) arq.Request {
	t.Helper()
	parsed, err := arq.ParseHandleInfo(info)
	if err != nil {
		t.Fatal(err)
	}
	return arq.Request{
		UUID: "u", State: arq.Bound, ProfileName: "p", Hostname: "h", DeviceRPUUID: "rp", InstanceUUID: "i", ProjectID: "proj",
		Handle:    &arq.Handle{ID: 1, UUID: "ah", Type: typ, Info: parsed},
		CreatedAt: time.Date(2026, 11, 29, 13, 49, 41, 7, time.UTC),
	}
}

func TestViewHandleInfo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		typ      arq.HandleType
		info     string
		old, now string // below 2.4 and at 2.4; empty: refused
	}{
		{
			"managed is absent", arq.HandlePCI, plain,
			`{"bus":"25","device":"00","domain":"0000","function":"4"}`,
			`{"bus":"25","device":"00","domain":"0000","function":"4","managed":true,"stateful":false,"numa_node":null}`,
		},
		{
			"false", arq.HandlePCI, with(`"managed": false, "numa_node": 0, "stateful": true`),
			`{"bus":"25","device":"00","domain":"0000","function":"4"}`,
			`{"bus":"25","device":"00","domain":"0000","function":"4","managed":false,"stateful":true,"numa_node":0}`,
		},
		{"the word false", arq.HandlePCI, with(`"managed": "false"`), `{"bus":"25","device":"00","domain":"0000","function":"4"}`, ""},
		{"null", arq.HandlePCI, with(`"managed": null`), `{"bus":"25","device":"00","domain":"0000","function":"4"}`, ""},
		{"node as text", arq.HandlePCI, with(`"numa_node": "1"`), `{"bus":"25","device":"00","domain":"0000","function":"4"}`, ""},
		{
			"other keys stay text", arq.HandlePCI, `{"bus": "25", "physical_network": "net", "vlan": 7, "on": true}`,
			`{"bus":"25","physical_network":"net","vlan":"7","on":"True"}`,
			`{"bus":"25","physical_network":"net","vlan":"7","on":"True","managed":true,"stateful":false,"numa_node":null}`,
		},
		{
			"an mdev has no managed", arq.HandleMDEV, `{"asked_type": "nvidia-223", "managed": false}`,
			`{"asked_type":"nvidia-223"}`, `{"asked_type":"nvidia-223","stateful":false,"numa_node":null}`,
		},
		{
			"nor has a test handle", arq.HandleTestPCI, plain,
			`{"bus":"25","device":"00","domain":"0000","function":"4"}`,
			`{"bus":"25","device":"00","domain":"0000","function":"4","stateful":false,"numa_node":null}`,
		},
		{"a nested value", arq.HandlePCI, `{"bus": ["25"]}`, "", ""},
		{"an unknown null", arq.HandlePCI, `{"bus": null}`, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := bound(t, test.typ, test.info)
			// 2.4 after 2.3 shows everything again: the request is not changed.
			for _, v := range []arq.Microversion{4, 3, 0, 4} {
				want := test.old
				if v == 4 {
					want = test.now
				}
				view, err := r.View(v, "")
				if want == "" {
					if bad := new(arq.InfoError); !errors.As(err, &bad) {
						t.Errorf("%s: error %v", v, err)
					}
					continue
				}
				got, _ := json.Marshal(view.AttachHandleInfo)
				if err != nil || string(got) != want {
					t.Errorf("%s: %s, %v\nwant %s", v, got, err, want)
				}
			}
			if r.Handle.Info.String() != test.info {
				t.Error("the stored text changed")
			}
		})
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	r := bound(t, arq.HandleTestPCI, `{"domain": "0000"}`)
	view, err := r.View(3, "http://h/accelerator/v2/accelerator_requests/u")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(view)
	want := `{"uuid":"u","state":"Bound","device_profile_name":"p","device_profile_group_id":0,"hostname":"h","device_rp_uuid":"rp",` +
		`"instance_uuid":"i","project_id":"proj","attach_handle_type":"TEST_PCI","attach_handle_uuid":"ah","attach_handle_info":{"domain":"0000"},` +
		`"links":[{"href":"http://h/accelerator/v2/accelerator_requests/u","rel":"self"}],"created_at":"2026-11-29T13:49:41+00:00","updated_at":null}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	for _, state := range []arq.State{arq.Initial, arq.BindStarted, arq.BindFailed, arq.Unbound} {
		r.State, r.Hostname = state, ""
		view, err := r.View(4, "")
		got, _ := json.Marshal(view)
		if err != nil || !strings.Contains(string(got), `"hostname":null`) ||
			!strings.Contains(string(got), `"attach_handle_type":"","attach_handle_uuid":null,"attach_handle_info":{}`) {
			t.Errorf("%s shows its handle: %s, %v", state, got, err)
		}
	}
}

func TestHostdev(t *testing.T) {
	t.Parallel()
	tests := []struct {
		typ  arq.HandleType
		info string
		want string // address and managed; empty: refused
	}{
		{arq.HandlePCI, plain, "0000:25:00.4 yes"},
		{arq.HandlePCI, with(`"managed": true`), "0000:25:00.4 yes"},
		{arq.HandlePCI, with(`"managed": false`), "0000:25:00.4 no"},
		{arq.HandlePCI, with(`"managed": "no"`), ""},
		{arq.HandlePCI, `{"bus": "25"}`, ""},
		{arq.HandleMDEV, plain, ""},
	}
	for _, test := range tests {
		info, err := arq.ParseHandleInfo(test.info)
		if err != nil {
			t.Fatal(err)
		}
		d, err := arq.Handle{Type: test.typ, Info: info}.Hostdev()
		if test.want == "" {
			if bad := new(arq.InfoError); !errors.As(err, &bad) {
				t.Errorf("%s %s: %v", test.typ, test.info, err)
			}
			continue
		}
		address, managed, _ := strings.Cut(test.want, " ")
		if err != nil || d.Address.String() != address || !strings.Contains(d.XML(), "managed='"+managed+"'") {
			t.Errorf("%s: %+v, %v", test.info, d, err)
		}
	}
}
