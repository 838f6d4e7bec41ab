package server

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// joinsCluster is what makes a pod a part of a Ray cluster: ray's own program, and
// the scripts of vLLM around it.
//
// Source: vLLM examples/online_serving/multi-node-serving.sh and run_cluster.sh.
var joinsCluster = regexp.MustCompile(`\bray\s+start\b|\bmulti-node-serving\.sh\b|\brun_cluster\.sh\b`)

// clustered tells whether a container of the pod joins a Ray cluster: ranks of the
// server may then run in other pods, whatever the kind of the object.
func clustered(podSpec, container *yaml.Node) bool {
	for _, one := range append(others(podSpec, container), container) {
		var line []string
		for _, path := range [][]string{{"command"}, {"args"}, {"lifecycle", "postStart", "exec", "command"}} {
			list := resolve(at(one, path...))
			if list == nil {
				continue
			}
			for _, word := range append([]*yaml.Node{list}, list.Content...) {
				line = append(line, text(word))
			}
		}
		if joinsCluster.MatchString(strings.Join(line, " ")) {
			return true
		}
	}
	return false
}
