package ovotest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/ovo"
	"github.com/go-cyborg/cyborg/ovo/ovotest"
)

type disk struct {
	ovo.Base
	Name ovo.Field[string] `ovo:"name"`
}

type biggerDisk struct {
	ovo.Base
	Name ovo.Field[string] `ovo:"name"`
	Size ovo.Null[int64]   `ovo:"size"`
}

// A field was added without a new version. In a real test the expected map is written down and t is the *testing.T.
func ExampleCheck() {
	before, err := ovo.NewRegistry(ovo.DefaultNamespace(), ovo.NewClass[disk]("Disk", ovo.History{ovo.V("1.0")}))
	if err != nil {
		fmt.Println(err)
		return
	}
	now, err := ovo.NewRegistry(ovo.DefaultNamespace(), ovo.NewClass[biggerDisk]("Disk", ovo.History{ovo.V("1.0")}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ovotest.Check(&printer{}, now, before.Fingerprints())
	// Output:
	// the contract of Disk changed, but its version is still 1.0: field size is new.
	// Add ovo.V("1.1", ovo.Adds("size")) to the history of Disk
}

// printer is a testing.TB for the example.
type printer struct{ testing.TB }

func (*printer) Helper() {}
func (p *printer) Error(args ...any) {
	fmt.Println(strings.ReplaceAll(fmt.Sprint(args...), ". ", ".\n"))
}
func (p *printer) Errorf(format string, args ...any) { p.Error(fmt.Sprintf(format, args...)) }
