package main

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
)

// The server of the example: step times fitted to 65,536 tokens in 250 s, the
// pool and the limit that its log and its manifest name.
const (
	poolTokens   = 152432
	maxSequences = 4
	stepBase     = 0.060   // seconds
	perPrefill   = 0.00378 // seconds a token
	perDecode    = 0.001   // seconds a sequence
	started      = 1767225600
	hours        = 2
	scrapeEvery  = 15 // seconds
)

// request is one of a client, which sends the next when it is done.
type request struct {
	prompt, output      int
	computed, generated int
	arrived, scheduled  float64
	last                float64
	small               bool
	client              int
}

// histogram counts values up to bounds.
type histogram struct {
	bounds  []float64
	buckets []int
	sum     float64
	count   int
}

func newHistogram(bounds ...float64) *histogram {
	return &histogram{bounds: bounds, buckets: make([]int, len(bounds))}
}

func (h *histogram) observe(value float64) {
	h.sum, h.count = h.sum+value, h.count+1
	for i, bound := range h.bounds {
		if value <= bound {
			h.buckets[i]++
		}
	}
}

// engine is the scheduler of vLLM as far as it decides what a step holds: decodes
// first, then prompts in their order, each at most the threshold, together at most
// the budget.
type engine struct {
	now                              float64
	budget, threshold                int
	running, waiting                 []*request
	due                              []*request // of clients that think
	random                           *rand.Rand
	ttft, itl, queue, prefill, steps *histogram
	prompts, tokens, preempted, done int
	hits, queries                    int
	gateway                          gateway
}

// gateway reads the engine every few seconds, and for a while it does not.
type gateway struct {
	running                 int
	usage                   float64
	parked, rejected, stale int
}

