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
	// garbage is how much memory, in bytes, may be used before some is collected:
	// collecting it sooner costs a list of servers a third of its time.
	garbage = 48 << 20
	// seldom is the garbage, in percent of what is in use, for little input: most
	// runs end before any is collected.
	seldom = 400
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
			if cap(data) <= little {
				debug.SetGCPercent(seldom)
			} else {
				// A large list has few servers for its size, and memory is what it lacks.
				spare := max(garbage-8*len(data), len(data)/4)
				debug.SetGCPercent(100 * spare / cap(data))
			}
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = append(make([]byte, 0, max(reserved, 2*cap(data))), data...)
		}
	}
}
