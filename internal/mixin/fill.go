package mixin

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
)

// Values fill the placeholders of panels and alerts, by name without brackets:
//
//	server, gateway, small  matchers that select the series of the server, of the
//	                        gateway, and those of small prompts in its histogram
//	gateway.NAME            the name of a series of the gateway
//	pool, slots             tokens of the KV cache and slots of recurrent state of
//	                        one engine
//	ceiling                 requests that run at once
//	ttft, smallTTFT         seconds to the first token, p95, that are too many
type Values map[string]Value

// Value is the text of a placeholder, or, without Known, what would tell it.
type Value struct {
	Text  string
	Known bool
	Needs []string
	// Why says in words why it has no text; empty where Needs say it.
	Why string
}

// Text is a value that is known.
func Text(text string) Value { return Value{Text: text, Known: true} }

// Server is what a mixin is filled for.
type Server struct {
	Engine *catalogue.Engine
	// States are the server at each release that it may run, oldest first.
	States []*engine.State
	Values Values
	// Labels are those that the matchers of the server name.
	Labels []string

	// own are those of the labels that the engine gives its metrics; others come from
	// whoever scrapes, and are on all.
	own []string
}

// Board is what can be shown of a server and watched.
type Board struct {
	Panels []Panel
	Alerts []Alert
	Left   []Left
}

// Left is a panel or an alert that is left out.
type Left struct {
	// Name is the title of the panel, or the name of the alert.
	Name string
	// Why is in words; Needs are the facts that would settle it, if any.
	Why   string
	Needs []string
}

// Fill chooses of an engine's panels and alerts those that every release of the
// server fills with its settings, and fills in the values. Errors are those of the
// data.
func Fill(s Server) (Board, error) {
	s.own = slices.DeleteFunc(slices.Clone(s.Labels), func(label string) bool { return !s.isEngineLabel(label) })
	return s.fill(s.Engine.Name)
}

// FillGateway is Fill for what shows a gateway, which needs no engine. Errors are
// those of the data.
func FillGateway(values Values) (Board, error) { return Server{Values: values}.fill(Gateway) }

func (s Server) fill(owner string) (Board, error) {
	panels, err := Panels(owner)
	if err != nil {
		return Board{}, err
	}
	alerts, err := Alerts(owner)
	if err != nil {
		return Board{}, err
	}
	var board Board
	board.Panels, err = choose(s, panels, &board.Left, func(p Panel) (string, string, []string, Needed) {
		var texts []string
		for _, query := range p.Queries {
			texts = append(texts, query.Expr)
		}
		return p.Name, p.Title, append(texts, p.Description), p.Needed
	})
	if err != nil {
		return Board{}, err
	}
	board.Alerts, err = choose(s, alerts, &board.Left, func(a Alert) (string, string, []string, Needed) {
		return a.Name, "alert " + a.Name, []string{a.Expr, a.Do}, a.Needed
	})
	if err != nil {
		return Board{}, err
	}
	for i := range board.Panels {
		s.Values.panel(&board.Panels[i])
	}
	for i := range board.Alerts {
		values, _ := s.Values.onBucket(board.Alerts[i].Bounds)
		values.alert(&board.Alerts[i])
	}
	return board, nil
}

// choose takes of the entries of each name the first that can be filled. Where
// there is none, the first says why, which is the newest.
func choose[T any](s Server, entries []T, left *[]Left, of func(T) (name, title string, texts []string, needed Needed)) ([]T, error) {
	var chosen []T
	taken, reasons := map[string]bool{}, map[string]*Left{}
	var order []string
	for _, entry := range entries {
		name, title, texts, needed := of(entry)
		if taken[name] || needed.Gateway && !s.Values["gateway"].Known && s.Values["gateway"].Why == "" {
			continue // no gateway is spoken of
		}
		lacks, err := s.lacks(texts, needed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", title, err)
		}
		switch {
		case lacks == nil:
			chosen, taken[name] = append(chosen, entry), true
			delete(reasons, name)
		case reasons[name] == nil:
			lacks.Name = title
			reasons[name], order = lacks, append(order, name)
		}
	}
	for _, name := range order {
		if why := reasons[name]; why != nil {
			*left = append(*left, *why)
		}
	}
	return chosen, nil
}

// lacks says why an entry cannot be filled; nil where it can, at every release.
func (s Server) lacks(texts []string, needed Needed) (*Left, error) {
	for i, state := range s.States {
		left, err := s.lacksAt(state, needed)
		if err != nil {
			return nil, err
		}
		if left == nil {
			continue
		}
		if i > 0 || i < len(s.States)-1 && len(left.Needs) == 0 && !s.everywhere(needed) {
			left.Why += " (in " + state.Release.Version + ", which this image may hold: state the version)"
		}
		return left, nil
	}
	if _, ok := s.Values.onBucket(needed.Bounds); !ok {
		return &Left{Why: "its histogram ends below " + s.Values["ttft"].Text + " s, which are then never exceeded: state a lower `monitor.ttft`"}, nil
	}
	for _, name := range placeholders(texts...) {
		value := s.Values[name]
		switch {
		case value.Known:
		case value.Why != "":
			return &Left{Why: value.Why, Needs: value.Needs}, nil
		default:
			return &Left{Why: "not known: " + strings.Join(value.Needs, ", "), Needs: value.Needs}, nil
		}
	}
	return nil, nil
}

