package argv

import (
	"slices"
	"strconv"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// demand is a check of vLLM's between its parser and its start,
// validate_parsed_serve_args (vllm/entrypoints/**/cli_args.py): when all states
// hold, the line is refused.
type demand struct {
	since, until string // releases, both included; "": open
	flag         string // the option the engine names
	when         []state
	why          string
}

// state is something about the option of a line. It holds or not, or is not
// known because the manifest does not decide the value.
type state struct {
	flag  string
	holds func(value any) (holds, known bool)
}

// demands stand in the order in which the engine checks them. One is asked only
// where the release has its options.
var demands = []demand{
	{flag: "--enable-auto-tool-choice", when: []state{on("--enable-auto-tool-choice"), empty("--tool-call-parser")},
		why: "`--enable-auto-tool-choice` requires `--tool-call-parser`"},
	{until: "0.8.5.post1", flag: "--enable-reasoning", when: []state{on("--enable-reasoning"), empty("--reasoning-parser")},
		why: "`--enable-reasoning` requires `--reasoning-parser`"},
	{until: "0.8.1", flag: "--enable-auto-tool-choice", when: []state{on("--enable-auto-tool-choice"), on("--enable-reasoning")},
		why: "`--enable-auto-tool-choice` and `--enable-reasoning` exclude each other"},
	{until: "0.9.2", flag: "--enable-prompt-embeds", when: []state{on("--enable-prompt-embeds"), on("--enable-prompt-adapter")},
		why: "`--enable-prompt-embeds` and `--enable-prompt-adapter` exclude each other"},
	{since: "0.11.0", flag: "--enable-log-outputs", when: []state{on("--enable-log-outputs"), off("--enable-log-requests")},
		why: "`--enable-log-outputs` requires `--enable-log-requests`"},
	{flag: "--exclude-log-deltas", when: []state{on("--exclude-log-deltas"), off("--enable-log-outputs")},
		why: "`--exclude-log-deltas` requires `--enable-log-outputs`"},
	{flag: "--sse-keep-alive-interval", when: []state{less("--sse-keep-alive-interval", 0)},
		why: "`--sse-keep-alive-interval` takes 0 or more seconds"},
	{flag: "--reasoning-effort-map", when: []state{noTexts("--reasoning-effort-map")},
		why: "`--reasoning-effort-map` takes a JSON object of texts"},
	{flag: "--enable-per-request-metrics", when: []state{on("--enable-per-request-metrics"), on("--disable-log-stats")},
		why: "`--enable-per-request-metrics` needs the statistics that `--disable-log-stats` turns off"},
	supervised(on("--grpc"), "does not go with `--grpc`"),
	supervised(given("--uds"), "does not go with `--uds`"),
	supervised(other("--api-server-count", 1), "requires `--api-server-count=1`"),
	supervised(given("--data-parallel-rank"), "sets `--data-parallel-rank` itself"),
	supervised(on("--data-parallel-external-lb"), "does not go with `--data-parallel-external-lb`"),
	supervised(on("--data-parallel-hybrid-lb"), "does not go with `--data-parallel-hybrid-lb`"),
	supervised(less("--data-parallel-size", 2), "requires `--data-parallel-size` above 1"),
	supervised(less("--data-parallel-size-local", 2), "requires `--data-parallel-size-local` of 2 or more"),
	supervised(unset("--data-parallel-size-local"), "requires `--data-parallel-size-local` of 2 or more"),
}

// supervised is a demand of vllm/entrypoints/**/dp_supervisor.py,
// validate_multi_port_external_lb_args.
func supervised(bad state, why string) demand {
	const flag = "--data-parallel-multi-port-external-lb"
	return demand{flag: flag, when: []state{on(flag), bad}, why: "`" + flag + "` " + why}
}

func on(flag string) state {
	return state{flag, func(v any) (bool, bool) { on, ok := v.(bool); return on, ok || v == nil }}
}

func off(flag string) state {
	return state{flag, func(v any) (bool, bool) { on, ok := v.(bool); return !on, ok || v == nil }}
}

func empty(flag string) state {
	return state{flag, func(v any) (bool, bool) { return v == nil || v == "", true }}
}

func given(flag string) state {
	return state{flag, func(v any) (bool, bool) { return v != nil, true }}
}

func unset(flag string) state {
	return state{flag, func(v any) (bool, bool) { return v == nil, true }}
}

func less(flag string, than int64) state {
	return state{flag, func(v any) (bool, bool) { n, ok := whole(v); return n < than, ok }}
}

func other(flag string, than int64) state {
	return state{flag, func(v any) (bool, bool) { n, ok := whole(v); return ok && n != than, ok || v == nil }}
}

// noTexts holds for JSON that is no object of texts.
func noTexts(flag string) state {
	return state{flag, func(v any) (bool, bool) {
		text, ok := v.(string)
		if !ok {
			return false, v == nil
		}
		value, valid := parseJSON(text)
		object, isObject := value.(map[string]any)
		for _, element := range object {
			_, isText := element.(string)
			isObject = isObject && isText
		}
		return value != nil && !isObject, valid
	}}
}

// whole reads a default or a written value as a whole number.
func whole(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case string:
		plain, ok := parseInt(v)
		n, err := strconv.ParseInt(plain, 10, 64)
		return n, ok && err == nil
	}
	return 0, false
}

