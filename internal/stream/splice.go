package stream

import "fmt"

// Splice replaces Delete bytes at Offset by Insert.
type Splice struct {
	Offset, Delete int
	Insert         string
}

// Apply returns data with the splices made. They must be sorted and must not
// overlap, else it returns an error.
func Apply(data []byte, splices []Splice) ([]byte, error) {
	size, end := len(data), 0
	for _, s := range splices {
		if s.Delete < 0 || s.Offset < end || s.Offset > len(data) || s.Delete > len(data)-s.Offset {
			return nil, fmt.Errorf("the change at offset %d overlaps another or is outside the text", s.Offset)
		}
		end = s.Offset + s.Delete
		size += len(s.Insert) - s.Delete
	}
	result := make([]byte, 0, size)
	end = 0
	for _, s := range splices {
		result = append(result, data[end:s.Offset]...)
		result = append(result, s.Insert...)
		end = s.Offset + s.Delete
	}
	return append(result, data[end:]...), nil
}
