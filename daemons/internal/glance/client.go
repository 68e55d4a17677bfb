package glance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/gophercloud/gophercloud/v2"
)

// functionKey is the image property that names the function of a bitstream.
const functionKey = "accel:function_id"

// Image is what the conductor needs to know of a bitstream.
type Image struct {
	ID         string
	FunctionID string // property accel:function_id; "" when it has none
}

// Client reads images. It is safe for concurrent use.
type Client struct{ service *gophercloud.ServiceClient }

// New makes a client from an authenticated service client of type image.
func New(service *gophercloud.ServiceClient) *Client { return &Client{service: service} }

type image struct {
	ID       string `json:"id"`
	Function string `json:"accel:function_id"`
}

// ByID reads one image.
func (c *Client) ByID(ctx context.Context, id string) (Image, error) {
	var i image
	err := c.get(ctx, "v2/images/"+url.PathEscape(id), &i)
	return Image{ID: i.ID, FunctionID: i.Function}, err
}

// ByFunction finds the one image of a function; several or none are an error.
func (c *Client) ByFunction(ctx context.Context, function string) (Image, error) {
	var list struct {
		Images []image `json:"images"`
	}
	if err := c.get(ctx, "v2/images?"+url.Values{functionKey: {function}}.Encode(), &list); err != nil {
		return Image{}, err
	}
	if n := len(list.Images); n != 1 {
		return Image{}, fmt.Errorf("images with %s %s: expected one, found %d", functionKey, function, n)
	}
	return Image{ID: list.Images[0].ID, FunctionID: function}, nil
}

func (c *Client) get(ctx context.Context, path string, answer any) error {
	_, err := c.service.Request(ctx, http.MethodGet, c.service.ServiceURL(path), &gophercloud.RequestOpts{
		OkCodes: []int{http.StatusOK}, JSONResponse: answer,
	})
	if err != nil {
		return fmt.Errorf("ask the image service for %s: %w", path, err)
	}
	return nil
}
