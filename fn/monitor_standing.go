package fn

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
	"github.com/trimtab/trimtab/transformers"
)

// standingMonitor is a monitoring object of ours in the input.
type standingMonitor struct {
	Item                *stream.Item
	Object              finding.Object
	Labels, Annotations map[string]string
	taken               bool
}

var namedMonitors = stream.Register(transformers.MonitorsLabel)

// standingMonitors are the monitoring objects of ours in the input.
func (j *judgements) standingMonitors() ([]*standingMonitor, error) {
	var standing []*standingMonitor
	for _, item := range j.items {
		if !item.MentionsAny(namedMonitors) {
			continue
		}
		object, err := server.ObjectOf(item)
		if err != nil {
			return nil, err
		}
		if _, ok := transformers.RoleOf(object.Kind); !ok {
			continue
		}
		one := &standingMonitor{Item: item, Object: object, Labels: labelsOf(item), Annotations: annotationsOf(item)}
		if one.Labels[transformers.ManagedByLabel] == "trimtab" && one.Labels[transformers.MonitorsLabel] != "" {
			standing = append(standing, one)
		}
	}
	return standing, nil
}

// selector are the labels by which a scrape object of ours finds what it scrapes.
func (m *standingMonitor) selector() map[string]string {
	root, err := m.Item.Root()
	if err != nil || root == nil {
		return nil
	}
	return matchLabels(root)
}

// matchLabels are those of an object's selector; nil where it has none.
func matchLabels(root *yaml.Node) map[string]string {
	var object struct {
		Spec struct {
			Selector struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			} `yaml:"selector"`
		} `yaml:"spec"`
	}
	_ = root.Decode(&object) // an object of another form has none
	return object.Spec.Selector.MatchLabels
}

// labelsOf are the labels of the object an item holds.
func labelsOf(item *stream.Item) map[string]string {
	root, err := item.Root()
	if err != nil || root == nil {
		return nil
	}
	var object struct {
		Metadata struct {
			Labels map[string]string `yaml:"labels"`
		} `yaml:"metadata"`
	}
	_ = root.Decode(&object) // an object of another form has none
	return object.Metadata.Labels
}

// is tells whether an object of ours is what a server or a group wants to stand or
// to go. A host may have given both the same prefix or suffix.
func (m *standingMonitor) is(o *monitorObject) bool {
	role, _ := transformers.RoleOf(m.Object.Kind)
	if role != o.role || apart(m.Object, o.owner.Object) {
		return false
	}
	before := m.Labels[transformers.MonitorsLabel]
	return before == transformers.LabelValue(o.name) || m.renamed(o.name)
}

// renamed tells whether an object of ours was written before a host gave it and
// its server one prefix or suffix.
func (m *standingMonitor) renamed(name string) bool {
	role, _ := transformers.RoleOf(m.Object.Kind)
	before := m.Labels[transformers.MonitorsLabel]
	prefix, suffix, found := strings.Cut(name, before)
	return found && m.Object.Name == prefix+transformers.MonitorName(before, role)+suffix
}

// asBefore draws the servers once more as they were before a host renamed them or
// gave them a namespace, where objects stand that were written then.
func (j *judgements) asBefore(servers []*monitored, wanted []*monitorObject) error {
	names, differs := map[string]string{}, false
	for _, o := range wanted {
		if o.stands == nil || o.kind == "" {
			continue
		}
		text, err := o.write(o.metadata(o.name, objectName(o.owner.Object)))
		differs = differs || err != nil || !o.stands.upToDate(text)
		if o.name == o.owner.name && o.stands.renamed(o.name) {
			names[o.owner.key()] = o.stands.Labels[transformers.MonitorsLabel]
		}
	}
	if !differs {
		return nil
	}
	for _, bare := range []bool{false, true} {
		earlier := make([]*monitored, len(servers))
		for i, s := range servers {
			described, known := *s.Server, *s.judged
			if bare {
				described.Object.Namespace = ""
			}
			known.Server = &described
			earlier[i] = &monitored{judged: &known, config: s.config, name: s.name, copy: s.copy, copies: s.copies}
			if name, ok := names[s.key()]; ok {
				earlier[i].name = name
			}
		}
		if err := j.draw(earlier); err != nil {
			return err
		}
		at := map[string]*monitorObject{}
		for _, w := range watches(earlier) {
			for _, o := range w.objects() {
				at[o.owner.key()+string(o.role)] = o
			}
		}
		for _, o := range wanted {
			if same := at[o.owner.key()+string(o.role)]; same != nil && same.kind == o.kind {
				same.stands = o.stands
				o.before = append(o.before, same)
			}
		}
	}
	return nil
}

