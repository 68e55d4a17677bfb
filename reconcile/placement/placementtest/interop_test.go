package placementtest_test

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/reconcile"
	"github.com/go-cyborg/cyborg/reconcile/placement"
	"github.com/go-cyborg/cyborg/reconcile/placement/placementtest"
	"github.com/go-cyborg/cyborg/reconcile/reconciletest"
)

//go:embed testdata/interop/placement.py
var placementScript string

// realPlacement starts a Placement 15 in the root of the newest Python peers
// and gives its address.
func realPlacement(t *testing.T) string {
	t.Helper()
	dir := ""
	for pair := range strings.FieldsSeq(os.Getenv("CYBORG_PEERS")) {
		if suite, d, _ := strings.Cut(pair, "="); suite == "forky" {
			dir = d
		}
	}
	if dir == "" {
		t.Skip("CYBORG_PEERS has no forky: no real Placement to test with")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
	cmd := exec.CommandContext(ctx, "chroot", dir, "python3", "-W", "ignore", "-c", placementScript)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // what it did is checked by now
		cancel()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("placement said %q: %v: %s", port, err, stderr.String())
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

// token adds what a Placement without Keystone asks for.
type token struct{}

func (token) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Auth-Token", "admin:admin")
	return http.DefaultTransport.RoundTrip(r)
}

const (
	rootUUID  = "f867a04d-b2c1-4868-ba39-1dedf0bdd672"
	childUUID = "922aaf1a-3f2b-3c55-894d-3b9a39b9a80d"
	guestUUID = "22222222-2222-4222-8222-222222222222"
)

// dialogue is said to a real Placement and to ours; "at" is the microversion.
var dialogue = []struct {
	at, method, path, body string
}{
	{"1.26", "GET", "/resource_providers/" + rootUUID, ""},
	{"1.26", "POST", "/resource_providers", `{"uuid": "` + childUUID + `", "name": "child", "parent_provider_uuid": "` + rootUUID + `"}`},
	{"1.26", "POST", "/resource_providers", `{"uuid": "` + rootUUID + `", "name": "compute-1"}`},
	{"1.26", "POST", "/resource_providers", `{"uuid": "` + rootUUID + `", "name": "compute-1"}`},
	{"1.26", "POST", "/resource_providers", `{"uuid": "` + childUUID + `", "name": "compute-1"}`},
	{"1.26", "POST", "/resource_providers", `{"uuid": "` + childUUID + `", "name": "child", "parent_provider_uuid": "` + rootUUID + `"}`},
	{"1.26", "POST", "/resource_providers", `{"uuid": "` + childUUID + `", "name": "other", "parent_provider_uuid": "` + rootUUID + `"}`},
	{"1.26", "GET", "/resource_providers?in_tree=" + childUUID, ""},
	{"1.26", "GET", "/resource_providers?in_tree=" + guestUUID, ""},
	{"1.26", "GET", "/resource_providers?name=child", ""},
	{"1.13", "GET", "/resource_providers/" + childUUID, ""},
	{"1.26", "DELETE", "/resource_providers/" + rootUUID, ""},
	{"1.26", "PUT", "/traits/CUSTOM_T1", ""},
	{"1.26", "PUT", "/traits/CUSTOM_T1", ""},
	{"1.26", "PUT", "/traits/OWNER_CYBORG", ""},
	{"1.26", "PUT", "/traits/CUSTOM_lower", ""},
	{"1.26", "PUT", "/resource_classes/CUSTOM_PCI", ""},
	{"1.26", "PUT", "/resource_classes/CUSTOM_PCI", ""},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/traits", `{"resource_provider_generation": 0, "traits": ["OWNER_CYBORG", "CUSTOM_T1"]}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/traits", `{"resource_provider_generation": 1, "traits": ["OWNER_CYBORG", "CUSTOM_T1"]}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/traits", `{"resource_provider_generation": 0, "traits": []}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/traits", `{"resource_provider_generation": 1, "traits": ["CUSTOM_T2"]}`},
	{"1.26", "DELETE", "/traits/CUSTOM_T1", ""},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 1, "inventories": {"CUSTOM_NO": {"total": 1}}}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 0, "inventories": {}}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 1, "inventories": {"CUSTOM_PCI": {"total": 1, "max_unit": 1, "reserved": 2}}}`},
	{"1.25", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 1, "inventories": {"CUSTOM_PCI": {"total": 1, "max_unit": 1, "reserved": 1}}}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 1, "inventories": {"CUSTOM_PCI": {"total": 1, "max_unit": 1, "reserved": 0}}}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 2, "inventories": {"CUSTOM_PCI": {"total": 1, "max_unit": 1, "reserved": 0}}}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories/FPGA", `{"resource_provider_generation": 3, "total": 1}`},
	{"1.38", "PUT", "/allocations/" + guestUUID, `{"allocations": {"` + childUUID + `": {"resources": {"CUSTOM_PCI": 2}}}, "project_id": "p", "user_id": "u", "consumer_generation": null, "consumer_type": "INSTANCE"}`},
	{"1.38", "PUT", "/allocations/" + guestUUID, `{"allocations": {"` + childUUID + `": {"resources": {"CUSTOM_PCI": 1}}}, "project_id": "p", "user_id": "u", "consumer_generation": null, "consumer_type": "INSTANCE"}`},
	{"1.38", "PUT", "/allocations/" + guestUUID, `{"allocations": {"` + childUUID + `": {"resources": {"CUSTOM_PCI": 1}}}, "project_id": "p", "user_id": "u", "consumer_generation": null, "consumer_type": "INSTANCE"}`},
	{"1.26", "GET", "/resource_providers/" + childUUID + "/usages", ""},
	{"1.26", "GET", "/resource_providers/" + childUUID + "/allocations", ""},
	{"1.26", "DELETE", "/resource_providers/" + childUUID, ""},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 4, "inventories": {}}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 4, "inventories": {"CUSTOM_PCI": {"total": 1, "max_unit": 1, "reserved": 1}}}`},
	{"1.38", "PUT", "/allocations/33333333-3333-4333-8333-333333333333", `{"allocations": {"` + childUUID + `": {"resources": {"CUSTOM_PCI": 1}}}, "project_id": "p", "user_id": "u", "consumer_generation": null, "consumer_type": "INSTANCE"}`},
	{"1.26", "DELETE", "/allocations/" + guestUUID, ""},
	{"1.26", "DELETE", "/allocations/" + guestUUID, ""},
	{"1.26", "GET", "/resource_providers/" + childUUID, ""},
	{"1.26", "DELETE", "/resource_providers/" + childUUID, ""},
	{"1.26", "DELETE", "/resource_providers/" + childUUID, ""},
	{"1.26", "GET", "/resource_providers/" + childUUID + "/inventories", ""},
	{"1.26", "GET", "/resource_providers/" + childUUID + "/inventories/FPGA", ""},
	{"1.26", "GET", "/resource_providers/" + childUUID + "/traits", ""},
	{"1.26", "GET", "/resource_providers/" + childUUID + "/usages", ""},
	{"1.26", "GET", "/resource_providers/" + childUUID + "/allocations", ""},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/inventories", `{"resource_provider_generation": 0, "inventories": {}}`},
	{"1.26", "PUT", "/resource_providers/" + childUUID + "/traits", `{"resource_provider_generation": 0, "traits": []}`},
	{"1.38", "PUT", "/allocations/" + guestUUID, `{"allocations": {"` + rootUUID + `": {"resources": {"FPGA": 1}}}, "project_id": "p", "user_id": "u", "consumer_generation": 3, "consumer_type": "INSTANCE"}`},
	{"1.38", "PUT", "/allocations/" + guestUUID, `{"allocations": {"` + rootUUID + `": {"resources": {"FPGA": 1}}}, "project_id": "p", "user_id": "u", "consumer_generation": null, "consumer_type": "INSTANCE"}`},
	{"1.38", "PUT", "/allocations/" + guestUUID, `{"allocations": {"` + childUUID + `": {"resources": {"FPGA": 1}}}, "project_id": "p", "user_id": "u", "consumer_generation": null, "consumer_type": "INSTANCE"}`},
	{"1.38", "GET", "/allocations/" + guestUUID, ""},
	{"1.26", "GET", "/traits/CUSTOM_T1", ""},
	{"1.26", "DELETE", "/traits/CUSTOM_T1", ""},
	{"1.26", "GET", "/traits/CUSTOM_T1", ""},
	{"1.26", "DELETE", "/traits/OWNER_CYBORG", ""},
	{"1.40", "GET", "/resource_providers", ""},
	{"2.0", "GET", "/resource_providers", ""},
	{"latest", "GET", "/resource_providers/" + rootUUID, ""},
	{"1.26", "GET", "/resource_providers?nonsense=1", ""},
	{"1.26", "GET", "/resource_providers?uuid=nonsense", ""},
	{"1.26", "GET", "/nonsense", ""},
	{"1.26", "PATCH", "/resource_providers", ""},
}

