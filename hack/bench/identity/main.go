// Identity is a KRM function on kyaml that gives its items back as they are.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/kyaml/kio"
)

func main() {
	both := &kio.ByteReadWriter{Reader: os.Stdin, Writer: os.Stdout, KeepReaderAnnotations: true}
	pipeline := kio.Pipeline{Inputs: []kio.Reader{both}, Outputs: []kio.Writer{both}}
	if err := pipeline.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
