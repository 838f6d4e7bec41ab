package catalogue

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// Span is what is known about the version of one server: the releases it may
// run. Exact, Floating, Open, Newer and Older say how that was told; at most
// one of them is set, and none for a range or a version between two releases.
type Span struct {
	// Releases are the candidates, oldest first.
	Releases []Release
	// Exact: the one release that was named.
	Exact bool
	// Floating: whatever is newest when the pod starts; Releases holds the
	// newest release known.
	Floating bool
	// Open: nothing tells the version; Releases holds every release, or those
	// a date leaves.
	Open bool
	// Newer: a version behind the newest release known, which stands in for it.
	Newer bool
	// Older: a version before the oldest release known; Releases is empty.
	Older bool
	// Text is what was read: the version, the range, or the image's tag.
	Text string
	// Why says in one phrase why the version is not exactly known; "" if it is.
	Why string
}

// Newest returns the newest candidate; false when there is none.
func (s Span) Newest() (Release, bool) {
	if len(s.Releases) == 0 {
		return Release{}, false
	}
	return s.Releases[len(s.Releases)-1], true
}

// Stated returns the span of a version that a configuration or an annotation
// states: a release (v0.5.16), a range of PEP 440 (>=0.5.10,<0.5.16), or the
// name of a rolling tag (latest). The error says what may be written.
func (e *Engine) Stated(version string) (Span, error) {
	text := strings.TrimSpace(version)
	if rolling.MatchString(text) {
		return e.floating(text), nil
	}
	if text != "" && strings.ContainsRune("<>=!~", rune(text[0])) {
		return e.inRange(text)
	}
	if stated, rest := cutVersion(text); stated != "" && (rest == "" || strings.ContainsRune("-_+", rune(rest[0]))) {
		if parsed, err := pep440.Parse(stated); err == nil {
			return e.at(parsed, text), nil
		}
	}
	return Span{}, fmt.Errorf("version %q is no release of %s and no range: write it as %q or %q", version, e.Name, "v"+e.Newest().Version, ">="+e.Releases[0].Version+",<"+e.Newest().Version)
}

// inRange returns the span of a range. One that holds no known release lies
// behind or before the catalogue, or between two of its releases.
func (e *Engine) inRange(text string) (Span, error) {
	versions, err := ParseRange(text)
	if err != nil {
		return Span{}, err
	}
	span := Span{Text: text}
	for _, release := range e.Releases {
		if versions.Contains(release) {
			span.Releases = append(span.Releases, release)
		}
	}
	switch {
	case len(span.Releases) == 1 && strings.HasPrefix(text, "==") && !strings.Contains(text, "*"):
		span.Exact = true
	case len(span.Releases) > 0:
		span.Why = fmt.Sprintf("the range %s leaves %d releases", text, len(span.Releases))
	default:
		return e.outside(text)
	}
	return span, nil
}

func (e *Engine) outside(text string) (Span, error) {
	for part := range strings.SplitSeq(text, ",") {
		operator := strings.TrimSpace(part)[:1]
		bound, err := pep440.Parse(strings.TrimSuffix(strings.TrimLeft(part, " <>=!~"), ".*"))
		if err != nil {
			continue
		}
		index, exact := e.place(bound)
		if index == len(e.Releases) && strings.Contains(">=~", operator) || exact && index == len(e.Releases)-1 && operator == ">" {
			return e.newer(text), nil
		}
		if index == 0 && strings.Contains("<=~", operator) {
			return e.older(text), nil
		}
	}
	return Span{}, fmt.Errorf("no known release of %s lies in the version range %q: the catalogue knows %s to %s", e.Name, text, e.Releases[0].Version, e.Newest().Version)
}

// at returns the span of one version.
func (e *Engine) at(version pep440.Version, text string) Span {
	index, exact := e.place(version)
	switch {
	case exact:
		return Span{Releases: e.Releases[index : index+1 : index+1], Exact: true, Text: text}
	case index == len(e.Releases):
		return e.newer(text)
	case index == 0:
		return e.older(text)
	}
	return Span{
		Releases: slices.Clone(e.Releases[index-1 : index+1]), Text: text,
		Why: fmt.Sprintf("%s is no release of %s that the catalogue knows: it lies between %s and %s", text, e.Name, e.Releases[index-1], e.Releases[index]),
	}
}

func (e *Engine) newer(text string) Span {
	return Span{Releases: []Release{e.Newest()}, Newer: true, Text: text, Why: fmt.Sprintf("%s is newer than %s, the newest release of %s the catalogue knows", text, e.Newest(), e.Name)}
}

func (e *Engine) older(text string) Span {
	return Span{Older: true, Text: text, Why: fmt.Sprintf("%s is older than %s, the oldest release of %s the catalogue knows", text, e.Releases[0], e.Name)}
}

func (e *Engine) floating(text string) Span {
	return Span{Releases: []Release{e.Newest()}, Floating: true, Text: text, Why: fmt.Sprintf("%s is whatever is newest when the pod starts", cmp.Or(text, "no tag"))}
}

func (e *Engine) open(text, why string) Span {
	return Span{Releases: slices.Clone(e.Releases), Open: true, Text: text, Why: why}
}

var versionStart = regexp.MustCompile(`^v?[0-9]+(?:\.[0-9]+)+(?:[-._]?(?:rc|alpha|beta|a|b)[0-9]+)?(?:[-._]?post[0-9]+)?(?:[-._]?dev[0-9]*)?`)

// cutVersion splits a text into the version it begins with and the rest; the
// version is "" when there is none.
func cutVersion(text string) (version, rest string) {
	version = versionStart.FindString(text)
	return version, text[len(version):]
}
