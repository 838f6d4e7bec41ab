package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/ledger"
)

// What the published simulation gives for a prompt of 2,048 tokens beside long
// ones of 65,536 at 262 tokens a second; arrivals were spread a little otherwise.
func TestFirstTokenIsThatOfThePublishedSimulation(t *testing.T) {
	const long, short = 65536, 2048
	cases := []struct {
		name              string
		budget, threshold int64
		long              []int64
		mean, within      float64
	}{
		{"no threshold", 2048, 0, []int64{long}, 151, 20},
		{"a larger budget alone", 4096, 0, []int64{long}, 150, 20},
		{"a threshold above the budget", 4096, 8192, []int64{long}, 150, 20},
		{"1024 of 4096", 4096, 1024, []int64{long}, 18, 2},
		{"2048 of 4096", 4096, 2048, []int64{long}, 27, 4},
		{"512 of 2048", 2048, 512, []int64{long}, 17, 2},
		{"two long ones", 2048, 0, []int64{long, long}, 401, 130},
		{"two long ones that fill the budget", 4096, 2048, []int64{long, long}, 399, 130},
		{"two long ones, 1024 of 4096", 4096, 1024, []int64{long, long}, 27, 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wait, ok := ledger.Steps{Budget: c.budget, Threshold: c.threshold, Sequences: 8, Rate: 262}.FirstToken(c.long, short)
			require.True(t, ok)
			require.InDelta(t, c.mean, wait.Mean, c.within)
			require.LessOrEqual(t, wait.Least, wait.Mean)
			require.LessOrEqual(t, wait.Mean, wait.Most)
		})
	}
}

// Over random mixes the threshold is the largest power of two that fits, no
// short prompt waits longer than its turns beside the long ones, and none waits
// longer than without it.
func TestThresholdStarvesNobody(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 7))
	for range 400 {
		budget := int64(1) << (9 + random.IntN(6))
		sequences := 2 + random.Int64N(min(64, budget/8))
		long := make([]int64, 1+random.IntN(4))
		for i := range long {
			long[i] = budget * (2 + random.Int64N(24))
		}
		short := 1 + random.Int64N(long[0]/4)
		rate := 100 + 20000*random.Float64()
		name := fmt.Sprintf("budget %d, %d sequences, long %v, short %d, %.0f/s", budget, sequences, long, short, rate)

		threshold := ledger.Threshold(budget, int64(len(long)), sequences)
		share := (int64(len(long)) + 1) * threshold
		require.LessOrEqual(t, share+sequences, budget, name)
		require.Greater(t, 2*share+sequences, budget, name)
		if threshold == 0 {
			continue
		}
		slots := sequences + int64(len(long)) + 2
		before, ok := ledger.Steps{Budget: budget, Sequences: slots, Rate: rate}.FirstToken(long, short)
		require.True(t, ok, name)
		after, ok := ledger.Steps{Budget: budget, Threshold: threshold, Sequences: slots, Rate: rate}.FirstToken(long, short)
		require.True(t, ok, name)
		turns := float64((short+threshold-1)/threshold + 2)
		most := turns * (float64(share)/rate + 0.060 + 0.001*float64(slots))
		require.LessOrEqual(t, after.Most, most, name)
		require.LessOrEqual(t, after.Mean, before.Mean+most/turns, name)
	}
}

// Where a short prompt would wait for something that is not simulated nothing is
// told, and nothing runs on for ever.
func TestFirstTokenOfAbsurdSizes(t *testing.T) {
	good := ledger.Steps{Budget: 2048, Sequences: 3, Rate: 262}
	_, ok := good.FirstToken([]int64{65000}, 2000)
	require.True(t, ok)
	for name, steps := range map[string]ledger.Steps{
		"no slot for the short one": {Budget: 2048, Sequences: 2, Rate: 262},
		"a budget of decodes":       {Budget: 3, Sequences: 3, Rate: 262},
		"no rate":                   {Budget: 2048, Sequences: 3},
		"a threshold below zero":    {Budget: 2048, Threshold: -1, Sequences: 3, Rate: 262},
	} {
		_, ok := steps.FirstToken([]int64{65000}, 2000)
		require.False(t, ok, name)
	}
	for _, long := range [][]int64{{0}, {1 << 62}, {1 << 62, 1 << 62}} {
		_, ok := good.FirstToken(long, 2000)
		require.False(t, ok, long)
	}
	_, ok = good.FirstToken([]int64{65000}, 0)
	require.False(t, ok)
}

func TestThresholdOfAbsurdSizes(t *testing.T) {
	for _, size := range [][3]int64{{0, 1, 1}, {10, -1, 1}, {10, 10, 0}, {4, 1, 4}, {1 << 62, 1 << 62, 1}} {
		require.Zero(t, ledger.Threshold(size[0], size[1], size[2]), size)
	}
	require.Equal(t, int64(1024), ledger.Threshold(4096, 2, 4))
}
