package fn

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/edit"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/serving"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// judgements are what the rules say about all servers of a run.
type judgements struct {
	servers []judged
	// left are what was seen and is not taken for a server.
	left []server.Left
	// generates is true when a server wants an object that other servers have a
	// part in: a job for its cache tier, or monitoring.
	generates bool
	items     []*stream.Item
	// presence remembers which objects of a record are among the items.
	presence map[string]bool
}

// judged is one server with what was found.
type judged struct {
	*server.Server
	// id tells the server apart in every reading of the input.
	id     string
	facts  *facts.Gathered
	engine *catalogue.Engine
	known  *engine.Knowledge
	config *config.Config
	// view is what rules see of the server.
	view     rule.Server
	settings []setting.Setting
	readAt   readAt
	findings []finding.Finding
	// stopped are the findings, by identity, that are not edited although a rule
	// would.
	stopped map[string]bool
	// undecided lack a fact; their Needs name it.
	undecided []finding.Finding
	// generated are the objects that findings add, renew or take away.
	generated []generated
	// crossing is set where the server is judged at another version than its own.
	crossing *crossing
}

// all are the servers.
func (j *judgements) all() []*judged {
	servers := make([]*judged, len(j.servers))
	for i := range j.servers {
		servers[i] = &j.servers[i]
	}
	return servers
}

// place tells items of two readings of the same input apart.
type place struct{ source, item int }

// judge finds the servers and judges those of the wanted items; nil wants all.
func judge(in Input, sources []*stream.Source, wanted map[place]bool) (*judgements, error) {
	var items []*stream.Item
	at := map[*stream.Item]place{}
	for s, source := range sources {
		for i, item := range source.Items {
			at[item] = place{s, i}
		}
		items = append(items, source.Items...)
	}
	servers, left, err := server.Survey(items)
	if err != nil {
		return nil, err
	}
	all := &judgements{left: left, items: items}
	var tasks []*task
	times := map[string]int{}
	for _, s := range servers {
		id := strings.Join([]string{s.Item.Source.Name, s.Object.Kind, s.Object.Namespace, s.Object.Name, s.Path.String()}, "\x00")
		times[id]++
		id += "\x00" + strconv.Itoa(times[id]) + "\x00"
		if wanted != nil && !wanted[at[s.Item]] {
			continue
		}
		chosen, ok, err := in.configFor(s)
		if err != nil {
			return nil, err
		}
		if ok {
			tasks = append(tasks, &task{server: s, id: id, config: chosen})
		}
	}
	if err := in.judgeTasks(tasks); err != nil {
		return nil, err
	}
	for _, t := range tasks {
		if t.judged != nil {
			t.judged.id = t.id
			all.servers = append(all.servers, *t.judged)
		}
	}
	all.settleExceptions()
	if err := all.settleTiers(); err != nil {
		return nil, err
	}
	return all, all.settleMonitors()
}

// settleExceptions: an annotation speaks for all servers of its object, so an
// exception is stale only where none of them uses it, and is said once.
func (j *judgements) settleExceptions() {
	type claim struct {
		item  *stream.Item
		entry string
	}
	servers, claims, said := map[*stream.Item]int{}, map[claim]int{}, map[claim]bool{}
	isStale := func(f finding.Finding) bool { return f.Rule == "stale-exception" }
	for _, s := range j.servers {
		servers[s.Item]++
		for _, f := range s.findings {
			if isStale(f) {
				claims[claim{s.Item, f.Value}]++
			}
		}
	}
	for i := range j.servers {
		s := &j.servers[i]
		s.findings = slices.DeleteFunc(s.findings, func(f finding.Finding) bool {
			c := claim{s.Item, f.Value}
			drop := isStale(f) && (claims[c] < servers[s.Item] || said[c])
			said[c] = said[c] || isStale(f)
			return drop
		})
	}
}

