package stream

import (
	"fmt"
	"io"
)

// Splice replaces Delete bytes at Offset, which counts bytes from 0, by Insert.
type Splice struct {
	Offset, Delete int
	Insert         string
}

// Apply returns data with the splices made. They must be sorted and must not
// overlap, else it returns an error.
func Apply(data []byte, splices []Splice) ([]byte, error) {
	size, err := sizeAfter(data, splices)
	if err != nil {
		return nil, err
	}
	result := make([]byte, 0, size)
	end := 0
	for _, s := range splices {
		result = append(result, data[end:s.Offset]...)
		result = append(result, s.Insert...)
		end = s.Offset + s.Delete
	}
	return append(result, data[end:]...), nil
}

// Write writes what Apply returns, without a copy of data. Errors are those of
// Apply and of to.
func Write(to io.Writer, data []byte, splices []Splice) error {
	if _, err := sizeAfter(data, splices); err != nil {
		return err
	}
	end := 0
	for _, s := range splices {
		if _, err := to.Write(data[end:s.Offset]); err != nil {
			return err
		}
		if _, err := io.WriteString(to, s.Insert); err != nil {
			return err
		}
		end = s.Offset + s.Delete
	}
	_, err := to.Write(data[end:])
	return err
}

// sizeAfter is the length of data with the splices made, in bytes.
func sizeAfter(data []byte, splices []Splice) (int, error) {
	size, end := len(data), 0
	for _, s := range splices {
		if s.Delete < 0 || s.Offset < end || s.Offset > len(data) || s.Delete > len(data)-s.Offset {
			return 0, fmt.Errorf("the change at offset %d overlaps another or is outside the text", s.Offset)
		}
		end = s.Offset + s.Delete
		size += len(s.Insert) - s.Delete
	}
	return size, nil
}
