package api

import (
	"net/http"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

const deployableCollection = "deployables"

func deployableResource() resource {
	return resource{
		methods: []string{http.MethodGet},
		route: func(method string, path []string) (action, bool) {
			switch {
			case method == http.MethodPatch && len(path) == 2 && path[1] == "program":
				return (*call).programDeployable, true
			case method == http.MethodGet && len(path) > 1:
				return nil, false
			case method == http.MethodGet && len(path) == 1:
				return (*call).showDeployable, true
			case method == http.MethodGet:
				return (*call).listDeployables, true
			}
			return nil, len(path) <= 2
		},
	}
}

// deployableView is a deployable. attributes_list is a JSON text.
type deployableView struct {
	UUID            string     `json:"uuid"`
	ParentID        *int64     `json:"parent_id"`
	RootID          *int64     `json:"root_id"`
	Name            string     `json:"name"`
	NumAccelerators int64      `json:"num_accelerators"`
	DeviceID        int64      `json:"device_id"`
	AttributesList  string     `json:"attributes_list"`
	RPUUID          *string    `json:"rp_uuid"`
	DriverName      *string    `json:"driver_name"`
	BitstreamID     *string    `json:"bitstream_id"`
	Links           []arq.Link `json:"links"`
	CreatedAt       *string    `json:"created_at"`
	UpdatedAt       *string    `json:"updated_at"`
}

func (c *call) deployableView(d store.Deployable) (deployableView, error) {
	list := []map[string]string{}
	for _, a := range d.Attributes {
		list = append(list, map[string]string{a.Key: a.Value})
	}
	attributes, err := encode(list)
	return deployableView{
		UUID: d.UUID, ParentID: d.ParentID, RootID: d.RootID, Name: d.Name,
		NumAccelerators: d.NumAccelerators, DeviceID: d.DeviceID, AttributesList: string(attributes),
		RPUUID: d.RPUUID, DriverName: d.DriverName, BitstreamID: d.BitstreamID,
		Links: append(c.selfLinks(deployableCollection, d.UUID),
			arq.Link{Href: c.public() + "/accelerator/" + deployableCollection + "/" + d.UUID, Rel: "bookmark"}),
		CreatedAt: timestampOf(d.CreatedAt), UpdatedAt: timestampOf(d.UpdatedAt),
	}, err
}

func (c *call) listDeployables() (int, any, error) {
	args, err := c.enter("cyborg:deployable:get_all", filterArguments()...)
	if err != nil {
		return 0, nil, err
	}
	filter, filtered, err := parseFilter(args)
	if err != nil {
		return 0, nil, err
	}
	var f store.DeployableFilter
	if filtered {
		if f.Order, err = filter.order(); err != nil {
			return 0, nil, err
		}
		if filter.field == "name" {
			f.Name = filter.value
		}
	}
	rows, err := c.Store.Deployables(c.request.Context(), f)
	if err != nil {
		return 0, nil, err
	}
	list, err := views(rows, c.deployableView)
	return http.StatusOK, struct {
		Deployables []deployableView `json:"deployables"`
	}{list}, err
}

func (c *call) showDeployable() (int, any, error) {
	if _, err := c.enter("cyborg:deployable:get_one"); err != nil {
		return 0, nil, err
	}
	if err := checkUUID("uuid", c.path[0]); err != nil {
		return 0, nil, err
	}
	d, err := c.Store.DeployableByUUID(c.request.Context(), c.path[0])
	if err != nil {
		return 0, nil, err
	}
	view, err := c.deployableView(d)
	return http.StatusOK, view, err
}
