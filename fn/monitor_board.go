package fn

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/mixin"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/transformers"
	"github.com/trimtab/trimtab/validators"
)

// boards are what can be shown of one server.
type boards struct {
	// panels are filled for a dashboard, alerts for a rule: a dashboard may let its
	// reader choose the namespace.
	panels, alerts mixin.Board
	// gateway is what can be shown of the gateway before it.
	gateway mixin.Board
	// namespaces is a query for the namespaces to choose from; empty where the
	// server's is known.
	namespaces string
	// why says why nothing is shown at all, nothing is the fact behind it.
	why     string
	nothing *engine.Judgement
	needs   []string
	// target is what is scraped, by an object of scrapeKind; nil: nothing is, for
	// the reason unscraped where it was asked for.
	target     *transformers.Target
	scrapeKind string
	unscraped  string
}

// left are all panels and alerts that are left out.
func (b boards) left() []mixin.Left {
	left := slices.Concat(b.panels.Left, b.gateway.Left, slices.DeleteFunc(slices.Clone(b.alerts.Left), func(l mixin.Left) bool { return !isAlert(l) }))
	if b.why != "" && len(b.needs) > 0 {
		left = append(left, mixin.Left{Name: "all", Why: b.why, Needs: b.needs})
	}
	return left
}

func isAlert(l mixin.Left) bool { return strings.HasPrefix(l.Name, "alert ") }

// draw finds out what can be shown of a server, beside others.
func (s *monitored) draw(all *judgements, beside []*monitored) error {
	b := &s.boards
	if len(s.facts.Span.Releases) == 0 {
		b.why, b.needs = "no engine version can be told", []string{"engine.version"}
		return nil
	}
	about := mixin.Server{Engine: s.engine}
	for _, release := range s.facts.Span.Releases {
		reading := s.readAt(release)
		about.States = append(about.States, engine.NewState(s.engine, s.known, release, reading.Settings, s.facts.Set, reading.Opaque))
	}
	if b.nothing = about.Nothing(); b.nothing != nil {
		b.why = b.nothing.Why
	}
	s.scrape(all)
	labels, why := s.seriesLabels()
	if b.why == "" && why != "" {
		b.why = why
	}
	if b.why != "" {
		return nil
	}
	values, err := s.values(beside)
	if err != nil {
		return err
	}
	about.Values, about.Labels = values, slices.Sorted(maps.Keys(labels))
	if b.gateway, err = mixin.FillGateway(values); err != nil {
		return err
	}
	values["server"] = mixin.Text(transformers.Matchers(labels))
	if b.alerts, err = mixin.Fill(about); err != nil {
		return err
	}
	if s.Object.Namespace == "" && s.config.Selector == nil {
		matchers := transformers.Matchers(labels)
		values["server"] = mixin.Text(matchers + `,namespace=~"$namespace"`)
		b.namespaces = "label_values(up{" + matchers + "}, namespace)"
	}
	b.panels, err = mixin.Fill(about)
	return err
}

// seriesLabels are the labels that select the series of the server alone; else why
// they are not known.
func (s *monitored) seriesLabels() (labels map[string]string, why string) {
	if s.config.Selector != nil {
		return s.config.Selector, ""
	}
	labels = map[string]string{}
	if s.Object.Namespace != "" {
		labels["namespace"] = s.Object.Namespace
	}
	switch {
	case s.boards.target != nil:
		labels["job"] = s.boards.target.Job
	case s.boards.unscraped != "":
		return nil, s.boards.unscraped
	case s.Operator == "llmkube":
		// The PodMonitor of the operator's chart relabels so: charts/llmkube, job
		// llmkube-inference.
		labels["service"] = s.Object.Name
	default:
		return nil, "nothing that is known scrapes the server: state the labels of its series as `monitor.selector`"
	}
	return labels, ""
}

// scrape finds out what has to be scraped, and how.
func (s *monitored) scrape(all *judgements) {
	b := &s.boards
	mode := s.config.Scrape
	if mode == "" && s.Operator != "llmkube" && s.config.Selector == nil {
		mode = config.ScrapePod
	}
	if mode == "" || mode == config.None {
		return
	}
	port, why := validators.MetricsPort(s.view)
	if why != "" {
		b.unscraped = why + "; or scrape it by an object of your own, with `monitor: {scrape: false, selector: {…}}`"
		return
	}
	target := transformers.Target{Path: validators.MetricsPath, Job: s.name, Number: port}
	if s.config.Interval != nil {
		target.Interval = *s.config.Interval
	}
	if mode == config.ScrapeService {
		b.scrapeKind = "ServiceMonitor"
		b.unscraped = s.byService(&target)
	} else {
		b.scrapeKind = "PodMonitor"
		b.unscraped = s.byPod(&target, all)
	}
	if b.unscraped == "" {
		b.target = &target
	}
}

// byPod fills in which pods are scraped; else it says why none can be.
func (s *monitored) byPod(target *transformers.Target, all *judgements) (why string) {
	at := slices.IndexFunc(s.Ports, func(p server.ContainerPort) bool { return p.Own && p.Number == target.Number })
	if at < 0 {
		return fmt.Sprintf("the container names no port %d, and a PodMonitor finds only ports that are named: add it under `ports`", target.Number)
	}
	target.Port = s.Ports[at].Name
	target.Selector = s.podSelector()
	if len(target.Selector) == 0 {
		return "it is not known which labels its pods have"
	}
	for i := range all.servers {
		other := &all.servers[i]
		if other.Item != s.Item && server.Folder(other.Item) == server.Folder(s.Item) && !apart(other.Object, s.Object) && isPartOf(target.Selector, other.Pod.Labels) {
			return "its labels select the pods of " + objectName(other.Object) + " too: give its pods a label of their own"
		}
	}
	return ""
}

