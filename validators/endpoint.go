package validators

import (
	"fmt"
	"strconv"

	"github.com/trimtab/trimtab/internal/rule"
)

// MetricsPath is where both engines answer with their metrics.
const MetricsPath = "/metrics"

// MetricsPort is the port of the pod at which a server answers with its metrics
// over plain HTTP, to whoever reaches the pod; else why there is none that is
// known.
func MetricsPort(s rule.Server) (port int64, why string) {
	a := addressOf(s)
	switch {
	case a.silent != "":
		return 0, "with " + a.silent + " the engine answers nothing"
	case spreads(s) || s.Nodes != nil && *s.Nodes > 1:
		return 0, "its ranks run in several pods, of which not all answer"
	case !a.known:
		return 0, "it is not known where the engine listens: a wrapper, a word that no release knows or a setting may change it"
	case a.loopback:
		return 0, fmt.Sprintf("the engine listens on %s alone: set %s=0.0.0.0", a.host, s.Serving.Listens.Host.Flag)
	case a.tls:
		return 0, "the engine speaks TLS, for which a scrape needs a certificate"
	case a.key && s.Serving.Listens.Key.Wanted(MetricsPath):
		return 0, "the engine asks for its API key"
	}
	number, err := strconv.ParseInt(a.port, 10, 32)
	if err != nil {
		return 0, fmt.Sprintf("it is not known on which port the engine listens: state %s", s.Serving.Listens.Port.Flag)
	}
	return number, ""
}
