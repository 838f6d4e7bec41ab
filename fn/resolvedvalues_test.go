package fn_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
)

// resolvedFlags are the names of resolved values that are not the option's key.
// The empty ones are no option's value: they are said in a form of their own.
var resolvedFlags = map[string]string{
	"cache_dtype": "--kv-cache-dtype", "model_dtype": "--dtype", "model_quantization": "", "model_context_len": "--context-length",
	"cuda_graph_decode": "", "cuda_graph_prefill": "", "cudagraph_mode": "", "mode": "", "level": "", "use_v1": "",
	"max_running_requests": "", // before the pools are sized, which clamp it
	"quantization":         "", // the name of the method's class, not what is asked for
}

func resolvedFlag(key string) string {
	if flag, ok := resolvedFlags[key]; ok {
		return flag
	}
	return "--" + strings.ReplaceAll(key, "_", "-")
}

// sameResolved compares what is shown with a resolved value; computed fractions
// differ in their last digits.
func sameResolved(shown string, value any) bool {
	if number, ok := value.(float64); ok {
		n, err := strconv.ParseFloat(shown, 64)
		return err == nil && math.Abs(n-number) < 1e-9
	}
	return shown == strings.TrimPrefix(fmt.Sprint(value), "torch.")
}

var typeNames = map[string]string{"half": "float16", "float": "float32"}

// shownByFlag are the values that are shown as known. Of a setting that does
// nothing only what is written is shown, which tells nothing.
func shownByFlag(t *testing.T, models map[string]map[string]any, row resolvedRow) map[string]string {
	t.Helper()
	servers, err := fn.Show(rowInput(t, models, row))
	require.NoError(t, err, row.String())
	require.Len(t, servers, 1, row.String())
	shown := map[string]string{}
	for _, one := range servers[0].Settings {
		if one.Effective == "" || one.Effective == "auto" || strings.HasPrefix(one.Because, "does nothing here") || one.Because == "a later one wins" {
			continue
		}
		shown[one.Setting] = cmp.Or(typeNames[one.Effective], one.Effective)
	}
	return shown
}

// TestResolvedValues holds the values that are shown against those that the real
// engines resolved: none may be another.
func TestResolvedValues(t *testing.T) {
	for engine, least := range map[string]int{"sglang": 4000, "vllm": 12000} {
		t.Run(engine, func(t *testing.T) {
			var models map[string]map[string]any
			require.NoError(t, json.Unmarshal(unpacked(t, "models.json.gz"), &models))
			values, known := 0, 0
			var different []string
			for _, row := range resolvedRows(t, engine) {
				if row.Outcome != "ok" {
					continue
				}
				shown := shownByFlag(t, models, row)
				for key, value := range row.Resolved {
					flag := resolvedFlag(key)
					if flag == "" || value == nil {
						continue
					}
					values++
					said, ok := shown[flag]
					if !ok {
						continue
					}
					known++
					if !sameResolved(said, value) {
						different = append(different, fmt.Sprintf("%s is %v and shown as %s: %s", flag, value, said, row))
					}
				}
			}
			t.Logf("%d of %d resolved values are shown, all others are left open or are defaults of the parser", known, values)
			require.Empty(t, different)
			require.GreaterOrEqual(t, known, least)
		})
	}
}
