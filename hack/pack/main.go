// Pack turns the measured catalogue of an engine (one JSON line for each
// option, variable and metric, every field of every life spelled out) into the
// compact form that is embedded: still one line each, so that a new release
// shows as a readable diff, but without the fields that have their common
// value. The header line says which values those are; Expand undoes Pack.
//
//	go run ./hack/pack ../shared/catalog engines
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

var (
	packedEngines = []string{"sglang", "vllm"}
	packedFiles   = []string{"options", "env", "metrics"}
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack CATALOG-FOLDER ENGINES-FOLDER")
		os.Exit(2)
	}
	if err := packAll(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// packAll packs every file of every engine from one folder into the other.
func packAll(from, to string) error {
	for _, engine := range packedEngines {
		if err := os.MkdirAll(filepath.Join(to, engine), 0o755); err != nil {
			return err
		}
		for _, file := range packedFiles {
			text, err := os.ReadFile(filepath.Join(from, engine+"."+file+".jsonl"))
			if err != nil {
				return err
			}
			lines, err := Pack(file, bytes.Split(bytes.TrimSpace(text), []byte("\n")))
			if err != nil {
				return fmt.Errorf("%s.%s: %w", engine, file, err)
			}
			packed := append(bytes.Join(lines, []byte("\n")), '\n')
			if err := os.WriteFile(filepath.Join(to, engine, file+".jsonl"), packed, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