// demandsAt returns the demands of a release.
func demandsAt(e *catalogue.Engine, r catalogue.Release) []demand {
	return slices.DeleteFunc(slices.Clone(demands), func(d demand) bool {
		first, bounded := e.Find(d.since)
		last, over := e.Find(d.until)
		lacks := slices.ContainsFunc(d.when, func(s state) bool { return e.Lookup(s.flag, r) == nil })
		return lacks || d.since != "" && bounded && r.Index < first.Index || d.until != "" && over && last.Index < r.Index
	})
}

// reportDemands reports what the line as a whole is refused for. No demand
// holds of the defaults alone, so the first option of one must be given.
func (p *parser) reportDemands() {
	if p.line.Opaque {
		return
	}
	for _, d := range p.demands {
		if p.winner(d.when[0].flag) == NoSetting || slices.ContainsFunc(d.when, func(s state) bool { return !p.stands(s) }) {
			continue
		}
		problem := Problem{Kind: Refused, Flag: d.flag, Setting: p.winner(d.flag), Message: d.why}
		var words []int
		if problem.Setting != NoSetting {
			words = p.took[problem.Setting].words
		}
		p.report(afterParser, problem, words...)
	}
}

// stands reports whether a state is known to hold.
func (p *parser) stands(s state) bool {
	option := p.lookup(s.flag)
	if option == nil {
		return false
	}
	value, known := p.effective(option)
	if !known {
		return false
	}
	holds, known := s.holds(value)
	return holds && known
}

// effective returns what the parser writes for an option: a bool for a switch,
// the text of a value, nil for none, or the default as the catalogue has it.
func (p *parser) effective(o *catalogue.Option) (value any, known bool) {
	i := p.winner(o.Flag)
	if i == NoSetting {
		return o.Default, true
	}
	s := p.took[i].setting
	switch {
	case s.Unknown || p.took[i].group != "" && o.Type != "json":
		return nil, false
	case len(s.Values) == 0:
		return !s.Off, o.IsSwitch()
	case p.dialect.unsetByText && o.Default == nil && (s.Value() == "" || s.Value() == "None"):
		return nil, true
	}
	return p.written(i), true
}

// written returns the value of a setting; that of dotted keys is the JSON they
// make.
func (p *parser) written(i int) string {
	if p.took[i].json != "" {
		return p.took[i].json
	}
	return p.took[i].setting.Value()
}

// winner returns the index of the setting that an option's value comes from, or
// NoSetting.
func (p *parser) winner(flag string) int {
	for i := len(p.took) - 1; i >= 0; i-- {
		if p.took[i].setting.Name == flag || p.took[i].of == flag {
			return i
		}
	}
	return NoSetting
}
