package validators

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

const (
	stepBudget    = "--max-num-batched-tokens"
	longThreshold = "--long-prefill-token-threshold"
	starvedGroup  = "prefill"
	// usefulChunk is a chunk of a prompt, in tokens, at which the fixed cost of a
	// step does not count; a budget that nobody chose grows until it holds it.
	usefulChunk = 1024
	// smallestChunk is what a threshold is not set below.
	smallestChunk = 64
	// mostTokens is more than any prompt or step has.
	mostTokens = int64(1) << 32
)

// prefillStarvation finds a stated mix of prompts in which a long one takes
// every step for itself, so that short ones wait until it is through.
func prefillStarvation() rule.Rule {
	meta := rule.Named("prefill-starvation")
	return rule.Rule{Meta: meta, EditsEverywhere: true, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		if len(r.Facts.Prompts) == 0 {
			return nil, nil
		}
		if r.Engine == "sglang" {
			return starvingChunks(r, meta), nil
		}
		s, needs := starvationOf(r)
		switch {
		case len(needs) > 0:
			f := r.AboutServer(meta)
			f.Setting, f.Needs = longThreshold, needs
			return []finding.Finding{f}, nil
		case s == nil:
			return nil, nil
		}
		return s.findings(meta), nil
	}}
}

// starvation is one server at one release in which long prompts own the steps.
type starvation struct {
	rule.Release
	// budget, threshold and sequences are those in force; long are the prompts
	// that run at once and are long, short is the shortest of all, in tokens.
	budget, threshold, sequences int64
	long                         []int64
	short                        int64
	chosen                       bool // the budget is written
}

// starvationOf reads mix and limits; nil where nothing starves. Needs are the
// facts without which that is not known.
func starvationOf(r rule.Release) (*starvation, []string) {
	v1, known, needs := r.State.Derived("surely_v1")
	if !known {
		return nil, needs
	}
	chunked, chunkedKnown, _ := r.State.Value("enable_chunked_prefill")
	if v1 != true || chunkedKnown && chunked == false {
		return nil, nil
	}
	s := &starvation{Release: r, chosen: r.State.Given("max_num_batched_tokens")}
	for _, one := range []struct {
		into          *int64
		key, fallback string
	}{{&s.budget, "max_num_batched_tokens", "base_batched_tokens"}, {&s.sequences, "max_num_seqs", "base_num_seqs"}, {&s.threshold, "long_prefill_token_threshold", ""}} {
		n, lacking := wholeOf(r, one.key, one.fallback)
		if len(lacking) > 0 {
			return nil, lacking
		}
		*one.into = n
	}
	if s.budget < 1 || s.budget > mostTokens || s.sequences < 1 || s.sequences > mostTokens || s.threshold < 0 {
		return nil, nil
	}
	s.readMix()
	if len(s.long) == 0 || !s.owned() {
		return nil, nil
	}
	return s, nil
}

// wholeOf is a whole number that is written, or that the engine takes by itself.
func wholeOf(r rule.Release, key, fallback string) (int64, []string) {
	value, known, needs := r.State.Value(key)
	if n, ok := value.(int64); known && ok {
		return n, nil
	}
	if r.State.Given(key) || fallback == "" {
		return 0, orSelf(needs, key)
	}
	value, known, needs = r.State.Derived(fallback)
	if n, ok := value.(int64); known && ok {
		return n, nil
	}
	return 0, orSelf(needs, key)
}

func orSelf(needs []string, key string) []string {
	if len(needs) > 0 {
		return needs
	}
	return []string{key}
}

// readMix takes the long prompts out of the stated ones: those above one budget
// and above four times the shortest, as many as run beside a short one.
func (s *starvation) readMix() {
	for _, prompt := range s.Facts.Prompts {
		if prompt.Running > 0 && (s.short == 0 || prompt.Tokens < s.short) {
			s.short = prompt.Tokens
		}
	}
	many := min(1<<10, s.sequences-1)
	for _, prompt := range s.Facts.Prompts {
		isLong := prompt.Tokens > s.budget && prompt.Tokens/4 > s.short && prompt.Tokens <= mostTokens
		for i := int64(0); isLong && i < prompt.Running && int64(len(s.long)) < many; i++ {
			s.long = append(s.long, prompt.Tokens)
		}
	}
}

// owned tells whether the long prompts leave nothing of a step.
func (s *starvation) owned() bool {
	if s.threshold == 0 || s.threshold >= s.budget {
		return true
	}
	return int64(len(s.long))*s.threshold >= s.budget
}

// propose is a budget and a threshold that leave every short prompt its share;
// false where none does.
func (s *starvation) propose() (budget, threshold int64, ok bool) {
	budget = s.budget
	long := int64(len(s.long))
	for !s.chosen && ledger.Threshold(budget, long, s.sequences) < usefulChunk && budget < 4*s.budget {
		budget *= 2
	}
	threshold = ledger.Threshold(budget, long, s.sequences)
	return budget, threshold, threshold >= smallestChunk
}

