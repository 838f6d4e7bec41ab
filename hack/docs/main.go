// Command docs writes the reference pages that are generated from the code and
// its data: rules, settings, GPUs, models and the config with its JSON Schema.
package main

import (
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	pages, err := pages(".")
	if err != nil {
		log.Fatalf("run it at the root of the repository: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(pages[name]), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// pages are the texts of all generated files by their path below the root of the
// repository.
func pages(root string) (map[string]string, error) {
	all := map[string]string{
		"docs/rules.md":  rules(),
		"docs/gpus.md":   gpus(),
		"docs/models.md": models(),
	}
	for _, engine := range []string{"sglang", "vllm"} {
		page, err := settings(engine)
		if err != nil {
			return nil, err
		}
		all["docs/settings-"+engine+".md"] = page
	}
	spec, err := readSpec(filepath.Join(root, "internal", "config"))
	if err != nil {
		return nil, err
	}
	all["docs/config.md"] = spec.page()
	all["docs/config.schema.json"], err = spec.schema()
	return all, err
}
