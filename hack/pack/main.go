// Pack turns the measured catalogue of an engine (one JSON line for each
// option, variable and metric, every field of every life spelled out) into the
// compact form that is embedded: still one line each, so that a new release
// shows as a readable diff, but without the fields that have their common
// value. The header line says which values those are; Expand undoes Pack.
//
//	go run ./hack/pack ../shared/catalog engines
//
// With the file that hack/catalogue/extract.py wrote of a new release it merges
// that into the embedded files instead:
//
//	go run ./hack/pack -merge release.json engines
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

var (
	packedEngines = []string{"sglang", "vllm"}
	packedFiles   = []string{"options", "env", "metrics"}
)

func main() {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "-merge":
		err = mergeAll(os.Args[2], os.Args[3])
	case len(os.Args) == 3:
		err = packAll(os.Args[1], os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: pack CATALOG-FOLDER ENGINES-FOLDER | pack -merge RELEASE.json ENGINES-FOLDER")
		os.Exit(2)
	}
	if err != nil {
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

// mergeAll merges a release into the files of its engine; none is written unless
// all can be.
func mergeAll(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var r release
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	merged := map[string][]byte{}
	for _, file := range packedFiles {
		path := filepath.Join(to, r.Engine, file+".jsonl")
		embedded, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines, err := Merge(file, bytes.Split(bytes.TrimSpace(embedded), []byte("\n")), r)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		merged[path] = append(bytes.Join(lines, []byte("\n")), '\n')
	}
	for path, text := range merged {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
