package server

import (
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
)

// operator is the table of engines/operators: what an operator writes into the
// pod from the fields of its custom resource.
type operator struct {
	Name     string              `yaml:"operator"`
	APIGroup string              `yaml:"apiGroup"`
	Kind     string              `yaml:"kind"`
	Runtimes map[string]*runtime `yaml:"runtimes"`
	// Unread are the fields that the operator makes nothing of.
	Unread []unread `yaml:"unread"`

	// Where the parts of a server stand in the object; engines/operators/
	// vllmruntime.yaml explains them. LLMKube's are in the code.
	Server    string   `yaml:"server"`
	Container string   `yaml:"container"`
	Engine    string   `yaml:"engine"`
	Default   string   `yaml:"default"`
	Args      patterns `yaml:"args"`
	Options   patterns `yaml:"options"`
	Env       patterns `yaml:"env"`
	EnvMap    bool     `yaml:"envMap"`
	Image     patterns `yaml:"image"`
	Model     patterns `yaml:"model"`
	Resources patterns `yaml:"resources"`
	GPUs      patterns `yaml:"gpus"`
	Device    patterns `yaml:"device"`
	Profile   patterns `yaml:"profile"`
	Nodes     patterns `yaml:"nodes"`
}

// patterns are paths from the root of an object, of which the first that is
// there counts.
type patterns []string

// UnmarshalYAML reads one path, or a list of them; anything else is an error.
func (p *patterns) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*p = patterns{node.Value}
		return nil
	}
	return node.Decode((*[]string)(p))
}

type runtime struct {
	// Engine is empty where the image and the arguments tell it.
	Engine string `yaml:"engine"`
	Mode   string `yaml:"mode"`
	Port   int64  `yaml:"port"`
	// StartsEngine: the operator writes the command in every release that knows
	// the runtime, so no entrypoint of the image runs.
	StartsEngine bool  `yaml:"startsEngine"`
	Rows         []row `yaml:"rows"`
	// List is the field with the user's own words, where it is not extraArgs.
	List string `yaml:"list"`
	// Source is where the rows stand in the operator's own tree.
	Source string `yaml:"source"`
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
	Args        bool     `yaml:"args"`
	Mode        string   `yaml:"mode"`
}

func (o *operator) owns(object finding.Object) bool {
	return object.Kind == o.Kind && strings.HasPrefix(object.APIVersion, o.APIGroup+"/")
}

const llmkubeTable = "llmkube"

// operatorTables are the operators that a table describes; all but LLMKube's
// resources, by a table alone.
var operatorTables = []string{llmkubeTable, "kubeai", "vllmruntime", "llmaz", "kthena"}

// operatorOf is the operator that owns an object, nil where none does.
func operatorOf(object finding.Object) (*operator, error) {
	for _, name := range operatorTables {
		table := operators[name]
		if table.mayOwn(object) {
			loaded, err := table.load()
			if err != nil || loaded.owns(object) {
				return loaded, err
			}
		}
	}
	return nil, nil
}

// operators are the tables, each decoded for the first object of its group.
var operators = func() map[string]operatorTable {
	tables := map[string]operatorTable{}
	for _, name := range operatorTables {
		file := name + ".yaml"
		tables[name] = operatorTable{file: file, load: sync.OnceValues(func() (*operator, error) {
			loaded := &operator{}
			return loaded, decodeTable(file, loaded)
		})}
	}
	return tables
}()

type operatorTable struct {
	file string
	load func() (*operator, error)
}

// mayOwn is a cheap test on the text of the table: it names the group.
func (t operatorTable) mayOwn(object finding.Object) bool {
	group, _, _ := strings.Cut(object.APIVersion, "/")
	text, err := tableText(t.file)
	return err != nil || strings.Contains(text, "\napiGroup: "+group+"\n")
}
