package specschema_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-cyborg/cyborg/pci"
	"github.com/go-cyborg/cyborg/pci/specschema"
)

// decode reads an entry as pci.ParseDeviceSpec does.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var entry map[string]any
	if err := dec.Decode(&entry); err != nil {
		t.Fatal(err)
	}
	return entry
}

// TestCheck makes every keyword of the schema fail once, because the library
// compiles misspelt keywords and types in silence.
func TestCheck(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]pci.Violation{
		`{}`: nil,
		`{"vendor_id":" 0x10DE ","product_id":"*","address":"*:0a:00.1","managed":false,"physical_network":null}`: nil,
		`{"address":{"domain":"","bus":"(","slot":"1","function":"."},"managed":"true","physical_network":"p"}`:   nil,
		`{"devname":"eth0","managed":true}`: nil,
		`{"x":1}`:                           {{Pointer: "", Keyword: "additionalProperties"}},
		`{"x":1,"y":{"z":2}}`:               {{Pointer: "", Keyword: "additionalProperties"}},
		`{"vendor_id":8086}`:                {{Pointer: "/vendor_id", Keyword: "type"}},
		`{"vendor_id":"8086h"}`:             {{Pointer: "/vendor_id", Keyword: "pattern"}},
		`{"product_id":null}`:               {{Pointer: "/product_id", Keyword: "type"}},
		`{"product_id":"10000"}`:            {{Pointer: "/product_id", Keyword: "pattern"}},
		`{"address":5}`:                     {{Pointer: "/address", Keyword: "type"}},
		`{"address":[]}`:                    {{Pointer: "/address", Keyword: "type"}},
		`{"address":"a:b:c:d"}`:             {{Pointer: "/address", Keyword: "pattern"}},
		`{"address":{"func":"1"}}`:          {{Pointer: "/address", Keyword: "additionalProperties"}},
		`{"address":{"bus":1,"slot":"0","function":null}}`: {
			{Pointer: "/address/bus", Keyword: "type"}, {Pointer: "/address/function", Keyword: "type"},
		},
		`{"devname":""}`:               {{Pointer: "/devname", Keyword: "minLength"}},
		`{"devname":5}`:                {{Pointer: "/devname", Keyword: "type"}},
		`{"devname":"a","address":""}`: {{Pointer: "", Keyword: "not"}},
		`{"physical_network":false}`:   {{Pointer: "/physical_network", Keyword: "type"}},
		`{"managed":"no"}`:             {{Pointer: "/managed", Keyword: "enum"}},
		`{"managed":null}`:             {{Pointer: "/managed", Keyword: "enum"}},
		`{"managed":1}`:                {{Pointer: "/managed", Keyword: "enum"}},
		`{"managed":"True","vendor_id":"","x":0,"address":".","devname":"e"}`: {
			{Pointer: "", Keyword: "additionalProperties"},
			{Pointer: "", Keyword: "not"},
			{Pointer: "/managed", Keyword: "enum"},
			{Pointer: "/vendor_id", Keyword: "pattern"},
		},
	} {
		if diff := cmp.Diff(want, specschema.Check(decode(t, text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestCheckIsConcurrent(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := specschema.Check(map[string]any{"vendor_id": "x", "address": "1:2:3:4"}); len(got) != 2 {
				t.Errorf("violations %v", got)
			}
		})
	}
	wg.Wait()
}

// TestSchemaIsThatOfTheVectors keeps the embedded schema equal to the reference.
func TestSchemaIsThatOfTheVectors(t *testing.T) {
	t.Parallel()
	base, given := os.LookupEnv("VECTORS_DIR")
	if !given {
		base = filepath.Join("..", "testdata", "vectors")
	}
	want, err := os.ReadFile(filepath.Join(base, "pci", "device_spec.schema.json"))
	if given && errors.Is(err, fs.ErrNotExist) {
		t.Skip("the vectors hold no schema")
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("device_spec.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("schema (-vectors +embedded):\n%s", diff)
	}
}
