package ovo

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestVectors runs every recorded case of oslo.versionedobjects, or those in $VECTORS_DIR/ovo, and prints one line.
func TestVectors(t *testing.T) {
	t.Parallel()
	var count tally
	classes := items(at(loadVectors(t, "classes.json"), "cases"))
	space := newVectorSpace(t, cyborgSpace(), classes)
	each := func(file string, run func(c any) string) {
		count.add(runCases(t, file, run))
	}
	fields := loadVectors(t, "fields.json")
	count.add(runFields(t, newVectorSpace(t, cyborgSpace(), items(at(fields, "classes")))))
	count.add(runRepr(t))
	each("classes.json", space.classCase)
	each("primitives.json", space.primitiveCase)
	each("backport.json", space.backportCase)
	each("manifest.json", func(c any) string { return space.manifestCase(t, c) })
	each("fingerprints.json", func(c any) string { return fingerprintCase(t, c) })
	each("changes.json", space.changesCase)
	each("errors.json", space.errorCase)
	each("serializer.json", space.serializerCase)
	remotable := loadVectors(t, "remotable.json")
	client := newVectorSpace(t, cyborgSpace(), items(at(remotable, "client_classes")))
	bodies := client.dispatcher(t, items(at(remotable, "client_classes")))
	each("remotable.json", func(c any) string { return client.remotableCase(c, bodies) })
	loop := loadVectors(t, "conductor_loop.json")
	caller := newVectorSpace(t, cyborgSpace(), items(at(loop, "client_classes")))
	server := newVectorSpace(t, cyborgSpace(), items(at(loop, "server_classes")))
	conductor := server.dispatcher(t, items(at(loop, "server_classes")))
	each("conductor_loop.json", func(c any) string { return caller.loopCase(c, server, conductor) })
	fmt.Fprintf(os.Stdout, "ovo vectors: %d passed, %d failed, %d skipped\n", count.passed, count.failed, count.skipped)
	if count.failed > 0 {
		t.Errorf("%d cases failed", count.failed)
	}
}

// runCases runs the cases of a file.
func runCases(t *testing.T, name string, run func(c any) string) tally {
	t.Helper()
	var count tally
	for i, c := range items(at(loadVectors(t, name), "cases")) {
		title := fmt.Sprintf("%s case %d (%s)", name, i, strings.TrimSpace(text(c, "op")+" "+text(c, "name")+" "+text(c, "class")))
		if flag(c, "python_only_input") {
			count.skipped++
			continue
		}
		count.record(t, title, run(c))
	}
	return count
}