func (s *starvation) findings(meta rule.Meta) []finding.Finding {
	budget, threshold, ok := s.propose()
	says := s.says()
	if !ok {
		f := s.at(meta, longThreshold, "")
		f.Message = fmt.Sprintf("%s: %s; no threshold leaves the others a share of %d tokens a step: raise %s", longThreshold, says, s.budget, stepBudget)
		return []finding.Finding{f}
	}
	found := []finding.Finding{s.at(meta, longThreshold, strconv.FormatInt(threshold, 10))}
	found[0].Message = fmt.Sprintf("%s: %s; %d lets every step take from all of them: (%d long + 1) x %d + %d sequences <= %d%s%s",
		longThreshold, says, threshold, len(s.long), threshold, s.sequences, budget, s.gain(budget, threshold), s.later())
	if budget != s.budget {
		f := s.at(meta, stepBudget, strconv.FormatInt(budget, 10))
		f.Message = fmt.Sprintf("%s: %s; a budget of %d holds chunks of %d for each%s", stepBudget, says, budget, threshold, s.cost(budget))
		found = append([]finding.Finding{f}, found...)
	}
	hybrid := s.Facts.Set["model.hybrid"].Value
	for i := range found {
		if hybrid != false && threshold < usefulChunk || len(found[i].Edits) == 0 {
			for k := range found {
				found[k].Action, found[k].Edits = finding.None, nil // it may be below the blocks of a hybrid model
			}
		}
	}
	return found
}

// says is what the mix does.
func (s *starvation) says() string {
	longest := slices.Max(s.long)
	says := fmt.Sprintf("a prompt of %d tokens takes all %d tokens of every step", longest, s.budget)
	if len(s.long) > 1 {
		says = fmt.Sprintf("%d prompts of up to %d tokens take all %d tokens of every step", len(s.long), longest, s.budget)
	}
	if rate := s.rate(); rate > 0 {
		says += fmt.Sprintf(", for %.0f s each at %g tokens/s", float64(longest)/rate, rate)
	}
	return says + ", and the others wait"
}

func (s *starvation) rate() float64 {
	rate, _ := s.Facts.Set["measured.prefillTokensPerSecond"].Value.(float64)
	return rate
}

// gain is what the shortest stated prompt waits for its first token, before and
// after.
func (s *starvation) gain(budget, threshold int64) string {
	// Beside them one request decodes, which is none of the stated ones.
	then := ledger.Steps{Budget: budget, Threshold: threshold, Sequences: s.sequences + 1, Rate: s.rate()}
	now := then
	now.Budget, now.Threshold = s.budget, s.threshold
	before, knownBefore := now.FirstToken(s.long, s.short)
	after, knownAfter := then.FirstToken(s.long, s.short)
	if !knownBefore || !knownAfter {
		return ""
	}
	return fmt.Sprintf("; simulated, the first token of a prompt of %d tokens takes %.0f s instead of %.0f s on average (assumed: 60 ms a step, the long ones start together, one rate for all lengths)",
		s.short, after.Mean, before.Mean)
}

// cost is what the larger budget takes from the KV cache, where the account can
// tell.
func (s *starvation) cost(budget int64) string {
	now, err := account.Of(s.State, s.Facts)
	if err != nil || now.Capacity == nil {
		return ""
	}
	settings := append(slices.Clone(s.State.Settings), setting.Setting{
		Name: stepBudget, Key: "max_num_batched_tokens", Spelled: stepBudget, Values: []string{strconv.FormatInt(budget, 10)},
	})
	state := engine.NewState(s.State.Engine, s.State.Knowledge, s.State.Release, settings, s.Facts.Set, "")
	then, err := account.Of(state, s.Facts)
	if err != nil || then.Capacity == nil || then.Capacity.Value >= now.Capacity.Value {
		return "; its activations come out of the KV cache: watch the tokens that the log tells at the next start"
	}
	return fmt.Sprintf("; its activations take an estimated %s of %s KV tokens", ledger.Grouped(now.Capacity.Value-then.Capacity.Value), ledger.Grouped(now.Capacity.Value))
}

// later says what newer releases do by themselves.
func (s *starvation) later() string {
	if _, ok := s.State.Engine.Option(longThreshold+"-adaptive", s.State.Release); !ok {
		return ""
	}
	return "; in this release a request that is alone is not held back, and " + longThreshold + "-adaptive lifts the cap to the budget by the number of requests"
}

// at is a finding about a setting, with the edit that writes a value: where it
// stands, or behind the last word of the list that the arguments stand in.
func (s *starvation) at(meta rule.Meta, name, value string) finding.Finding {
	f := s.AboutServer(meta)
	for _, about := range s.State.Settings {
		if about.Name == name && about.Origin.Stands() && !about.Overridden {
			f = s.About(meta, about)
			f.Edits = s.Rewrite(about, value)
			f.Action = finding.Set
		}
	}
	f.Setting, f.Proposed, f.Group = name, value, starvedGroup
	if f.Action != finding.Set {
		f.Action = finding.Add
		if list := s.argumentList(); list != nil {
			f.Edits = []finding.Edit{{Action: finding.Add, Path: list, Value: name + "=" + value}}
		}
	}
	if value == "" || len(f.Edits) == 0 {
		f.Action, f.Edits = finding.None, nil
	}
	f.Undo = "take both out when no prompt is longer than one step any more"
	f.Evidence = []finding.Evidence{{
		Engine: "vllm", Versions: ">=0.8.3",
		Source: "vllm/v1/core/sched/scheduler.py, Scheduler.schedule: running requests first, in their order, each cut to the threshold and to what is left of the budget",
	}}
	return f
}

// argumentList leads to the list in which the last word of the command line
// stands; nil where that is no list of the manifest.
func (s *starvation) argumentList() setting.Path {
	for _, word := range slices.Backward(s.Words) {
		path := word.Origin.Path
		if len(path) == 0 || word.Origin.Kind != setting.Argument {
			return nil
		}
		if _, isIndex := path[len(path)-1].(int); !isIndex {
			return nil
		}
		return path[:len(path)-1]
	}
	return nil
}
