package catalogue

import (
	"fmt"
	"strings"
	"sync"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// Range is a set of versions written as PEP 440 specifiers. The zero value
// holds every version.
type Range struct {
	text       string
	specifiers []pep440.Specifiers // all must hold
	known      *sync.Map           // *order → bool: a check costs 8 µs
}

// ParseRange reads a range: ">=0.5.10,<0.5.16", "==0.8.*"; "" and "*" hold
// every version. The error names the part that is no specifier.
func ParseRange(text string) (Range, error) {
	r := Range{text: strings.TrimSpace(text), known: &sync.Map{}}
	if r.text == "" || r.text == "*" {
		return r, nil
	}
	for part := range strings.SplitSeq(r.text, ",") {
		part = strings.TrimSpace(part)
		version := strings.TrimSpace(strings.TrimLeft(part, "<>=!~"))
		if version == part || strings.ContainsAny(version, "<>=!~| ") {
			return Range{}, fmt.Errorf("%q in the version range %q is no specifier: write an operator and a version, as in %q", part, text, ">=0.5.10,<0.5.16")
		}
		specifier, err := pep440.NewSpecifiers(part, pep440.WithPreRelease(false))
		if err != nil {
			return Range{}, fmt.Errorf("%q in the version range %q is no specifier of PEP 440: write an operator and a version, as in %q", part, text, ">=0.5.10,<0.5.16")
		}
		r.specifiers = append(r.specifiers, specifier)
	}
	return r, nil
}

// String returns the range as it was written.
func (r Range) String() string { return r.text }

// Contains reports whether a release lies in the range.
func (r Range) Contains(release Release) bool {
	if len(r.specifiers) == 0 {
		return true
	}
	if inside, ok := r.known.Load(release.order); ok {
		return inside.(bool)
	}
	comparing.Lock()
	defer comparing.Unlock()
	version, err := release.order.parsed()
	inside := err == nil
	for _, specifier := range r.specifiers {
		inside = inside && specifier.Check(version)
	}
	r.known.Store(release.order, inside)
	return inside
}
