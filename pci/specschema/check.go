package specschema

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kaptinlin/jsonschema"

	"github.com/go-cyborg/cyborg/pci"
)

//go:embed device_spec.schema.json
var schemaText []byte

// checker is the compiled schema, which the library changes while it
// validates: it compiles patterns at their first use.
type checker struct {
	mu     sync.Mutex
	schema *jsonschema.Schema
}

// compiled is made of the embedded text at its first use. That the text
// compiles, and means what it says, is tested.
var compiled = sync.OnceValue(func() *checker {
	schema, err := jsonschema.NewCompiler().Compile(schemaText)
	if err != nil {
		panic(fmt.Sprintf("specschema: the embedded schema does not compile: %v", err))
	}
	return &checker{schema: schema}
})

// Check checks one entry. It gives every broken keyword once, sorted by
// pointer and keyword. It is a [pci.SchemaCheck] and safe for concurrent use.
func Check(entry map[string]any) []pci.Violation {
	c := compiled()
	c.mu.Lock()
	result := c.schema.ValidateMap(entry)
	c.mu.Unlock()
	var out []pci.Violation
	collect(result, "", &out)
	slices.SortFunc(out, func(a, b pci.Violation) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword))
	})
	return slices.Compact(out)
}

var _ pci.SchemaCheck = Check

// collect gathers the broken keywords of a result and of its details. The
// library gives locations relative to the enclosing result.
func collect(result *jsonschema.EvaluationResult, at string, out *[]pci.Violation) {
	if result.IsValid() {
		return
	}
	at += result.InstanceLocation
	for keyword := range result.Errors {
		if !applicator(keyword) {
			*out = append(*out, pci.Violation{Pointer: at, Keyword: keyword})
		}
	}
	for _, detail := range result.Details {
		if !branch(detail.EvaluationPath) {
			collect(detail, at, out)
		}
	}
}

// applicator tells whether a keyword only repeats failures of its subschemas,
// which are among the details.
func applicator(keyword string) bool {
	switch keyword {
	case "properties", "$ref", "if", "then", "else":
		return true
	}
	return false
}

// branch tells whether a detail belongs to a subschema whose failure is not
// one of the entry: what "not" and "if" tried, and the false schema behind an
// unknown key, which the keyword additionalProperties reports.
func branch(path string) bool {
	return path == "/not" || path == "/if" || strings.HasPrefix(path, "/additionalProperties/")
}
