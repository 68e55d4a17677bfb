package api

import (
	"net/http"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
	"github.com/go-cyborg/cyborg/ovo/cyborg"
)

const deviceCollection = "devices"

// deviceStatus is the microversion that shows the status of devices.
const deviceStatus arq.Microversion = 3

// The values of a device's status.
const (
	statusEnabled     = "enabled"
	statusMaintaining = "maintaining"
)

func deviceResource() resource {
	return resource{
		methods: []string{http.MethodGet}, // the peer does not count the actions
		route: func(method string, path []string) (action, bool) {
			switch {
			case method == http.MethodPost && len(path) == 2 && path[1] == "disable":
				return (*call).disableDevice, true
			case method == http.MethodPost && len(path) == 2 && path[1] == "enable":
				return (*call).enableDevice, true
			case method == http.MethodGet && len(path) > 1:
				return nil, false
			case method == http.MethodGet && len(path) == 1:
				return (*call).showDevice, true
			case method == http.MethodGet:
				return (*call).listDevices, true
			}
			return nil, len(path) <= 2
		},
	}
}

// deviceView is a device; status is absent below 2.3.
type deviceView struct {
	UUID            string     `json:"uuid"`
	Type            string     `json:"type"`
	Vendor          string     `json:"vendor"`
	Model           string     `json:"model"`
	StdBoardInfo    *string    `json:"std_board_info"`
	VendorBoardInfo *string    `json:"vendor_board_info"`
	Hostname        string     `json:"hostname"`
	Status          *string    `json:"status,omitempty"`
	Links           []arq.Link `json:"links"`
	CreatedAt       *string    `json:"created_at"`
	UpdatedAt       *string    `json:"updated_at"`
}

func (c *call) deviceView(d cyborg.DeviceRow) deviceView {
	v := deviceView{
		UUID: d.UUID, Type: d.Type, Vendor: d.Vendor, Model: d.Model, StdBoardInfo: d.StdBoardInfo,
		VendorBoardInfo: d.VendorBoardInfo, Hostname: d.Hostname, Links: c.selfLinks(deviceCollection, d.UUID),
		CreatedAt: timestampOf(d.CreatedAt), UpdatedAt: timestampOf(d.UpdatedAt),
	}
	if c.version >= deviceStatus {
		v.Status = &d.Status
	}
	return v
}

func (c *call) listDevices() (int, any, error) {
	args, err := c.enter("cyborg:device:get_all", append(filterArguments(), "type", "vendor", "hostname")...)
	if err != nil {
		return 0, nil, err
	}
	filter, filtered, err := parseFilter(args)
	if err != nil {
		return 0, nil, err
	}
	f := store.DeviceFilter{Type: args["type"], Vendor: args["vendor"], Hostname: args["hostname"]}
	f.Newest = f.Type != "" || f.Vendor != "" || f.Hostname != ""
	if filtered {
		if f.Order, err = filter.order(); err != nil {
			return 0, nil, err
		}
	}
	rows, err := c.Store.Devices(c.request.Context(), f)
	if err != nil {
		return 0, nil, err
	}
	views := make([]deviceView, len(rows))
	for i, d := range rows {
		views[i] = c.deviceView(d)
	}
	return http.StatusOK, struct {
		Devices []deviceView `json:"devices"`
	}{views}, nil
}

func (c *call) showDevice() (int, any, error) {
	if _, err := c.enter("cyborg:device:get_one"); err != nil {
		return 0, nil, err
	}
	d, err := c.Store.DeviceByUUID(c.request.Context(), c.path[0])
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.deviceView(d), nil
}

func (c *call) disableDevice() (int, any, error) {
	return c.setDeviceStatus("cyborg:device:disable", statusMaintaining)
}

func (c *call) enableDevice() (int, any, error) {
	return c.setDeviceStatus("cyborg:device:enable", statusEnabled)
}

// setDeviceStatus saves the status first: when Placement cannot be told, the status
// stays changed and the request may be repeated.
func (c *call) setDeviceStatus(rule, status string) (int, any, error) {
	if err := c.allow(rule); err != nil {
		return 0, nil, err
	}
	if err := c.noBody(); err != nil {
		return 0, nil, err
	}
	if err := c.Store.SetDeviceStatus(c.request.Context(), c.path[0], status); err != nil {
		return 0, nil, err
	}
	if c.Inventories == nil {
		return http.StatusNoContent, nil, nil
	}
	return http.StatusNoContent, nil, c.Inventories.SyncDevice(c.request.Context(), c.path[0])
}