// configFor merges the configs that select a server.
func (in Input) configFor(s *server.Server) (*config.Config, bool, error) {
	var selecting []*config.Config
	for _, c := range in.Configs {
		if selects(c, s) {
			selecting = append(selecting, c)
		}
	}
	if len(selecting) == 0 {
		return config.Default(), !in.OnlySelected || len(in.Configs) == 0, nil
	}
	merged, err := config.Merge(selecting)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", label(s), err)
	}
	return merged, true, nil
}

func selects(c *config.Config, s *server.Server) bool {
	return c.Selects(s.Object.Kind, s.Object.Name, s.Object.Namespace, s.Labels, s.Container)
}

// label names a server in an error: its file, where it has one, and its object.
func label(s *server.Server) string {
	name := s.Object.Kind + " " + s.Object.Name
	if s.Object.Namespace != "" {
		name = s.Object.Kind + " " + s.Object.Namespace + "/" + s.Object.Name
	}
	if file := s.Item.Source.Name; file != "" {
		name = file + ": " + name
	}
	return name
}

// subject is a server and what is known about it before its settings are read.
type subject struct {
	*server.Server
	config    *config.Config
	overrides *config.Overrides
	engine    *catalogue.Engine
	known     *engine.Knowledge
	facts     *facts.Gathered
	serving   *serving.Engine
}

func newSubject(s *server.Server, chosen *config.Config) (*subject, error) {
	failed := func(err error) (*subject, error) { return nil, fmt.Errorf("%s: %w", label(s), err) }
	overrides, err := config.DecodeAnnotations(s.Annotations, rule.Names())
	if err != nil {
		return failed(err)
	}
	catalogued, err := catalogue.Load(s.Engine)
	if err != nil {
		return failed(err)
	}
	gathered, err := facts.Gather(s, catalogued, &chosen.Spec, overrides)
	if err != nil {
		return failed(err)
	}
	known, err := knowledgeFor(catalogued, chosen)
	if err != nil {
		return failed(err)
	}
	served, err := serving.Load(s.Engine)
	if err != nil {
		return failed(err)
	}
	return &subject{Server: s, config: chosen, overrides: overrides, engine: catalogued, known: known, facts: gathered, serving: served}, nil
}

// view is a server as the rules see it, and those of its namespace before it.
type view struct {
	server rule.Server
	readAt readAt
	beside []rule.Server
}

// look reads the settings of a server.
func (s *subject) look() *view {
	readAt := readByRelease(s.Server, s.engine, s.known, s.facts)
	release, ok := s.facts.Span.Newest()
	if !ok {
		release = s.engine.Releases[0]
	}
	return &view{readAt: readAt, server: rule.Server{
		Server: s.Server, Facts: s.facts, Newest: readAt(release), NewestRelease: release, Catalogue: s.engine, Serving: s.serving,
	}}
}

// judge applies the rules to a server at every release that its version leaves
// possible.
func (s *subject) judge(rules []rule.Rule, v *view) (*judged, error) {
	one := &judged{Server: s.Server, facts: s.facts, engine: s.engine, known: s.known, config: s.config, readAt: v.readAt}
	seen := v.server
	if _, ok := s.facts.Span.Newest(); ok {
		one.settings = seen.Newest.Settings
	}
	one.view = seen
	seen.Earlier = v.beside
	result, err := rule.Run(rules, seen, s.known, s.engine, v.readAt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(s.Server), err)
	}
	policy := rule.Policy{
		Rules: s.rules(), Keep: s.config.Spec.Keep,
		KeepHere: s.overrides.Keep, IgnoreHere: s.overrides.Ignore,
		Engine: s.engine, Span: s.facts.Span, Settings: slices.Concat(one.settings, seen.Newest.Written()),
		Comments: func(f finding.Finding) []string { return edit.Comments(s.Item, f.Places) },
	}
	about := finding.Finding{Object: s.Object, Container: s.Container}
	one.findings = rule.Decide(append(result.Findings, s.monitoring(seen)...), policy, about)
	for i := range one.findings {
		one.locate(&one.findings[i])
	}
	one.undecided = undecidedFor(s.config, result.Undecided)
	return one, nil
}