// say sends one line of the dialogue and gives status and body.
func say(client *http.Client, endpoint string, i int) string {
	d := dialogue[i]
	req, err := http.NewRequest(d.method, endpoint+d.path, strings.NewReader(d.body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("OpenStack-API-Version", "placement "+d.at)
	if d.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	var body any
	_ = json.NewDecoder(resp.Body).Decode(&body) // empty bodies too
	sortTraits(body)
	text, err := json.MarshalIndent(withoutRequestID(body), "", " ")
	if err != nil {
		return err.Error()
	}
	// Why something does not validate is the schema library's own affair.
	said := string(text)
	for _, schema := range []string{"JSON does not validate", "Invalid query string parameters"} {
		if strings.Contains(said, schema) {
			said = schema
		}
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, said)
}

func sortTraits(body any) {
	if m, ok := body.(map[string]any); ok {
		if list, ok := m["traits"].([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
}

// TestInteropPlacement says the same to a real Placement and to ours.
func TestInteropPlacement(t *testing.T) {
	real, endpoint := &http.Client{Transport: token{}}, realPlacement(t)
	ours := placementtest.Client(placementtest.New(nil))
	passed := 0
	for i, d := range dialogue {
		want, got := say(real, endpoint, i), say(ours, "http://placement.invalid", i)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d: %s %s %s: %s", i, d.method, d.path, d.body, diff)
			continue
		}
		passed++
	}
	fmt.Fprintf(os.Stdout, "interop placement: %d of %d answers alike\n", passed, len(dialogue))
}

// TestInteropRunner lives one story on a real Placement and on ours: reports,
// a guest, a missing device, its return.
func TestInteropRunner(t *testing.T) {
	endpoint := realPlacement(t)
	real := placement.NewNoAuth(endpoint, &http.Client{Transport: token{}}, placement.Config{})
	ours := placementtest.Client(placementtest.New(nil))
	want := story(t, real, &http.Client{Transport: token{}}, endpoint)
	got := story(t, placement.NewNoAuth("http://placement.invalid", ours, placement.Config{}), ours, "http://placement.invalid")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func story(t *testing.T, client *placement.Client, raw *http.Client, endpoint string) []string {
	t.Helper()
	var told []string
	call := func(method, path, body string) {
		t.Helper()
		req, err := http.NewRequest(method, endpoint+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("OpenStack-API-Version", "placement 1.38")
		req.Header.Set("Content-Type", "application/json")
		resp, err := raw.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var v struct {
			Inventories any `json:"inventories"`
		}
		_ = json.NewDecoder(resp.Body).Decode(&v) // empty bodies too
		told = append(told, fmt.Sprint(method, " ", resp.StatusCode, " ", v.Inventories))
	}
	db := &reconciletest.Store{}
	run := func(ds ...reconcile.Device) {
		t.Helper()
		// A process that has just started each time.
		res, err := (&reconcile.Runner{Store: db, Placement: client}).Run(context.Background(), "compute-1", ds)
		told = append(told, fmt.Sprint(res.Devices, res.Problems, err))
	}
	call("POST", "/resource_providers", `{"uuid": "`+rootUUID+`", "name": "compute-1"}`)
	a, b := card(1), card(2)
	id := reconcile.ProviderUUID(a.Deployables[0].Name)
	allocation := `{"allocations": {"` + id + `": {"resources": {"CUSTOM_PCI": 1}}}, "project_id": "p", "user_id": "u", "consumer_generation": null, "consumer_type": "INSTANCE"}`
	run(a, b)
	run(a, b)
	db.Bind(id, "arq")
	call("PUT", "/allocations/"+guestUUID, allocation)
	run(b) // the bound one is missing
	call("GET", "/resource_providers/"+id+"/inventories", "")
	call("PUT", "/allocations/33333333-3333-4333-8333-333333333333", allocation)
	db.Unbind("arq")
	run(b) // nobody holds it, something is allocated
	call("GET", "/resource_providers/"+id+"/inventories", "")
	a.Deployables[0].NumAccelerators = 2
	a.Deployables[0].Attributes[1].Value = "CUSTOM_T2"
	run(a, b)
	call("GET", "/resource_providers/"+id+"/inventories", "")
	a.Deployables[0].Attributes[0].Value = "PGPU"
	run(a, b) // another class while allocated
	call("DELETE", "/allocations/"+guestUUID, "")
	run(a, b)
	call("GET", "/resource_providers/"+id+"/inventories", "")
	run()
	call("GET", "/resource_providers/"+id+"/inventories", "")
	return told
}

func card(n int) reconcile.Device {
	info := fmt.Sprintf(`{"bus": "0%d", "device": "00", "domain": "0000", "function": "0"}`, n)
	return reconcile.Device{
		Type: "GPU", Vendor: "10de", Model: "25b6", ControlPath: reconcile.ControlPath{Type: "PCI", Info: info},
		Deployables: []reconcile.Deployable{{
			Name: fmt.Sprintf("compute-1_%d", n), NumAccelerators: 1,
			Attributes: []reconcile.Attribute{{Key: "rc", Value: "CUSTOM_PCI"}, {Key: "trait0", Value: "CUSTOM_T1"}},
			Handles:    []reconcile.Handle{{Type: "PCI", Info: info}},
		}},
	}
}