// everywhere tells whether no release of the server fills an entry.
func (s Server) everywhere(needed Needed) bool {
	return !slices.ContainsFunc(s.States, func(state *engine.State) bool {
		left, err := s.lacksAt(state, needed)
		return err == nil && left == nil
	})
}

func (s Server) lacksAt(state *engine.State, needed Needed) (*Left, error) {
	if needed.When != "" {
		truth, needs, err := state.Holds(needed.When)
		switch {
		case err != nil:
			return nil, err
		case truth == engine.False:
			return &Left{Why: needed.Why}, nil
		case truth == engine.Unknown:
			return &Left{Why: "not known: " + strings.Join(needs, ", "), Needs: needs}, nil
		}
	}
	for _, series := range needed.Needs {
		if left := s.lacksSeries(state, series); left != nil {
			return left, nil
		}
	}
	return nil, nil
}

// lacksSeries says why the server exposes no samples under a name that the
// matchers of the server select; nil where it does.
func (s Server) lacksSeries(state *engine.State, series string) *Left {
	lives := s.Engine.Emitting(series)
	at := slices.IndexFunc(lives, func(m catalogue.Metric) bool { return m.Contains(state.Release) })
	if at < 0 {
		return &Left{Why: fmt.Sprintf("%s %s emits no %s", s.Engine.Name, state.Release, series)}
	}
	metric := lives[at]
	var unsure *Left
	for _, lack := range state.MetricLacks(metric.Name) {
		if lack.Holds == engine.True {
			return &Left{Why: lack.Why}
		}
		unsure = &Left{Why: "not known: " + strings.Join(lack.Needs, ", "), Needs: lack.Needs}
	}
	if unsure != nil {
		return unsure
	}
	for _, label := range s.own {
		if !metric.MayHave(label, state.Release) {
			return &Left{Why: fmt.Sprintf("%s has no label %s, by which `monitor.selector` selects the server", series, label)}
		}
	}
	return nil
}

// isEngineLabel tells whether the engine gives some metric a label.
func (s Server) isEngineLabel(label string) bool {
	all, _ := s.Engine.Metrics() // a test reads the file
	return slices.ContainsFunc(all, func(m catalogue.Metric) bool {
		return label != "le" && m.Labels != nil && m.MayHave(label, m.Until)
	})
}

// Nothing says why a server exports nothing at all: that is a fact about every
// metric. nil where it exports something, or where that is not known.
func (s Server) Nothing() *engine.Judgement {
	var first *engine.Judgement
	for _, state := range s.States {
		lacks := state.MetricLacks("*")
		at := slices.IndexFunc(lacks, func(j engine.Judgement) bool { return j.Holds == engine.True })
		if at < 0 {
			return nil
		}
		first = cmp.Or(first, &lacks[at])
	}
	return first
}

var placeholder = regexp.MustCompile(`<([a-zA-Z]+(?:\.[a-zA-Z]+)?)>`)

// placeholders are the names in angle brackets in some texts, sorted.
func placeholders(texts ...string) []string {
	names := map[string]bool{}
	for _, text := range texts {
		for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
			names[found[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Fill puts the values into a text. What is not known stays as it is.
func (v Values) Fill(text string) string {
	text = placeholder.ReplaceAllStringFunc(text, func(whole string) string {
		if value := v[strings.Trim(whole, "<>")]; value.Known {
			return value.Text
		}
		return whole
	})
	return strings.NewReplacer("{}", "", ",}", "}").Replace(text)
}

// onBucket raises <ttft> to the next of some bounds; false where it lies above all.
// Without bounds it stays.
func (v Values) onBucket(bounds []float64) (Values, bool) {
	wanted, err := strconv.ParseFloat(v["ttft"].Text, 64)
	if len(bounds) == 0 || err != nil {
		return v, true
	}
	at := slices.IndexFunc(bounds, func(bound float64) bool { return bound >= wanted })
	if at < 0 {
		return v, false
	}
	raised := maps.Clone(v)
	raised["ttft"] = Text(strconv.FormatFloat(bounds[at], 'f', -1, 64))
	return raised, true
}

func (v Values) panel(p *Panel) {
	p.Description = v.Fill(p.Description)
	p.Threshold = v.Fill(p.Threshold)
	if strings.HasPrefix(p.Threshold, "<") {
		p.Threshold = ""
	}
	p.Queries = slices.Clone(p.Queries)
	for i := range p.Queries {
		p.Queries[i].Expr = v.Fill(p.Queries[i].Expr)
	}
}

func (v Values) alert(a *Alert) {
	a.Expr, a.Do = v.Fill(a.Expr), v.Fill(a.Do)
}
