package fn

import (
	"errors"
	"fmt"
	"strings"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/transformers"
)

// ShownPanels are the panels of the dashboards of all servers, for a generator of
// the user's own.
type ShownPanels struct {
	// JSON is one list of Grafana's panels.
	JSON string
	// Left says, one a line, what is left out and why.
	Left []string
}

// Panels draws the panels that `monitor` would show of each server, also where no
// config asks for it. An error says that there is none.
func Panels(in Input) (*ShownPanels, error) {
	all, err := judge(in, in.Sources, nil)
	if err != nil {
		return nil, err
	}
	var servers []*monitored
	for i := range all.servers {
		s := &all.servers[i]
		m := s.config.Spec.Monitor
		if m == nil || m.Off {
			m = &config.Monitor{}
		}
		servers = append(servers, &monitored{judged: s, config: m})
	}
	if err := all.drawAll(servers); err != nil {
		return nil, err
	}
	shown := &ShownPanels{}
	whole := &watch{members: servers}
	if len(servers) == 0 {
		return nil, errors.New("no server is found: name a file or a folder that holds one")
	}
	board := whole.dashboard()
	for _, section := range board.Sections {
		for _, left := range section.Left {
			shown.Left = append(shown.Left, strings.TrimPrefix(fmt.Sprintf("%s: %s: %s", section.Title, left.Name, left.Why), ": "))
		}
	}
	if len(board.Sections) == 0 {
		var reasons []string
		for _, s := range servers {
			reasons = append(reasons, s.name+": "+s.boards.why)
		}
		return nil, errors.New("no panel can be filled: " + strings.Join(reasons, "; "))
	}
	shown.JSON, err = transformers.Dashboard{Sections: board.Sections}.PanelsJSON()
	return shown, err
}
