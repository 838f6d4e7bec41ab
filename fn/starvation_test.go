package fn_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/stream"
)

// mix is a stated workload, and the limits of the server that is to carry it.
type mix struct {
	long, short             []int // prompts, in tokens
	budget, sequences, rate int   // a budget of 0 is not written: the engine takes 2,048
}

func randomMix(random *rand.Rand) mix {
	m := mix{sequences: 2 + random.IntN(14), rate: 100 + random.IntN(4000)}
	if random.IntN(2) == 0 {
		m.budget = 1 << (9 + random.IntN(9))
	}
	for range 1 + random.IntN(3) {
		m.long = append(m.long, 8000+random.IntN(90000))
	}
	for range 1 + random.IntN(3) {
		m.short = append(m.short, 50+random.IntN(3000))
	}
	return m
}

func (m mix) pod() pod {
	args := []string{"Qwen/Qwen3-32B", "--dtype=half", "--pipeline-parallel-size=2", "--max-model-len=131072", fmt.Sprintf("--max-num-seqs=%d", m.sequences)}
	if m.budget > 0 {
		args = append(args, fmt.Sprintf("--max-num-batched-tokens=%d", m.budget))
	}
	prompts := ""
	for _, tokens := range append(append([]int{}, m.long...), m.short...) {
		prompts += fmt.Sprintf("{tokens: %d, output: 100, running: 1}, ", tokens)
	}
	return pod{engine: "vllm", image: "vllm/vllm-openai:v0.11.0", args: args, spec: fmt.Sprintf(
		"{gpu: {name: v100-32gb, count: 2}, model: {name: Qwen/Qwen3-32B, dtype: bfloat16, quantization: gptq}, workload: {prompts: [%s]}, measured: {kvTokens: 4000000, prefillTokensPerSecond: %d}}", prompts, m.rate)}
}

// waits is vLLM V1's loop once more, apart from the one that proposals come from:
// every step pays the running requests first, a token for one that decodes, and a
// piece of its prompt, no longer than the threshold, for the others, as far as
// the budget goes; then it lets waiting ones in. It returns what the short prompt
// waits for its first token on average and at most, in seconds, over sixteen
// times at which it comes while the long ones are computed. All of them find a
// slot, and one more request decodes.
func (m mix) waits(budget, threshold int) (mean, most float64) {
	const moments = 16
	total := 0
	for _, tokens := range m.long {
		total += tokens
	}
	short := m.short[0]
	for _, tokens := range m.short {
		short = min(short, tokens)
	}
	for moment := range moments {
		comes := float64(total) / float64(m.rate) * float64(moment) / moments
		open := append([]int{0}, m.long...) // what is left of each prompt; 0 decodes
		clock, joined := 0.0, false
		for {
			if !joined && clock >= comes {
				open, joined = append(open, short), true
			}
			free, computed, decoded := budget, 0, 0
			for i, left := range open {
				if free == 0 {
					break
				}
				piece := left
				if left == 0 {
					free, decoded = free-1, decoded+1
					continue
				}
				if threshold > 0 && piece > threshold {
					piece = threshold
				}
				piece = min(piece, free)
				open[i], free, computed = left-piece, free-piece, computed+piece
			}
			clock += 0.060 + float64(computed)/float64(m.rate) + 0.001*float64(decoded)
			if joined && open[len(open)-1] == 0 {
				break
			}
		}
		mean, most = mean+(clock-comes)/moments, max(most, clock-comes)
	}
	return mean, most
}

var (
	writtenBudget    = regexp.MustCompile(`--max-num-batched-tokens=(\d+)`)
	writtenThreshold = regexp.MustCompile(`--long-prefill-token-threshold=(\d+)`)
	statedWait       = regexp.MustCompile(`first token of a prompt of \d+ tokens takes (\d+) s instead of (\d+) s on average`)
)

func numberIn(pattern *regexp.Regexp, text string, otherwise int) int {
	if match := pattern.FindStringSubmatch(text); match != nil {
		n, _ := strconv.Atoi(match[1])
		return n
	}
	return otherwise
}

// Over random mixes no proposal makes a short prompt wait longer than it says, or
// than before; what is sized stays sized, and trips no other rule.
func TestProposalsForRandomMixes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(26, 11))
	proposed, better := 0, 0
	for range 300 {
		m := randomMix(random)
		p := m.pod()
		name := fmt.Sprintf("%+v", m)
		before, _ := p.process(t, config.Verify)
		outcome, source := p.process(t, config.Trim)
		text, changes := outcome.Changed[source]
		threshold := numberIn(writtenThreshold, string(text), 0)
		if !changes || threshold == 0 {
			continue
		}
		proposed++
		atOnce := m // those that fill a step; of them the others wait for a slot, as a short one does that is not the first
		atOnce.long = slices.DeleteFunc(slices.Clone(m.long), func(tokens int) bool { return tokens <= cmp.Or(m.budget, 2048) })
		atOnce.long = atOnce.long[:min(len(atOnce.long), m.sequences-1)]
		budget := numberIn(writtenBudget, string(text), 2048)
		sequences := numberIn(regexp.MustCompile(`--max-num-seqs=(\d+)`), string(text), 0)
		require.LessOrEqual(t, (len(atOnce.long)+1)*threshold+sequences, max(budget, 4096), name)

		was, _ := atOnce.waits(cmp.Or(m.budget, 2048), 0)
		is, most := atOnce.waits(budget, threshold)
		step := float64(budget)/float64(m.rate) + 0.060 + 0.001*float64(sequences)
		require.LessOrEqual(t, is, was+step, "worse than before: %s", name)
		if is < was {
			better++
		}
		for _, f := range outcome.Report.Findings {
			if stated := statedWait.FindStringSubmatch(f.Message); stated != nil {
				says, _ := strconv.ParseFloat(stated[1], 64)
				require.LessOrEqual(t, is, says+step+1, "longer than stated: %s: %s", name, f.Message)
				require.LessOrEqual(t, most, says*2+2*step+1, "far longer than stated: %s: %s", name, f.Message)
			}
		}

		in, _ := p.input(t, config.Trim)
		again, err := stream.ParseDocuments(source.Name, text)
		require.NoError(t, err)
		in.Sources = []*stream.Source{again}
		once, err := fn.Process(in)
		require.NoError(t, err)
		require.Empty(t, once.Changed, "sized twice: %s", name)
		known := map[string]bool{}
		for _, f := range before.Report.Findings {
			known[f.Rule+f.Setting] = true
		}
		for _, f := range once.Report.Findings {
			require.True(t, known[f.Rule+f.Setting] || f.Severity == "info", "the proposal trips %s: %s: %s", f.Rule, f.Message, name)
			require.NotEqual(t, "prefill-starvation", f.Rule, name)
		}
	}
	t.Logf("%d of 300 mixes starve and are sized, %d of these wait less", proposed, better)
	require.Greater(t, proposed, 100)
	require.Greater(t, better, proposed*9/10)
}
