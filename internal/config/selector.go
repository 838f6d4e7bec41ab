package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Selector is one entry of select. All its fields that are not empty must
// match.
type Selector struct {
	// Kind is that of the object.
	Kind string
	// Name is that of the object.
	Name string
	// Namespace is that of the object, as written.
	Namespace string
	// Labels is a Kubernetes label selector: tier=prod,env!=dev.
	Labels string
	// Container is the name of the server's container.
	Container    string
	requirements []requirement
}

// Selects tells whether the config is about a server: one container of one
// object. Entries of select are alternatives; without any, every server is.
func (c *Config) Selects(kind, name, namespace string, labels map[string]string, container string) bool {
	if len(c.Spec.Select) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Spec.Select, func(s Selector) bool {
		return (s.Kind == "" || s.Kind == kind) &&
			(s.Name == "" || s.Name == name) &&
			(s.Namespace == "" || s.Namespace == namespace) &&
			(s.Container == "" || s.Container == container) &&
			!slices.ContainsFunc(s.requirements, func(r requirement) bool { return !r.holds(labels) })
	})
}

func (d decoder) selector(to *[]Selector) read {
	return func(node *yaml.Node, path string) error {
		var s Selector
		err := d.fields(node, path, fields{
			"kind":      d.text(&s.Kind),
			"name":      d.text(&s.Name),
			"namespace": d.text(&s.Namespace),
			"labels":    d.labelSelector(&s),
			"container": d.text(&s.Container),
		})
		if err != nil {
			return err
		}
		if s.Kind+s.Name+s.Namespace+s.Labels+s.Container == "" {
			return fmt.Errorf("`%s` names nothing; give it a kind, name, namespace, labels or container, or remove it", path)
		}
		*to = append(*to, s)
		return nil
	}
}

func (d decoder) labelSelector(s *Selector) read {
	return func(node *yaml.Node, path string) error {
		text, ok := d.scalar(node, "!!str")
		if !ok {
			return wrong(path, "a label selector such as tier=prod,env!=dev", node)
		}
		requirements, ok := parseLabels(text)
		if !ok {
			return wrong(path, "a label selector such as tier=prod,env!=dev", node)
		}
		s.Labels, s.requirements = text, requirements
		return nil
	}
}

// requirement is one term of a label selector. Without values it asks whether
// the label is there.
type requirement struct {
	key    string
	values []string
	not    bool
}

// holds follows Kubernetes: != and notin also hold where the label is absent.
func (r requirement) holds(labels map[string]string) bool {
	value, there := labels[r.key]
	if r.values == nil {
		return there != r.not
	}
	return (there && slices.Contains(r.values, value)) != r.not
}

const (
	labelKey   = `(?:[A-Za-z0-9][-A-Za-z0-9.]*/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?`
	labelValue = `(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?`
)

var labelTerm = regexp.MustCompile(`^\s*(?:` +
	`(?P<not>!?)\s*(?P<there>` + labelKey + `)` +
	`|(?P<key>` + labelKey + `)\s*(?P<op>==|=|!=)\s*(?P<value>` + labelValue + `)` +
	`|(?P<setkey>` + labelKey + `)\s+(?P<in>in|notin)\s*\((?P<values>[^()]*)\)` +
	`)\s*(?:,|$)`)

var wholeLabelValue = regexp.MustCompile(`^` + labelValue + `$`)

// parseLabels reads a Kubernetes label selector: equality, in, notin, exists.
func parseLabels(text string) ([]requirement, bool) {
	var requirements []requirement
	for rest, more := text, true; more; {
		term := labelTerm.FindStringSubmatch(rest)
		if term == nil {
			return nil, false
		}
		r, ok := labelRequirement(term)
		if !ok {
			return nil, false
		}
		requirements = append(requirements, r)
		more = strings.HasSuffix(term[0], ",")
		rest = rest[len(term[0]):]
	}
	return requirements, true
}

func labelRequirement(term []string) (requirement, bool) {
	part := func(name string) string { return term[labelTerm.SubexpIndex(name)] }
	switch {
	case part("there") != "":
		return requirement{key: part("there"), not: part("not") == "!"}, true
	case part("key") != "":
		return requirement{key: part("key"), values: []string{part("value")}, not: part("op") == "!="}, true
	}
	r := requirement{key: part("setkey"), values: []string{}, not: part("in") == "notin"}
	for value := range strings.SplitSeq(part("values"), ",") {
		value = strings.TrimSpace(value)
		if !wholeLabelValue.MatchString(value) {
			return requirement{}, false
		}
		r.values = append(r.values, value)
	}
	return r, true
}