// rules are what the config says of rules. Where it wants recorded what a sizing
// rests on, that is written although the rule does not edit otherwise.
func (s *subject) rules() map[string]config.RuleSetting {
	const recording = "facts-disagree"
	wanted := s.config.Spec.Rules[recording]
	if !s.facts.Stamp || wanted.Trim != nil {
		return s.config.Spec.Rules
	}
	rules := maps.Clone(s.config.Spec.Rules)
	if rules == nil {
		rules = map[string]config.RuleSetting{}
	}
	acts := true
	wanted.Trim = &acts
	rules[recording] = wanted
	return rules
}

// knowledgeFor is what is known of an engine, with the user's own facts.
func knowledgeFor(catalogued *catalogue.Engine, chosen *config.Config) (*engine.Knowledge, error) {
	known, err := engine.Load(catalogued.Name)
	if err != nil {
		return nil, err
	}
	with, err := known.With(chosen.Spec.Facts, catalogued)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chosen.Source, err)
	}
	return with, nil
}

// undecidedFor are the findings that lack a fact, of the rules that are on.
func undecidedFor(chosen *config.Config, lacking []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(lacking, func(f finding.Finding) bool { return chosen.Spec.Rules[f.Rule].Off })
}

// locate fills in where in the input a finding stands. Inside a host the file
// is the one the host's annotations name, and lines mean nothing.
func (j *judged) locate(f *finding.Finding) {
	if j.Item.Source.List != nil {
		f.File, f.FileIndex = hostFile(j.Annotations)
		return
	}
	f.File, f.FileIndex = j.Item.Source.Name, j.Item.Index
	root, err := j.Item.Root()
	if err != nil || root == nil {
		return
	}
	path := f.Origin.Path
	if path == nil {
		path = f.Origin.Near
	}
	path, part, inside := path.Part()
	node := server.Lookup(root, path)
	switch {
	case node == nil:
		f.Line, f.Column = j.Item.Position(root)
	case inside:
		f.Line, f.Column = j.Item.PositionIn(node, part.Span.From)
	default:
		f.Line, f.Column = j.Item.Position(node)
	}
}

func (j *judged) summary() report.Server {
	gpu, _ := j.facts.Set["gpu.name"].Value.(string)
	return report.Server{
		Object: j.Object, Container: j.Container, Engine: j.Engine,
		Version: versionText(j.facts.Span), GPU: gpu,
	}
}

// versionText is a release, or the range of those that are possible.
func versionText(span catalogue.Span) string {
	switch n := len(span.Releases); {
	case span.Exact && n == 1:
		return span.Releases[0].Version
	case span.Floating && span.Text == "":
		return "latest"
	case n == 0 || span.Newer || span.Floating:
		return strings.TrimPrefix(span.Text, "v")
	default:
		return ">=" + span.Releases[0].Version + ",<=" + span.Releases[n-1].Version
	}
}

// openEdit is a finding that a trim would act on, and the key of its server.
type openEdit struct {
	server string
	finding.Finding
}

// stillOpen are the findings that a second trim would act on. Those whose edit
// was refused in the first are not: they are left to the user.
func (j *judgements) stillOpen(made *changes) []openEdit {
	var acting []openEdit
	for i := range j.servers {
		s := &j.servers[i]
		for _, f := range s.findings {
			if f.Action != finding.None && !made.refused[s.key()+identity(f)] {
				acting = append(acting, openEdit{s.key(), f})
			}
		}
	}
	return acting
}

// key tells the servers of one input apart, in every reading of it: by source
// and object, of which there may be several of one name.
func (j *judged) key() string { return j.id }

// byKey finds the servers of one reading in another.
func (j *judgements) byKey() map[string]*judged {
	index := make(map[string]*judged, len(j.servers))
	for i := range j.servers {
		index[j.servers[i].key()] = &j.servers[i]
	}
	return index
}
