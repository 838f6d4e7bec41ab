package catalogue

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// Release is one release of an engine. Releases of one engine compare with ==
// and are ordered by Index.
type Release struct {
	Index   int
	Version string
	// Date is the day of the release; zero when it is not known.
	Date time.Time

	order *order
}

// String returns the version.
func (r Release) String() string { return r.Version }

// order is the version in the order of PEP 440, parsed when first needed.
type order struct {
	text    string
	once    sync.Once
	version pep440.Version
	err     error
}

// comparing is held while versions are compared: the library lengthens the parts
// of the shorter one where they lie, which others may be reading.
var comparing sync.Mutex

func (o *order) parsed() (pep440.Version, error) {
	o.once.Do(func() { o.version, o.err = pep440.Parse(o.text) })
	return o.version, o.err
}

// Find returns the release that a version names; versions are equal as PEP 440
// has it: v0.5.16 is 0.5.16, 0.8.5-1 is 0.8.5.post1.
func (e *Engine) Find(version string) (Release, bool) {
	if i, ok := e.byVersion[strings.TrimPrefix(version, "v")]; ok {
		return e.Releases[i], true
	}
	wanted, err := pep440.Parse(version)
	if err != nil {
		return Release{}, false
	}
	before, exact := e.place(wanted)
	if !exact {
		return Release{}, false
	}
	return e.Releases[before], true
}

// place returns the index of the first release that is not older than a
// version, and whether it is that version; local parts (+cu129) do not count.
// The index is len(Releases) when all are older.
func (e *Engine) place(wanted pep440.Version) (index int, exact bool) {
	if public, err := pep440.Parse(wanted.Public()); err == nil {
		wanted = public
	}
	comparing.Lock()
	defer comparing.Unlock()
	return slices.BinarySearchFunc(e.Releases, wanted, func(release Release, wanted pep440.Version) int {
		known, _ := release.order.parsed() // a test parses every release
		return known.Compare(wanted)
	})
}

// Between is the range of versions from one release to another, both included.
func Between(since, until Release) string { return fmt.Sprintf(">=%s,<=%s", since, until) }

// Runs prints releases of one engine, oldest first, as runs without a gap:
// "0.8.0 to 0.10.2, 0.12.0".
func Runs(releases []Release) string {
	var runs []Life
	for _, release := range releases {
		runs = append(runs, Life{release, release})
	}
	var texts []string
	for _, run := range joined(runs) {
		if run.Since == run.Until {
			texts = append(texts, run.Since.Version)
			continue
		}
		texts = append(texts, run.Since.Version+" to "+run.Until.Version)
	}
	return strings.Join(texts, ", ")
}
