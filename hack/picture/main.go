// Picture draws docs/dashboard.svg: the panels that trimtab generates for
// examples/vllm-v100-prefill, with the values that a real Prometheus gives their
// queries. The series are those of a simulated engine: the scheduler of vLLM with
// the step times that were measured on that server, an hour with its settings as
// they were and an hour with those that trimtab writes.
//
//	go run ./hack/picture > docs/dashboard.svg
//
// It needs prometheus and promtool on PATH.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/trimtab/trimtab/cli"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run() error {
	panels, err := generated("examples/vllm-v100-prefill")
	if err != nil {
		return err
	}
	store, err := record(simulate())
	if err != nil {
		return err
	}
	defer store.close()
	drawn := canvas{}
	for _, panel := range panels {
		series, err := store.seriesOf(panel)
		if err != nil {
			return err
		}
		drawn.add(panel, series)
	}
	_, err = fmt.Print(drawn.svg("Series of a simulated engine (hack/picture): until 01:00 without, then with --max-num-batched-tokens=4096 --long-prefill-token-threshold=1024"))
	return err
}

// panel is what is read of a generated panel.
type panel struct {
	Type, Title string
	GridPos     struct{ H, W, X, Y int }
	Targets     []struct{ RefID, Expr, LegendFormat string }
	FieldConfig struct {
		Defaults struct {
			Unit       string
			Max        *float64
			Thresholds struct{ Steps []struct{ Value *float64 } }
		}
		Overrides []struct {
			Matcher    struct{ Options string }
			Properties []struct{ ID, Value string }
		}
	}
}

// onTheRight tells whether a query has the axis on the right.
func (p panel) onTheRight(ref string) bool {
	for _, override := range p.FieldConfig.Overrides {
		for _, property := range override.Properties {
			if override.Matcher.Options == ref && property.ID == "custom.axisPlacement" && property.Value == "right" {
				return true
			}
		}
	}
	return false
}

// generated are the panels that `trimtab explain dashboard` prints for an example.
func generated(example string) ([]panel, error) {
	var out, errs bytes.Buffer
	code := cli.Run([]string{"explain", "dashboard", "-c", example + "/trim.yaml", example + "/server.yaml"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if code != 0 {
		return nil, fmt.Errorf("explain dashboard: %s", errs.String())
	}
	// The namespace is the reader's to choose.
	text := strings.ReplaceAll(out.String(), `,namespace=~\"$namespace\"`, "")
	var panels []panel
	return panels, json.Unmarshal([]byte(text), &panels)
}
