package main

import (
	"encoding/json"

	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

// The plain structs hold what the objects hold and nothing else: neither names, versions and changes on the wire nor presence in memory.
type (
	plainDevice struct {
		Vendor          string            `json:"vendor"`
		Model           string            `json:"model"`
		Type            string            `json:"type"`
		StdBoardInfo    *string           `json:"std_board_info"`
		VendorBoardInfo *string           `json:"vendor_board_info"`
		ControlpathID   plainControlpath  `json:"controlpath_id"`
		DeployableList  []plainDeployable `json:"deployable_list"`
		Stub            bool              `json:"stub"`
	}
	plainControlpath struct {
		CpidType string `json:"cpid_type"`
		CpidInfo string `json:"cpid_info"`
	}
	plainDeployable struct {
		Name             string           `json:"name"`
		NumAccelerators  int64            `json:"num_accelerators"`
		AttributeList    []plainAttribute `json:"attribute_list"`
		AttachHandleList []plainHandle    `json:"attach_handle_list"`
		DriverName       *string          `json:"driver_name"`
	}
	plainAttribute struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	plainHandle struct {
		AttachType string `json:"attach_type"`
		AttachInfo string `json:"attach_info"`
		InUse      bool   `json:"in_use"`
	}
)

// plain decodes and encodes the same data with encoding/json.
type plain struct{ body []byte }

func newPlain(report []*cyborg.DriverDevice) (*plain, error) {
	list := make([]plainDevice, len(report))
	for i, d := range report {
		list[i] = plainDevice{
			Vendor: d.Vendor.Value(), Model: d.Model.Value(), Type: string(d.Type.Value()),
			StdBoardInfo: d.StdBoardInfo.Ptr(), VendorBoardInfo: d.VendorBoardInfo.Ptr(),
			ControlpathID:  plainControlpath{d.ControlpathID.Value().CpidType.Value(), d.ControlpathID.Value().CpidInfo.Value()},
			DeployableList: plainDeployables(d.DeployableList.Value()), Stub: d.Stub.Value(),
		}
	}
	body, err := json.Marshal(list)
	return &plain{body}, err
}

func plainDeployables(list []*cyborg.DriverDeployable) []plainDeployable {
	out := make([]plainDeployable, len(list))
	for i, d := range list {
		out[i] = plainDeployable{Name: d.Name.Value(), NumAccelerators: d.NumAccelerators.Value(), DriverName: d.DriverName.Ptr()}
		for _, a := range d.AttributeList.Value() {
			out[i].AttributeList = append(out[i].AttributeList, plainAttribute{a.Key.Value(), a.Value.Value()})
		}
		for _, h := range d.AttachHandleList.Value() {
			out[i].AttachHandleList = append(out[i].AttachHandleList, plainHandle{h.AttachType.Value(), h.AttachInfo.Value(), h.InUse.Value()})
		}
	}
	return out
}

func (p *plain) run() error {
	var list []plainDevice
	if err := json.Unmarshal(p.body, &list); err != nil {
		return err
	}
	_, err := json.Marshal(list)
	return err
}
