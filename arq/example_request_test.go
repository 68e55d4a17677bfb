package arq_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-cyborg/cyborg/arq"
)

func ExampleState_Next() {
	state, _ := arq.Initial.Next(arq.EventBind)
	fmt.Println(state)
	_, err := state.Next(arq.EventBind)
	var bad *arq.BadStateError
	fmt.Println(errors.As(err, &bad), bad.Want)
	// Output:
	// Bound
	// true [Initial Unbound]
}

func ExampleParseHandleInfo() {
	info, _ := arq.ParseHandleInfo(`{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": false}`)
	address, _ := info.Address()
	managed, _ := info.Managed()
	fmt.Println(address, managed)

	text, _ := arq.ParseHandleInfo(`{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": "false"}`)
	_, err := text.Managed()
	fmt.Println(err)
	// Output:
	// 0000:25:00.4 false
	// invalid attach_info {"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": "false"}: managed is "false", want true or false
}

func ExampleParseGroups() {
	groups, _ := arq.ParseGroups([]byte(`[{"resources:FPGA": 2, "trait:CUSTOM_FAKE_DEVICE": "required"}]`))
	groups, err := arq.CheckGroups(groups)
	n, _ := groups[0].Requests()
	fmt.Println(arq.EncodeProfile(groups), n, err)
	// Output: {"groups": [{"resources:FPGA": "2", "trait:CUSTOM_FAKE_DEVICE": "required"}]} 2 <nil>
}

func ExampleRequest_View() {
	info, _ := arq.ParseHandleInfo(`{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": false}`)
	r := arq.Request{UUID: "u", State: arq.Bound, Handle: &arq.Handle{Type: arq.HandlePCI, Info: info}}
	for _, v := range []arq.Microversion{3, 4} {
		view, _ := r.View(v, "http://host/accelerator/v2/accelerator_requests/u")
		text, _ := json.Marshal(view.AttachHandleInfo)
		fmt.Println(v, string(text))
	}
	// Output:
	// 2.3 {"bus":"25","device":"00","domain":"0000","function":"4"}
	// 2.4 {"bus":"25","device":"00","domain":"0000","function":"4","managed":false,"stateful":false,"numa_node":null}
}

func ExampleHandle_Hostdev() {
	info, _ := arq.ParseHandleInfo(`{"bus": "25", "device": "00", "domain": "0000", "function": "4", "managed": false}`)
	device, _ := arq.Handle{Type: arq.HandlePCI, Info: info}.Hostdev()
	fmt.Println(device.XML())
	// Output:
	// <hostdev mode='subsystem' type='pci' managed='no'>
	//   <driver name='vfio'/>
	//   <source>
	//     <address domain='0x0000' bus='0x25' slot='0x00' function='0x4'/>
	//   </source>
	// </hostdev>
}
