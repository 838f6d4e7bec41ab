package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
)

// Impact says how a change of the engine's version meets a server.
type Impact string

// The impacts, worst first.
const (
	// Breaking: the server does not start.
	Breaking Impact = "breaking"
	// Silent: the server starts and does something else.
	Silent Impact = "silent"
	// Harmless: the server does what it did, or nobody can tell that it does not.
	Harmless Impact = "harmless"
)

// Kind says what becomes of a setting with another version.
type Kind string

// The kinds of changes.
const (
	// Refused: the engine does not start with it.
	Refused Kind = "refused"
	// Renamed: it is written another way.
	Renamed Kind = "renamed"
	// Deprecated is what still works, and of which the engine says that it will go.
	Deprecated Kind = "deprecated"
	// Accepted: the engine refused it, and takes it now.
	Accepted Kind = "accepted"
	// Dead: it does nothing any more.
	Dead Kind = "dead"
	// Alive: it did nothing, and has an effect now.
	Alive Kind = "alive"
	// ValueChanged: what is written comes to something else.
	ValueChanged Kind = "value"
	// DefaultChanged: it is not written, and the engine takes something else.
	DefaultChanged Kind = "default"
	// MemoryChanged: the account of the GPU comes out differently.
	MemoryChanged Kind = "memory"
	// Retagged: the image gets the tag of the other version.
	Retagged Kind = "image"
	// MetricGone: a query asks for a metric that is no longer there.
	MetricGone Kind = "metric"
)

// Upgrade is what other engine versions change for some servers, and for the
// queries about them.
type Upgrade struct {
	Servers []UpgradedServer
	// Queries are the changes for dashboards and rules.
	Queries []Change
}

// UpgradedServer is a server and what another version of its engine changes.
type UpgradedServer struct {
	Object    finding.Object
	Container string
	Engine    string
	// From is the present release, or the range of those that are possible, To the
	// release that is to come.
	From, To string
	// Note says why the present version is not exactly known, or why nothing can
	// be compared; empty where it is known.
	Note    string
	Changes []Change
}

// Change is one thing that another version changes.
type Change struct {
	Kind   Kind
	Impact Impact
	// From are the present releases for which it holds, where these are not all
	// that are possible.
	From string
	// Before and After are the values of both versions, empty where one is not
	// known or there is none.
	Before, After string
	// Finding holds the setting, the message, the place, the proof, and what to
	// write instead.
	finding.Finding
}

// UpgradeSummary counts the changes that remain, by impact.
type UpgradeSummary struct {
	Breaking int `json:"breaking"`
	Silent   int `json:"silent"`
	Harmless int `json:"harmless"`
	Fixed    int `json:"fixed"`
}

// all are the changes of all servers, then those of the queries.
func (u Upgrade) all() []Change {
	var all []Change
	for _, server := range u.Servers {
		all = append(all, server.Changes...)
	}
	return append(all, u.Queries...)
}

// Summary counts the changes; what was fixed counts as that alone.
func (u Upgrade) Summary() UpgradeSummary {
	var s UpgradeSummary
	for _, change := range u.all() {
		switch {
		case change.Fixed:
			s.Fixed++
		case change.Impact == Breaking:
			s.Breaking++
		case change.Impact == Silent:
			s.Silent++
		default:
			s.Harmless++
		}
	}
	return s
}

// fixable counts the changes that a run with -w fixes.
func (u Upgrade) fixable() int {
	n := 0
	for _, change := range u.all() {
		if !change.Fixed && change.acts() {
			n++
		}
	}
	return n
}

func (c Change) acts() bool { return c.Action != finding.None && c.Action != "" }

var impactOrder = []Impact{Breaking, Silent, Harmless}

// SortChanges orders changes: the worst first, then by place and setting.
func SortChanges(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(slices.Index(impactOrder, a.Impact), slices.Index(impactOrder, b.Impact)),
			comparePlaces(a.Finding, b.Finding),
			cmp.Compare(a.Kind, b.Kind),
		)
	})
}

type upgradeDocument struct {
	Servers []upgradedServer `json:"servers"`
	Queries []jsonChange     `json:"queries"`
	Summary UpgradeSummary   `json:"summary"`
}

