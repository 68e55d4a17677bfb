package api

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-cyborg/cyborg/daemons/internal/store"
)

// filterFields are the fields of a filter, those that do nothing included.
func filterFields() []string {
	return []string{
		"parent_uuid", "root_uuid", "board", "availability", "interface_type", "instance_uuid",
		"limit", "marker", "sort_key", "sort_dir", "name",
	}
}

// filterArguments are the spellings of a filter in a query.
func filterArguments() []string { return []string{"filters", "filters.field", "filters.value"} }

// filter is filters.field and filters.value taken together.
type filter struct {
	field, value string
}

func parseFilter(args map[string]string) (f filter, given bool, err error) {
	if text, plain := args["filters"]; plain {
		return f, true, badRequest("Invalid input for field/attribute filters. Value: '%s'. "+
			"unable to convert to ArrayType. Error: FilterType() takes no arguments", text)
	}
	f.field, given = args["filters.field"]
	f.value = args["filters.value"]
	if _, valued := args["filters.value"]; !given && !valued {
		return f, false, nil
	}
	if !slices.Contains(filterFields(), f.field) {
		return f, true, badRequest("Invalid input for field/attribute field. Value: '%s'. Value should be one of: %s",
			f.field, strings.Join(filterFields(), ", "))
	}
	return f, true, nil
}

// order is what a filter does to a list. Any filter, even one without effect, turns
// the list round: newest first.
func (f filter) order() (store.Order, error) {
	o := store.Order{Newest: true}
	switch f.field {
	case "limit":
		n, err := strconv.Atoi(f.value)
		if err != nil || n < 0 {
			return o, wrongType("the limit %q is not a number from 0", f.value)
		}
		o.Limit = &n
	case "sort_key":
		o.SortKey = f.value
	case "sort_dir":
		switch f.value {
		case "asc":
			o.Ascending = true
		case "desc":
		default:
			return o, wrongType("the sort direction %q is not asc or desc", f.value)
		}
	}
	return o, nil
}