// standsAsBefore tells whether the object that stands is what was wanted before a
// host changed names.
func (o *monitorObject) standsAsBefore() bool {
	return slices.ContainsFunc(o.before, func(same *monitorObject) bool {
		text, err := same.write(o.metadata(same.name, o.stands.Annotations[transformers.ServerAnnotation]))
		return err == nil && o.stands.upToDate(text)
	})
}

// followMonitors joins findings and objects again where one of the two was given
// up: in a file that is not edited, or by a veto.
func (j *judgements) followMonitors() {
	for i := range j.servers {
		s := &j.servers[i]
		acting, written := map[string]bool{}, map[string]bool{}
		for _, f := range s.findings {
			acting[f.Monitors] = f.Monitors != "" && f.Action != finding.None
		}
		s.generated = slices.DeleteFunc(s.generated, func(g generated) bool { return g.monitors != "" && !acting[g.monitors] })
		for _, g := range s.generated {
			written[g.monitors] = true
		}
		for k := range s.findings {
			if f := &s.findings[k]; f.Monitors != "" && f.Action != finding.None && !written[f.Monitors] {
				f.Action = finding.None
				f.Message += " (not edited: it stands where nothing is edited)"
			}
		}
	}
}

// assignMonitors gives each wanted object the one of ours that stands for it: the
// nearest to its server. Another kind for the same purpose goes by itself.
func assignMonitors(wanted []*monitorObject, standing []*standingMonitor) {
	for near := 2; near >= 0; near-- {
		for _, o := range wanted {
			if near == 0 && o.owner.copies > 1 && o.owner.Item.Source.List == nil {
				continue // it may be another cluster's
			}
			at := slices.IndexFunc(standing, func(m *standingMonitor) bool {
				return !m.taken && m.is(o) && (o.kind == "" || o.kind == m.Object.Kind) && nearness(o.owner.Server, m.Item, m.Annotations) == near
			})
			if o.stands == nil && at >= 0 {
				o.stands, standing[at].taken = standing[at], true
			}
		}
	}
	for _, m := range standing {
		for _, o := range wanted {
			if !m.taken && m.is(o) && o.kind != "" && (o.owner.copies == 1 || nearness(o.owner.Server, m.Item, m.Annotations) > 0) {
				m.taken = true
				o.replaces(m)
			}
		}
	}
}

// replaces takes away an object of ours of another kind, or a second one, for
// which a wanted one stands.
func (o *monitorObject) replaces(m *standingMonitor) {
	about := o.owner.finding(o.role)
	if about == nil {
		return
	}
	f := *about
	f.Setting += " " + objectName(m.Object)
	f.Message = objectName(m.Object) + " goes: " + o.kind + " " + transformers.MonitorName(o.name, o.role) + " is what the config asks for" + f.Message
	if f.Action != finding.None {
		f.Action = finding.Remove
		o.owner.generated = append(o.owner.generated, generated{stands: m.Item, monitors: string(o.role) + " " + m.Object.Kind})
	}
	f.Monitors += " " + m.Object.Kind
	o.owner.findings = append(o.owner.findings, f)
}

// upToDate tells whether an object is what a text says. Names, and the labels and
// annotations of others, may have been changed by a host on the way.
func (m *standingMonitor) upToDate(text string) bool {
	var wanted, stands map[string]any
	root, err := m.Item.Root()
	if err != nil || root == nil || yaml.Unmarshal([]byte(text), &wanted) != nil || root.Decode(&stands) != nil {
		return false
	}
	meta := func(object map[string]any, key string) map[string]any {
		metadata, _ := object["metadata"].(map[string]any)
		values, _ := metadata[key].(map[string]any)
		return values
	}
	for _, key := range []string{"labels", "annotations"} {
		has, wants := meta(stands, key), meta(wanted, key)
		for name, value := range wants {
			if has[name] != value {
				return false
			}
		}
		for name := range has {
			if _, ok := wants[name]; !ok && isMonitorOwn(name) {
				return false
			}
		}
	}
	delete(wanted, "metadata")
	delete(stands, "metadata")
	return reflect.DeepEqual(wanted, stands)
}

// isMonitorOwn tells whether a label or an annotation is written by us alone.
func isMonitorOwn(name string) bool {
	return strings.HasPrefix(name, "trimtab.dev/") || slices.Contains([]string{transformers.ManagedByLabel, "grafana_dashboard", "grafana_folder"}, name)
}

// monitorOthers are the labels or annotations of an object of ours that are not
// written by us: they stay.
func monitorOthers(of map[string]string) map[string]string {
	kept := withoutFlux(of)
	maps.DeleteFunc(kept, func(name, _ string) bool { return isMonitorOwn(name) })
	return kept
}