type upgradedServer struct {
	Object    finding.Object `json:"object"`
	Container string         `json:"container"`
	Engine    string         `json:"engine"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Note      string         `json:"note"`
	Changes   []jsonChange   `json:"changes"`
}

type jsonChange struct {
	Kind   Kind   `json:"kind"`
	Impact Impact `json:"impact"`
	From   string `json:"from"`
	Before string `json:"before"`
	After  string `json:"after"`
	jsonFinding
}

func jsonChanges(changes []Change) []jsonChange {
	list := []jsonChange{}
	for _, c := range changes {
		list = append(list, jsonChange{
			Kind: c.Kind, Impact: c.Impact, From: c.From,
			Before: shown(c.Setting, c.Before), After: shown(c.Setting, c.After),
			jsonFinding: jsonFindingOf(c.Finding),
		})
	}
	return list
}

// WriteUpgradeJSON prints an upgrade as one JSON object, as WriteJSON prints a
// report; docs/upgrade.schema.json describes it. It returns the error of the
// writer.
func WriteUpgradeJSON(w io.Writer, u Upgrade) error {
	d := upgradeDocument{Servers: []upgradedServer{}, Queries: jsonChanges(u.Queries), Summary: u.Summary()}
	for _, s := range u.Servers {
		d.Servers = append(d.Servers, upgradedServer{
			Object: s.Object, Container: s.Container, Engine: s.Engine, From: s.From, To: s.To, Note: s.Note, Changes: jsonChanges(s.Changes),
		})
	}
	return Encode(w, d)
}

// heading names a server and the two versions.
func (s UpgradedServer) heading() string {
	name := objectName(s.Object)
	if s.Container != "" {
		name += ", container " + printable(s.Container)
	}
	return fmt.Sprintf("%s: %s %s → %s", name, s.Engine, s.From, s.To)
}

// says is the message, with the releases for which it holds where those are not
// all.
func (c Change) says() string {
	text := oneLine(c.Message)
	if c.From != "" {
		text += fmt.Sprintf(" (coming from %s)", c.From)
	}
	return text
}

// WriteUpgradeText prints an upgrade server by server, the worst first. A server
// for which nothing changes is not named. It returns the error of the writer.
func WriteUpgradeText(w io.Writer, u Upgrade) error {
	var b bytes.Buffer
	for _, s := range u.Servers {
		if len(s.Changes) == 0 && s.Note == "" {
			continue
		}
		fmt.Fprintln(&b, s.heading())
		if s.Note != "" {
			fmt.Fprintf(&b, "  %s\n", oneLine(s.Note))
		}
		writeChanges(&b, s.Changes)
	}
	if len(u.Queries) > 0 {
		fmt.Fprintln(&b, "Queries")
		writeChanges(&b, u.Queries)
	}
	fmt.Fprintln(&b, u.closing())
	_, err := w.Write(b.Bytes())
	return err
}

func writeChanges(b *bytes.Buffer, changes []Change) {
	for _, c := range changes {
		fmt.Fprintf(b, "  %-8s %-10s %s: %s%s%s\n", c.Impact, c.Kind, place(c.Finding), c.says(), c.fix(), proof(c.Finding))
	}
}

// fix says what is, or would be, done about a change.
func (c Change) fix() string {
	switch {
	case c.Fixed:
		return " (fixed)"
	case c.acts() && c.Action == finding.Remove:
		return " (`-w` takes it out)"
	case c.acts():
		return " (`-w` writes it)"
	}
	return ""
}

func (u Upgrade) closing() string {
	s := u.Summary()
	if s == (UpgradeSummary{}) && len(u.Servers) == 0 {
		return "no server of that engine is found"
	}
	if s == (UpgradeSummary{}) {
		return "nothing changes"
	}
	text := fmt.Sprintf("%d breaking, %s, %d harmless", s.Breaking, count(s.Silent, "silent change"), s.Harmless)
	if s.Fixed > 0 {
		text += fmt.Sprintf(", %d fixed", s.Fixed)
	}
	if n := u.fixable(); n > 0 {
		text += fmt.Sprintf("; `-w` fixes %d", n)
	}
	return text
}

// WriteUpgradeMarkdown prints an upgrade as a comment on a pull request: what
// breaks, what changes silently, and the rest folded. It returns the error of
// the writer.
func WriteUpgradeMarkdown(w io.Writer, u Upgrade) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### trimtab upgrade: %s\n", u.closing())
	unchanged := 0
	for _, s := range u.Servers {
		if len(s.Changes) == 0 && s.Note == "" {
			unchanged++
			continue
		}
		fmt.Fprintf(&b, "\n#### %s\n", escapeMarkdown(s.heading()))
		if s.Note != "" {
			fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(oneLine(s.Note)))
		}
		markdownChanges(&b, s.Changes)
	}
	if len(u.Queries) > 0 {
		fmt.Fprintf(&b, "\n#### Dashboards and rules\n")
		markdownChanges(&b, u.Queries)
	}
	if unchanged > 0 {
		fmt.Fprintf(&b, "\n%s not affected.\n", count(unchanged, "server"))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func markdownChanges(b *bytes.Buffer, changes []Change) {
	titles := map[Impact]string{Breaking: "Breaks", Silent: "Changes silently", Harmless: "Also"}
	for _, impact := range impactOrder {
		var items []string
		for _, c := range changes {
			if c.Impact == impact {
				items = append(items, markdownChange(c))
			}
		}
		switch {
		case len(items) == 0:
		case impact == Harmless:
			markdownSection(b, titles[impact], true, items)
		default:
			fmt.Fprintf(b, "\n**%s**\n\n%s", titles[impact], strings.Join(items, ""))
		}
	}
}

func markdownChange(c Change) string {
	item := fmt.Sprintf("- **%s** %s at %s: %s%s\n", c.Kind, inCode(c.Setting), inCode(place(c.Finding)), escapeMarkdown(c.says()), c.fix())
	below := proofs(c.Finding)
	if c.Undo != "" {
		below = append(below, "way back: "+oneLine(c.Undo))
	}
	for i := range below {
		below[i] = escapeMarkdown(below[i])
	}
	if len(below) > 0 {
		item += "  <br><sub>" + strings.Join(below, " · ") + "</sub>\n"
	}
	return item
}
