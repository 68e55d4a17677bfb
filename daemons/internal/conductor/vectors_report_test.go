package conductor_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// vectorDevice is a reported device in the short form of the recordings.
type vectorDevice struct {
	Type, Vendor, Model string
	StdBoardInfo        *string       `json:"std_board_info"`
	VendorBoardInfo     *string       `json:"vendor_board_info"`
	Stub                bool          `json:"stub"`
	Cpid                [2]string     `json:"cpid"`
	Deployables         []vectorOffer `json:"deployables"`
	DeviceState         *cyborgState  `json:"device_state"`
}

type cyborgState = cyborg.DeviceState

type vectorOffer struct {
	Name            string         `json:"name"`
	NumAccelerators int64          `json:"num_accelerators"`
	DriverName      *string        `json:"driver_name"`
	Attributes      [][2]string    `json:"attributes"`
	Handles         []vectorHandle `json:"attach_handles"`
}

// vectorHandle is [attach_type, attach_info, in_use].
type vectorHandle struct {
	Type, Info string
	InUse      bool
}

func (h *vectorHandle) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&h.Type, &h.Info, &h.InUse})
}

// object is the device as it travels.
func (d vectorDevice) object() *cyborg.DriverDevice {
	out := &cyborg.DriverDevice{
		Vendor: ovo.Of(d.Vendor), Model: ovo.Of(d.Model), Type: ovo.Of(cyborg.DeviceType(d.Type)), Stub: ovo.Of(d.Stub),
		StdBoardInfo: ovo.NullFrom(d.StdBoardInfo), VendorBoardInfo: ovo.NullFrom(d.VendorBoardInfo),
		ControlpathID: ovo.Of(&cyborg.DriverControlPathID{CpidType: ovo.Of(d.Cpid[0]), CpidInfo: ovo.Of(d.Cpid[1])}),
	}
	if d.DeviceState != nil {
		out.DeviceState = ovo.NullOf(*d.DeviceState)
	}
	var offers []*cyborg.DriverDeployable
	for _, p := range d.Deployables {
		attributes, handles := []*cyborg.DriverAttribute{}, []*cyborg.DriverAttachHandle{}
		for _, a := range p.Attributes {
			attributes = append(attributes, &cyborg.DriverAttribute{Key: ovo.Of(a[0]), Value: ovo.Of(a[1])})
		}
		for _, h := range p.Handles {
			handles = append(handles, &cyborg.DriverAttachHandle{AttachType: ovo.Of(h.Type), AttachInfo: ovo.Of(h.Info), InUse: ovo.Of(h.InUse)})
		}
		offers = append(offers, &cyborg.DriverDeployable{
			Name: ovo.Of(p.Name), NumAccelerators: ovo.Of(p.NumAccelerators), DriverName: ovo.NullFrom(p.DriverName),
			AttributeList: ovo.NullOf(attributes), AttachHandleList: ovo.NullOf(handles),
		})
	}
	out.DeployableList = ovo.Of(offers)
	return out
}

// reportCall is the report of a step. Host and, where they are not recorded, devices show in what it did.
func reportCall(s *vectorStep, after tables) vectorCall {
	host := ""
	for _, r := range s.Placement {
		if u, err := url.Parse(r.Path); err == nil && u.Query().Get("name") != "" {
			host = u.Query().Get("name")
			break
		}
	}
	if host == "" {
		return nil
	}
	devices := s.Input
	if !s.hasInput {
		devices = reportedBy(after, host)
	}
	return func(t *testing.T, v *vectorWorld) error {
		objects := make([]*cyborg.DriverDevice, len(devices))
		for i, d := range devices {
			objects[i] = d.object()
		}
		return v.conductor.ReportData(as(t, true, ""), host, objects)
	}
}

// reportedBy makes the report that a host's rows came from.
func reportedBy(ts tables, host string) (out []vectorDevice) {
	text := func(r map[string]any, column string) *string {
		if r[column] == nil {
			return nil
		}
		s := plain(r[column])
		return &s
	}
	for _, d := range ts["devices"] {
		if plain(d["hostname"]) != host {
			continue
		}
		device := vectorDevice{
			Type: plain(d["type"]), Vendor: plain(d["vendor"]), Model: plain(d["model"]),
			StdBoardInfo: text(d, "std_board_info"), VendorBoardInfo: text(d, "vendor_board_info"),
		}
		for _, c := range ts["controlpath_ids"] {
			if plain(c["device_id"]) == plain(d["id"]) {
				device.Cpid = [2]string{plain(c["cpid_type"]), plain(c["cpid_info"])}
			}
		}
		for _, p := range ts["deployables"] {
			if plain(p["device_id"]) != plain(d["id"]) {
				continue
			}
			offer := vectorOffer{Name: plain(p["name"]), DriverName: text(p, "driver_name")}
			if _, err := fmt.Sscan(plain(p["num_accelerators"]), &offer.NumAccelerators); err != nil {
				continue
			}
			for _, a := range ts["attributes"] {
				if plain(a["deployable_id"]) == plain(p["id"]) {
					offer.Attributes = append(offer.Attributes, [2]string{plain(a["key"]), plain(a["value"])})
				}
			}
			for _, h := range ts["attach_handles"] {
				if plain(h["deployable_id"]) == plain(p["id"]) {
					offer.Handles = append(offer.Handles, vectorHandle{Type: plain(h["attach_type"]), Info: plain(h["attach_info"])})
				}
			}
			device.Deployables = append(device.Deployables, offer)
		}
		out = append(out, device)
	}
	return out
}

// reportRows are the rows before and after a recorded report, with the handles that the recorder had allocated.
func (f *flow) reportRows(i int) (before, after tables) {
	before, after = tables{}, f.steps[i].Rows
	if i > 0 {
		before = f.steps[i-1].Rows.clone()
	}
	setup := f.steps[i].Setup
	if setup == nil {
		return before, after
	}
	m := setupHandles.FindStringSubmatch(*setup)
	if m == nil {
		return before, after
	}
	for _, h := range before["attach_handles"] {
		if strings.Contains(m[1], plain(h["attach_info"])) {
			h["in_use"] = 1
		}
	}
	return before, after
}
