package ledger

import "math"

// Steps is how vLLM's V1 core fills its steps: running requests in their order,
// then waiting ones, each with one token when it decodes and with as many of its
// prompt as threshold and budget leave. Source: vllm 0.11.0,
// vllm/v1/core/sched/scheduler.py, Scheduler.schedule.
type Steps struct {
	// Budget and Threshold are tokens: --max-num-batched-tokens and
	// --long-prefill-token-threshold; a threshold of 0 caps nothing.
	Budget, Threshold int64
	// Sequences is --max-num-seqs.
	Sequences int64
	// Rate is how many tokens of a prompt are computed in a second.
	Rate float64
}

// What a step takes beside its prompt tokens, in seconds: assumed, as in the
// simulation that the figures of the documentation come from.
const (
	stepSeconds   = 0.060
	decodeSeconds = 0.001
)

// Wait is how long a request waits for its first token, in seconds, over
// arrivals that are spread evenly over the prefill of the long prompts.
type Wait struct{ Mean, Least, Most float64 }

// arrivals is at how many times a short prompt is let in.
const arrivals = 16

// mostTurns bounds what is simulated for one arrival: steps times requests.
const mostTurns = 1e6

// FirstToken lets a short prompt arrive beside one request that decodes and long
// prompts that all started at once, and returns how long its first token takes.
// It reports false where that is not told: sizes of zero and below, fewer
// sequences than all of these at once (the short one then waits for an output of
// unknown length), a budget that those that decode use up, or too long a run.
func (s Steps) FirstToken(long []int64, short int64) (Wait, bool) {
	requests := int64(len(long)) + 2
	if s.Sequences < requests || s.Budget <= requests || s.Threshold < 0 || s.Rate <= 0 || short < 1 {
		return Wait{}, false
	}
	total := short
	for _, tokens := range long {
		if tokens < 1 || tokens > math.MaxInt64-total {
			return Wait{}, false
		}
		total += tokens
	}
	piece := s.Budget - requests
	if s.Threshold > 0 {
		piece = min(piece, s.Threshold)
	}
	if float64(total)/float64(piece)*float64(requests) > mostTurns {
		return Wait{}, false
	}
	total -= short
	whole := float64(total) / s.Rate
	wait := Wait{Least: math.Inf(1)}
	for i := range arrivals {
		at := whole * float64(i) / arrivals
		took := s.arrival(long, short, at)
		wait.Mean += took / arrivals
		wait.Least, wait.Most = min(wait.Least, took), max(wait.Most, took)
	}
	return wait, true
}

// request is one of the simulated requests; left are the tokens of its prompt
// that are not computed.
type request struct {
	left  int64
	short bool
}

// arrival runs steps until the short prompt that came at a time is computed.
func (s Steps) arrival(long []int64, short int64, at float64) float64 {
	running := []*request{{}}
	var waiting []*request
	for _, tokens := range long {
		waiting = append(waiting, &request{left: tokens})
	}
	arrived := false
	for now := 0.0; ; {
		if !arrived && now >= at {
			waiting, arrived = append(waiting, &request{left: short, short: true}), true
		}
		left, prompt, decodes := s.Budget, int64(0), 0
		var done *request
		schedule := func(r *request) {
			if r.left == 0 {
				left, decodes = left-1, decodes+1
				return
			}
			tokens := r.left
			if s.Threshold > 0 {
				tokens = min(tokens, s.Threshold)
			}
			tokens = min(tokens, left)
			r.left, left, prompt = r.left-tokens, left-tokens, prompt+tokens
			if r.left == 0 && r.short {
				done = r
			}
		}
		for _, r := range running {
			if left > 0 {
				schedule(r)
			}
		}
		for len(waiting) > 0 && left > 0 && int64(len(running)) < s.Sequences {
			running = append(running, waiting[0])
			schedule(waiting[0])
			waiting = waiting[1:]
		}
		now += stepSeconds + float64(prompt)/s.Rate + decodeSeconds*float64(decodes)
		if done != nil {
			return now - at
		}
	}
}

// Threshold is the largest power of two that leaves a short prompt its share of
// every step beside a number of long ones: (long + 1) x threshold + sequences is
// at most the budget. 0 where none does.
func Threshold(budget, long, sequences int64) int64 {
	if long < 0 || budget <= sequences || long >= budget {
		return 0
	}
	most := (budget - sequences) / (long + 1)
	threshold := int64(0)
	for next := int64(1); next > 0 && next <= most; next *= 2 {
		threshold = next
	}
	return threshold
}
