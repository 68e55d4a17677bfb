package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-cyborg/cyborg/daemons/internal/config"
)

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "cyborg.conf")
	text := "[pci]\npassthrough_whitelist = {\"vendor_id\": \"10de\",\n    \"product_id\": \"25b6\"}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		panic(err)
	}
	schema, err := config.NewSchema(config.Options(config.Facts{Hostname: "node7"}))
	if err != nil {
		panic(err)
	}
	cfg, err := config.Load(schema, config.Source{Program: "cyborg-agent", Args: []string{"--config-file", file}, Root: dir})
	if err != nil {
		panic(err)
	}
	for _, entry := range cfg.Entries("pci", "device_spec") {
		fmt.Printf("%q\nfrom line %d, as %s\n", entry.Value, entry.Origin.Line, entry.Origin.As)
	}
	fmt.Println(cfg.Seconds("DEFAULT", "rpc_response_timeout"))
	// Output:
	// "{\"vendor_id\": \"10de\",\n\"product_id\": \"25b6\"}"
	// from line 2, as [pci] passthrough_whitelist
	// 1m0s
}

func ExampleNewSchema() {
	schema, err := config.NewSchema([]config.Option{
		{Group: "operations", Name: "listen", Help: "address of the listener"},
		{Group: "api", Name: "port", Kind: config.Port, Default: 6666},
	})
	fmt.Println(len(schema.Options()), err)
	// Output: 2 <nil>
}
