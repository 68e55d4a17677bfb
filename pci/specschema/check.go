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

// New compiles the schema and gives the check of one entry. The check reports
// every broken keyword once, sorted by pointer and keyword, and is safe for
// concurrent use. An error means that the embedded schema is broken.
func New() (pci.SchemaCheck, error) {
	schema, err := jsonschema.NewCompiler().Compile(schemaText)
	if err != nil {
		return nil, fmt.Errorf("compile the schema of device_spec entries: %w", err)
	}
	var mu sync.Mutex // the library compiles patterns while it validates
	return func(entry map[string]any) []pci.Violation {
		mu.Lock()
		defer mu.Unlock()
		var out []pci.Violation
		collect(schema.ValidateMap(entry), "", &out)
		slices.SortFunc(out, func(a, b pci.Violation) int {
			return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword))
		})
		return slices.Compact(out)
	}, nil
}

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