// podSelector are the labels by which the workload finds its own pods, else all
// that its pods have.
func (s *monitored) podSelector() map[string]string {
	root, err := s.Item.Root()
	if err != nil || root == nil {
		return nil
	}
	if own := matchLabels(root); isPartOf(own, s.Pod.Labels) {
		return own
	}
	return withoutFlux(s.Pod.Labels)
}

// byService fills in by which Service the pods are scraped; else it says why none
// can be.
func (s *monitored) byService(target *transformers.Target) (why string) {
	for _, front := range s.Front {
		number, own := s.PortNumber(front.Target)
		if own && number == target.Number && front.Name != "" && len(front.Labels) > 0 {
			target.Port, target.Selector = front.Name, withoutFlux(front.Labels)
			return ""
		}
	}
	return fmt.Sprintf("no Service here has labels and leads by a named port to port %d: add one, or set `monitor.scrape: pod`", target.Number)
}

// slowestTTFT is the time to the first token that is too long where the config
// does not say.
const slowestTTFT = time.Minute

// values are those of the placeholders, without that of the server's matchers.
func (s *monitored) values(beside []*monitored) (mixin.Values, error) {
	plan, err := s.plan()
	if err != nil {
		return nil, err
	}
	count := func(figure *int64, fallback string) mixin.Value {
		if figure != nil {
			return mixin.Text(strconv.FormatInt(*figure, 10))
		}
		if len(plan.Needs) > 0 {
			return mixin.Value{Needs: plan.Needs}
		}
		return mixin.Value{Needs: []string{fallback}}
	}
	small := slowestTTFT
	if s.config.TTFT != nil {
		small = *s.config.TTFT
	}
	values := mixin.Values{
		"pool": count(plan.Tokens, "measured.kvTokens"), "ceiling": count(plan.Ceiling.Requests, "measured.kvTokens"),
		"slots": count(slotsOf(plan), "measured.mambaSlots"),
		"ttft":  mixin.Text(seconds(s.mixedTTFT(small))), "smallTTFT": mixin.Text(seconds(small)),
	}
	maps.Copy(values, gatewayValues(s.config.Gateway))
	if s.config.Gateway != nil && s.config.Gateway.Selector == nil {
		for _, other := range beside {
			if other != s && other.copy == s.copy && !apart(other.Object, s.Object) && reflect.DeepEqual(other.config.Gateway, s.config.Gateway) {
				values["gateway.running"] = mixin.Value{Why: "the gateway's gauges are not known to tell " + objectName(s.Object) + " and " + objectName(other.Object) + " apart: give each a config with its own `monitor.gateway.selector`"}
			}
		}
	}
	return values, nil
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

func slotsOf(plan ledger.Plan) *int64 {
	for _, gpu := range plan.GPUs {
		for _, row := range gpu.Rows {
			if row.Name == ledger.Mamba {
				return row.Slots
			}
		}
	}
	return nil
}

// mixedTTFT is the bound for prompts of all sizes together: what the config says,
// else twice the prefill of the largest prompt of the workload, in whole minutes.
func (s *monitored) mixedTTFT(least time.Duration) time.Duration {
	rate := s.judged.config.Spec.Measured.PrefillTokensPerSecond
	if s.config.TTFT != nil || rate == nil {
		return least
	}
	var largest int64
	for _, prompt := range s.judged.config.Spec.Workload.Prompts {
		largest = max(largest, prompt.Tokens)
	}
	const day = 24 * 60
	minutes := math.Min(day, math.Ceil(2*float64(largest) / *rate / 60))
	return max(least, time.Duration(minutes)*time.Minute)
}

// gatewayValues are the placeholders of a gateway; none where there is no gateway.
func gatewayValues(g *config.Gateway) mixin.Values {
	if g == nil {
		return mixin.Values{}
	}
	named := func(name, standard string) mixin.Value {
		if name == "" {
			name = standard
		}
		return mixin.Text(name)
	}
	values := mixin.Values{
		"gateway":         mixin.Text(transformers.Matchers(g.Selector)),
		"gateway.running": named(g.Running, "vllm_requests_running"), "gateway.kvUsage": named(g.KVUsage, "vllm_kv_usage_perc"),
		"gateway.parked": named(g.Parked, "admission_parked_total"), "gateway.rejected": named(g.Rejected, "admission_rejected_total"),
		"gateway.stale": named(g.Stale, "engine_state_stale_total"), "gateway.degraded": named(g.Degraded, "observer_degraded"),
		"gateway.smallTTFT": {Needs: []string{"monitor.gateway.smallTTFT"}}, "small": mixin.Text(""),
	}
	if g.SmallTTFT != "" {
		name, matchers, _ := strings.Cut(strings.TrimSuffix(g.SmallTTFT, "}"), "{")
		values["gateway.smallTTFT"], values["small"] = mixin.Text(name+"_bucket"), mixin.Text(matchers)
	}
	return values
}