func newEngine() *engine {
	// The bounds of vLLM's own histograms.
	requests := []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	e := &engine{
		budget: 2048, threshold: 1 << 30, random: rand.New(rand.NewSource(1)),
		ttft:  newHistogram(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		queue: newHistogram(requests...), prefill: newHistogram(requests...),
		itl:   newHistogram(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
		steps: newHistogram(1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
	}
	for client := range 5 {
		e.due = append(e.due, e.next(client, 60*float64(client)))
	}
	return e
}

// next is a client's next request: two send long prompts, three short ones.
func (e *engine) next(client int, at float64) *request {
	if client < 2 {
		return &request{prompt: 65000, output: 500, arrived: at + 200 + 400*e.random.Float64(), client: client}
	}
	return &request{prompt: 2000 + 1000*e.random.Intn(6), output: 100 + e.random.Intn(300), arrived: at + 10 + 50*e.random.Float64(), small: true, client: client}
}

func (e *engine) held() int {
	held := 0
	for _, r := range e.running {
		held += r.computed + r.generated
	}
	return held
}

// admit lets requests in while a sequence is free and the pool has room for their
// first chunk.
func (e *engine) admit() {
	slices.SortStableFunc(e.due, func(a, b *request) int { return int(a.arrived*1000) - int(b.arrived*1000) })
	for len(e.due) > 0 && e.due[0].arrived <= e.now {
		r := e.due[0]
		e.due, e.waiting = e.due[1:], append(e.waiting, r)
		if len(e.waiting) > 1 {
			e.gateway.parked++
		}
		if len(e.waiting) > 1 && r.small && e.gateway.usage > 0.5 {
			e.gateway.rejected++
		}
	}
	for len(e.waiting) > 0 && len(e.running) < maxSequences && e.held()+min(e.waiting[0].prompt, e.threshold, e.budget) <= poolTokens {
		r := e.waiting[0]
		e.waiting, e.running = e.waiting[1:], append(e.running, r)
		if r.scheduled == 0 {
			r.scheduled = e.now
			e.queue.observe(e.now - r.arrived)
			hit := 16 * e.random.Intn(1+r.prompt/64)
			if !r.small {
				hit = 0
			}
			r.computed = hit
			e.queries, e.hits = e.queries+r.prompt, e.hits+hit
		}
	}
}

// step is one step of the engine.
func (e *engine) step() {
	e.admit()
	for len(e.running) > 1 && e.held()+e.budget > poolTokens && e.held()+len(e.running) > poolTokens {
		victim := e.running[len(e.running)-1]
		e.running, e.waiting = e.running[:len(e.running)-1], append([]*request{victim}, e.waiting...)
		victim.computed, e.preempted = 0, e.preempted+1
	}
	left, decodes, prefilled := e.budget, 0, 0
	for _, r := range e.running {
		if r.computed >= r.prompt {
			decodes++
			left--
		}
	}
	chunks := map[*request]int{}
	for _, r := range e.running {
		if r.computed < r.prompt {
			chunks[r] = max(0, min(r.prompt-r.computed, e.threshold, left))
			left, prefilled = left-chunks[r], prefilled+chunks[r]
		}
	}
	if len(e.running) == 0 {
		e.now++
		return
	}
	e.now += stepBase + perPrefill*float64(prefilled) + perDecode*float64(decodes)
	produced := 0
	for _, r := range slices.Clone(e.running) {
		if r.computed < r.prompt {
			if r.computed += chunks[r]; r.computed < r.prompt {
				continue
			}
			produced += r.prompt
		}
		produced++
		e.produce(r)
	}
	e.steps.observe(float64(produced))
}

// produce gives a request its next token.
func (e *engine) produce(r *request) {
	if r.generated == 0 {
		e.ttft.observe(e.now - r.arrived)
		e.prefill.observe(e.now - r.scheduled)
		e.prompts += r.prompt
	} else {
		e.itl.observe(e.now - r.last)
	}
	r.generated, r.last, e.tokens = r.generated+1, e.now, e.tokens+1
	if r.generated < r.output {
		return
	}
	e.done++
	e.running = slices.DeleteFunc(e.running, func(other *request) bool { return other == r })
	e.due = append(e.due, e.next(r.client, e.now))
}

// look is what the gateway reads at a scrape; for eight minutes its observer
// hangs, and it decides on what it read before.
func (e *engine) look(second int) {
	if second >= 4800 && second < 5280 {
		e.gateway.stale += 2
		return
	}
	e.gateway.running, e.gateway.usage = len(e.running), float64(e.held())/poolTokens
}

// simulate is two hours of the server in the text format of OpenMetrics, with
// timestamps. After the first hour it has the settings that trimtab writes.
func simulate() string {
	var b strings.Builder
	e := newEngine()
	for second := 0; second <= hours*3600; second += scrapeEvery {
		if second == 3600 {
			e.budget, e.threshold = 4096, 1024
		}
		for e.now < float64(second) {
			e.step()
		}
		e.look(second)
		e.expose(&b, started+second)
	}
	return b.String() + "# EOF\n"
}

func (e *engine) expose(b *strings.Builder, at int) {
	const labels = `job="qwen3-32b",namespace="ai",pod="qwen3-32b-0",model_name="qwen3-32b",engine="0"`
	sample := func(name, more string, value float64) {
		fmt.Fprintf(b, "%s{%s%s} %g %d\n", name, labels, more, value, at)
	}
	sample("vllm:num_requests_running", "", float64(len(e.running)))
	sample("vllm:num_requests_waiting", "", float64(len(e.waiting)))
	sample("vllm:kv_cache_usage_perc", "", float64(e.held())/poolTokens)
	sample("vllm:num_preemptions_total", "", float64(e.preempted))
	sample("vllm:request_success_total", `,finished_reason="stop"`, float64(e.done))
	sample("vllm:prompt_tokens_total", "", float64(e.prompts))
	sample("vllm:generation_tokens_total", "", float64(e.tokens))
	sample("vllm:prefix_cache_hits_total", "", float64(e.hits))
	sample("vllm:prefix_cache_queries_total", "", float64(e.queries))
	for name, h := range map[string]*histogram{
		"vllm:time_to_first_token_seconds": e.ttft, "vllm:inter_token_latency_seconds": e.itl, "vllm:request_queue_time_seconds": e.queue,
		"vllm:request_prefill_time_seconds": e.prefill, "vllm:iteration_tokens_total": e.steps,
	} {
		for i, bound := range h.bounds {
			sample(name+"_bucket", fmt.Sprintf(`,le="%g"`, bound), float64(h.buckets[i]))
		}
		sample(name+"_bucket", `,le="+Inf"`, float64(h.count))
		sample(name+"_sum", "", h.sum)
		sample(name+"_count", "", float64(h.count))
	}
	fmt.Fprintf(b, "vllm_requests_running %d %d\nvllm_kv_usage_perc %g %d\n", e.gateway.running, at, e.gateway.usage, at)
	fmt.Fprintf(b, "admission_parked_total %d %d\nadmission_rejected_total{reason=\"kv_full\"} %d %d\nengine_state_stale_total %d %d\n",
		e.gateway.parked, at, e.gateway.rejected, at, e.gateway.stale, at)
}
