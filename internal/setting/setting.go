// Package setting holds the words every room shares about what a manifest
// sets: where a value stands (Path, Origin), the words of a command line, and
// the settings they become. It has no logic beyond printing a path.
package setting

import (
	"strconv"
	"strings"
)

// Path leads from the root of an object to one of its YAML nodes: a string
// element is a mapping key, an int element a sequence index, a Part at the end a
// word inside a scalar.
type Path []any

// String prints the path as users write it: spec.extraArgs[7]. A key that
// holds a dot or a bracket is quoted: metadata.annotations["a.b/c"].
func (p Path) String() string {
	var room [128]byte
	text := room[:0]
	for _, element := range p {
		switch e := element.(type) {
		case int:
			text = append(strconv.AppendInt(append(text, '['), int64(e), 10), ']')
		case Part:
			text = strconv.AppendInt(append(text, '['), int64(e.Span.From), 10)
			text = append(strconv.AppendInt(append(text, ':'), int64(e.Span.To), 10), ']')
		case string:
			if strings.ContainsAny(e, ".[]\" ") {
				text = append(strconv.AppendQuote(append(text, '['), e), ']')
				continue
			}
			if len(text) > 0 {
				text = append(text, '.')
			}
			text = append(text, e...)
		}
	}
	return string(text)
}

// Join returns the path of a node below p. It never shares memory with p.
func (p Path) Join(elements ...any) Path {
	joined := make(Path, 0, len(p)+len(elements))
	return append(append(joined, p...), elements...)
}

// OriginKind tells in what form a setting is written.
type OriginKind string

// The forms in which a setting reaches an engine.
const (
	Argument OriginKind = "argument" // an element of args, command or extraArgs
	Field    OriginKind = "field"    // a typed field of a custom resource
	Env      OriginKind = "env"      // an entry of a container's env
	Operator OriginKind = "operator" // written by the operator, in no manifest
	Default  OriginKind = "default"  // the engine's own default
	// ConfigFile is a file that --config names.
	ConfigFile OriginKind = "config-file"
	// Bound is a word inside a longer text, or a field without which the operator
	// writes the opposite: it is judged where it stands, and not edited.
	Bound OriginKind = "bound"
)

// Origin is where a setting, or one word of it, stands.
type Origin struct {
	Kind OriginKind
	// Path leads to the node inside the object; nil for Operator and Default.
	Path Path
	// Name is how an origin without a path is printed: "llmkube" or "default".
	Name string
	// Near is where a bound word stands, for people to look at, and Fixed why it
	// cannot be edited there.
	Near  Path
	Fixed string
}

// Stands tells whether somebody wrote the setting, and could write it otherwise:
// it is not one that an operator or the engine adds.
func (o Origin) Stands() bool { return o.Path != nil || o.Kind == ConfigFile || o.Kind == Bound }

// BoundTo is the origin of a word that cannot be edited where it stands.
func BoundTo(path Path) Origin { return Origin{Kind: Bound, Name: path.String()} }

// String prints the path, or the name of an origin that stands in no manifest.
func (o Origin) String() string {
	if o.Path == nil {
		return o.Name
	}
	return o.Path.String()
}

// Word is one element of the command line, as the engine receives it.
type Word struct {
	Text string
	// Unknown words hold something that is decided outside the manifest: an
	// unresolved ${VAR} or $(VAR), or a fact that is not known.
	Unknown bool
	// Needs names the facts that would make an unknown word known: gpu.count.
	Needs  []string
	Origin Origin
}

// Setting is one knob of one server, wherever it stands.
type Setting struct {
	// Name is the canonical name: the long flag of the engine's own parser
	// (--tp-size), env/NAME, or a field path that becomes no flag.
	Name string
	// Key is the name in conditions: tp_size. Empty for variables and fields.
	Key string
	// Spelled is the name as written: --tp, --tensor_parallel_size.
	Spelled string
	// Values are the value words; none for a switch.
	Values []string
	// Off is true for the negative spelling of a switch: --no-enable-x.
	Off bool
	// Unknown is true when a value is decided outside the manifest.
	Unknown bool
	Needs   []string
	Origin  Origin
	// Places are all nodes that go when the setting goes: the flag's list item
	// and those of its values, the env entry, or the typed field.
	Places []Path
	// Overridden is true when a later occurrence of the same setting wins.
	Overridden bool
	// Held says why nothing is concluded about the setting where it stands: the
	// parser refuses it, another value refers to it, it shadows an envFrom.
	Held string
}

// Value prints the value as one text: words joined by a blank, "true" or
// "false" for a switch.
func (s Setting) Value() string {
	if len(s.Values) > 0 {
		return strings.Join(s.Values, " ")
	}
	if strings.HasPrefix(s.Name, "env/") {
		return ""
	}
	return strconv.FormatBool(!s.Off)
}
