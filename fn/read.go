package fn

import (
	"errors"
	"io"
	"runtime/debug"
)

const (
	// little is the input, in bytes, that costs nothing to copy.
	little = 64 << 10
	// reserved is the address space, in bytes, for an input that is more. Pages of
	// it that are never written to take no memory.
	reserved = 64 << 20
	// garbage is how much memory, in bytes, is used before some is collected, where
	// the input is not larger than that.
	garbage = 16 << 20
)

// readAll is io.ReadAll that copies no large input to make room for the rest of
// it.
func readAll(from io.Reader) ([]byte, error) {
	data := make([]byte, 0, little)
	for {
		n, err := from.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			if cap(data) > little {
				debug.SetGCPercent(100 * max(garbage, len(data)) / cap(data))
			}
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = append(make([]byte, 0, max(reserved, 2*cap(data))), data...)
		}
	}
}
