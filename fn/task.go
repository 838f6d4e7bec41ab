package fn

import (
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/parallel"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/validators"
)

// task is a server that is to be judged, by one config.
type task struct {
	server  *server.Server
	id      string
	config  *config.Config
	subject *subject
	view    *view
	judged  *judged
}

// judgeTasks judges servers, on all cores those of different items: each is read
// alone first, then the rules see it beside those before it.
func (in Input) judgeTasks(tasks []*task) error {
	rules := validators.All()
	if in.To != nil {
		rules = validators.OfVersions()
	}
	groups := byText(tasks)
	each := func(do func(*task) error) error {
		return parallel.Each(len(groups), func(i int) error {
			for _, t := range groups[i] {
				if err := do(t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := each(func(t *task) (err error) {
		if t.subject, err = newSubject(t.server, t.config); err == nil && in.To == nil {
			t.view = t.subject.look()
		}
		return err
	})
	if err != nil {
		return err
	}
	seen := map[string][]rule.Server{} // by namespace
	for _, t := range tasks {
		if t.view != nil {
			namespace := t.server.Object.Namespace
			t.view.beside = seen[namespace]
			seen[namespace] = append(t.view.beside, t.view.server)
		}
	}
	return each(func(t *task) (err error) {
		if in.To == nil {
			t.judged, err = t.subject.judge(rules, t.view)
			return err
		}
		if to, ok := in.To[t.server.Engine]; ok {
			t.judged, err = t.subject.cross(to, rules)
		}
		return err
	})
}

// byText groups servers, in their order, by the text that they are decoded with:
// what is remembered of a text is for one reader at a time.
func byText(tasks []*task) [][]*task {
	var groups [][]*task
	at := map[any]int{}
	for _, t := range tasks {
		text := t.server.Item.Together()
		n, ok := at[text]
		if !ok {
			n, groups = len(groups), append(groups, nil)
			at[text] = n
		}
		groups[n] = append(groups[n], t)
	}
	return groups
}
