// Package serving tells what a running engine offers and takes beside its GPU:
// the address and the paths it answers at, the memory of the host it sets aside,
// and what the parts of one service must have in common. It reads
// engines/ENGINE/serving.yaml; what a server makes of it, rules decide.
package serving

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/engines"
)

// Engine is what one engine offers and takes.
type Engine struct {
	Listens    Listens  `yaml:"listens"`
	HostMemory []Pool   `yaml:"hostMemory"`
	Stages     []Stage  `yaml:"stages"`
	Roles      []Accord `yaml:"roles"`
}

// Listens is how an engine answers over HTTP.
type Listens struct {
	Port Default `yaml:"port"`
	// Host is the address it binds to; empty: all.
	Host Default `yaml:"host"`
	// Socket is the setting by which it listens on a Unix socket instead, Prefix
	// the one that puts a path before all of its own, Certificate the one that
	// makes it speak TLS.
	Socket      string `yaml:"socket"`
	Prefix      string `yaml:"prefix"`
	Certificate string `yaml:"certificate"`
	Key         Key    `yaml:"key"`
	// Silent are settings under which it answers nothing, Otherwise those under
	// which it is not known what it answers.
	Silent    []string `yaml:"silent"`
	Otherwise []string `yaml:"otherwise"`
	Routes    []Route  `yaml:"routes"`
	Source    string   `yaml:"source"`
}

// Default is a setting and the value it has where none is given.
type Default struct {
	Flag  string `yaml:"flag"`
	Value string `yaml:"value"`
}

// Key is how an engine asks for an API key.
type Key struct {
	Flag     string `yaml:"flag"`
	Variable string `yaml:"variable"`
	// Guards are the prefixes of the paths that need the key, Open those of them
	// that do not.
	Guards []string `yaml:"guards"`
	Open   []string `yaml:"open"`
}

// Wanted tells whether a path is refused without the key.
func (k Key) Wanted(path string) bool {
	below := func(prefix string) bool { return strings.HasPrefix(path, prefix) }
	return slices.ContainsFunc(k.Guards, below) && !slices.ContainsFunc(k.Open, below)
}

// Route is a path that is served, with all below it.
type Route struct {
	Path string `yaml:"path"`
	// Needs is a switch without which it is not served.
	Needs string `yaml:"needs"`
}

// Route finds the route that serves a path; false where there is none. A slash
// at the end is redirected, which the kubelet follows.
func (l Listens) Route(path string) (Route, bool) {
	path = strings.TrimSuffix(path, "/")
	for _, route := range l.Routes {
		below := strings.TrimSuffix(route.Path, "/")
		if path == below || below != "" && strings.HasPrefix(path, below+"/") {
			return route, true
		}
	}
	return Route{}, false
}

// Pool is memory of the host that an engine sets aside as a setting says.
type Pool struct {
	Setting string `yaml:"setting"`
	// JSON is the dotted path of the size in the setting's value; empty where the
	// value is the size itself.
	JSON string `yaml:"json"`
	// Beside is what must be set for the pool to be there, Unless what takes it
	// away.
	Beside *Beside `yaml:"beside"`
	Unless *Beside `yaml:"unless"`
	// Unit is a Kubernetes quantity: the bytes of one.
	Unit string `yaml:"unit"`
	// Each is rank where every rank sets that much aside, server where all
	// together do.
	Each string `yaml:"each"`
	// Hybrid is by how much it grows for a model with recurrent state; 0: not.
	Hybrid int64 `yaml:"hybrid"`
	// Shared is a text in the value of the setting under which the pool lies in
	// /dev/shm; empty: it never does.
	Shared string `yaml:"shared"`
	Source string `yaml:"source"`
	// Mark is how the source was read: V verified, R reported.
	Mark string `yaml:"mark"`
}

// Beside is another setting that must be there, and a text its value holds.
type Beside struct {
	Setting string `yaml:"setting"`
	Holds   string `yaml:"holds"`
}

// Stage is a setting whose value tells which half of a pair of prefill and
// decode a server is.
type Stage struct {
	Setting string `yaml:"setting"`
	JSON    string `yaml:"json"`
	Prefill string `yaml:"prefill"`
	Decode  string `yaml:"decode"`
}

// Pair is how two parts of a service belong together.
type Pair string

// The pairs: one computes the KV cache that the other reads; both hold ranks of
// one model; both answer the same requests.
const (
	Transfer Pair = "transfer"
	Ranks    Pair = "ranks"
	Replicas Pair = "replicas"
)

// Accord is what two parts must have in common.
type Accord struct {
	Pair     Pair     `yaml:"pair"`
	Settings []string `yaml:"settings"`
	// Compare is how: value (where it is empty) takes texts, model the last part
	// of a name, name the first setting of the list that is given, connector a
	// text of the JSON, halves wants two values that complete each other.
	Compare string   `yaml:"compare"`
	JSON    string   `yaml:"json"`
	When    *Beside  `yaml:"when"`
	Unless  []string `yaml:"unless"`
	Why     string   `yaml:"why"`
	Source  string   `yaml:"source"`
}

var loaders = sync.Map{} // name → func() (*Engine, error)

// Load reads what is known of an engine, once. An error means that the data
// built into the program is broken.
func Load(name string) (*Engine, error) {
	loader, _ := loaders.LoadOrStore(name, sync.OnceValues(func() (*Engine, error) { return read(name) }))
	return loader.(func() (*Engine, error))()
}

func read(name string) (*Engine, error) {
	file := name + "/serving.yaml"
	data, err := engines.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	decoder.KnownFields(true)
	found := &Engine{}
	if err := decoder.Decode(found); err != nil {
		return nil, fmt.Errorf("engines/%s: %w", file, err)
	}
	return found, nil
}

// Inside is the text or number at a dotted path of a JSON value; false where
// there is none.
func Inside(value, path string) (string, bool) {
	var decoded any
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.UseNumber()
	if decoder.Decode(&decoded) != nil {
		return "", false
	}
	for key := range strings.SplitSeq(path, ".") {
		mapping, ok := decoded.(map[string]any)
		if !ok {
			return "", false
		}
		decoded = mapping[key]
	}
	switch found := decoded.(type) {
	case string:
		return found, true
	case json.Number:
		return found.String(), true
	}
	return "", false
}
