package server

import (
	"fmt"
	"strings"
	"sync"

	"github.com/trimtab/trimtab/internal/finding"
)

// operator is the table of engines/operators: what an operator writes into the
// pod from the fields of its custom resource.
type operator struct {
	Name     string              `yaml:"operator"`
	APIGroup string              `yaml:"apiGroup"`
	Kind     string              `yaml:"kind"`
	Runtimes map[string]*runtime `yaml:"runtimes"`
}

type runtime struct {
	Engine string `yaml:"engine"`
	Mode   string `yaml:"mode"`
	Port   int64  `yaml:"port"`
	// StartsEngine: the operator writes the command in every release that knows
	// the runtime, so no entrypoint of the image runs.
	StartsEngine bool  `yaml:"startsEngine"`
	Rows         []row `yaml:"rows"`
}

// row is one argument; engines/operators/llmkube.yaml explains the fields.
type row struct {
	Flag        string   `yaml:"flag"`
	Fields      []string `yaml:"fields"`
	When        string   `yaml:"when"`
	Always      *string  `yaml:"always"`
	GPUs        string   `yaml:"gpus"`
	Unless      string   `yaml:"unless"`
	UnlessField string   `yaml:"unless-field"`
	All         []string `yaml:"all"`
	List        bool     `yaml:"list"`
}

func (o *operator) owns(object finding.Object) bool {
	return object.Kind == o.Kind && strings.HasPrefix(object.APIVersion, o.APIGroup+"/")
}

var llmkubeTable = sync.OnceValues(func() (*operator, error) {
	table := &operator{}
	return table, decodeTable("llmkube.yaml", table)
})

func loadOperator(name string) (*operator, error) {
	if name != "llmkube" {
		return nil, fmt.Errorf("no table for operator %q", name)
	}
	return llmkubeTable()
}
