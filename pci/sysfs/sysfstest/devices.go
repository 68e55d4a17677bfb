package sysfstest

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// ParseDevices reads a table of devices.
func ParseDevices(table string) (Tree, error) {
	t := Tree{}
	columns := regexp.MustCompile(`\t+|  +`)
	for i, line := range strings.Split(table, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := columns.Split(line, -1)
		if len(fields) < 6 {
			return nil, fmt.Errorf("table of devices, line %d: want at least six columns, got %d", i+1, len(fields))
		}
		row, err := newRow(fields)
		if err != nil {
			return nil, fmt.Errorf("table of devices, line %d: %w", i+1, err)
		}
		row.add(t)
	}
	return t, nil
}

// row is one line of the table.
type row struct {
	address, vendor, device, class, driver, numa string
	extra                                        map[string]string
}

func newRow(f []string) (row, error) {
	r := row{f[0], f[1], f[2], f[3], f[4], f[5], map[string]string{}}
	if _, _, ok := busOf(r.address); !ok {
		return row{}, fmt.Errorf("%q is not an address", r.address)
	}
	if len(r.class) != 4 && len(r.class) != 6 {
		return row{}, fmt.Errorf("class %q has neither four nor six digits", r.class)
	}
	for _, word := range words(strings.Join(f[6:], " ")) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return row{}, fmt.Errorf("%q is not key=value", word)
		}
		r.extra[key] = value
	}
	if p, ok := r.extra["physfn"]; ok {
		if _, _, ok := busOf(p); !ok || r.extra["vf"] == "" {
			return row{}, fmt.Errorf("physfn=%s needs an address and vf=N", p)
		}
	}
	return r, nil
}

// words splits at blanks outside of double quotes, which it drops.
func words(s string) []string {
	var out []string
	quoted := false
	for word := range strings.FieldsFuncSeq(s, func(c rune) bool {
		if c == '"' {
			quoted = !quoted
		}
		return c == ' ' && !quoted
	}) {
		out = append(out, strings.ReplaceAll(word, `"`, ""))
	}
	return out
}

func busOf(address string) (domain, bus string, ok bool) {
	parts := strings.Split(address, ":")
	if len(parts) != 3 || !strings.Contains(parts[2], ".") {
		return "", "", false
	}
	return parts[0], parts[1], true
}

// home gives the directory of a device, below devices.
func home(address string) string {
	domain, bus, _ := busOf(address)
	return "pci" + domain + ":" + bus + "/" + address
}

// add puts the device into the tree.
func (r row) add(t Tree) {
	dir := "devices/" + home(r.address)
	file := func(name, text string) { t[dir+"/"+name] = Node{Content: []byte(text + "\n")} }
	link := func(name, target string) { t[name] = Node{Link: target} }

	t[dir] = Node{Dir: true}
	link("bus/pci/devices/"+r.address, "../../../"+dir)
	file("vendor", "0x"+strings.ToLower(r.vendor))
	file("device", "0x"+strings.ToLower(r.device))
	file("class", "0x"+(r.class + "00")[:6])
	file("revision", "0x"+r.option("rev", "a1"))
	if r.numa != "-" {
		file("numa_node", r.numa)
	}
	if r.driver != "-" {
		t["bus/pci/drivers/"+r.driver] = Node{Dir: true}
		link(dir+"/driver", "../../../bus/pci/drivers/"+r.driver)
	}
	for _, name := range []string{"totalvfs", "numvfs"} {
		if value, ok := r.extra[name]; ok {
			file("sriov_"+name, value)
		}
	}
	if parent, ok := r.extra["physfn"]; ok {
		link(dir+"/physfn", "../../"+home(parent))
		link("devices/"+home(parent)+"/virtfn"+r.extra["vf"], "../../"+home(r.address))
	}
	if value, ok := r.extra["vgpu"]; ok {
		file("nvidia/current_vgpu_type", value)
	}
	if value, ok := r.extra["vfio"]; ok {
		t[dir+"/vfio-dev/"+value] = Node{Dir: true}
	}
	if name, ok := r.extra["net"]; ok {
		t[dir+"/net/"+name] = Node{Dir: true}
		link("class/net/"+name, "../../"+dir+"/net/"+name)
		link(dir+"/net/"+name+"/device", "../../../"+r.address)
	}
	if value, ok := r.extra["nvme"]; ok {
		r.addNVMe(t, dir, value)
	}
}

func (r row) addNVMe(t Tree, dir, value string) {
	controller, namespaces, _ := strings.Cut(value, ":")
	at := dir + "/nvme/" + controller
	t[at+"/address"] = Node{Content: []byte(r.address + "\n")}
	t["class/nvme/"+controller] = Node{Link: "../../" + at}
	for namespace := range strings.SplitSeq(namespaces, ",") {
		if namespace != "" {
			t[path.Join(at, namespace, "holders")] = Node{Dir: true}
			t["block/"+namespace] = Node{Link: "../" + path.Join(at, namespace)}
		}
	}
}

func (r row) option(key, fallback string) string {
	if v, ok := r.extra[key]; ok {
		return v
	}
	return fallback
}
