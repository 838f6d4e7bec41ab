package server

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// Part is which part of a service a server is, as far as the shape and the names
// of its object tell.
type Part struct {
	// Label names the part for people: the names along the way to it.
	Label string
	// Stage is prefill, decode, or empty.
	Stage string
	// Rank is leader or worker where one pod leads others, else empty. Those of
	// one Unit form one server.
	Rank, Unit string
}

// The halves of a service that computes the KV cache apart from the tokens.
const (
	Prefill = "prefill"
	Decode  = "decode"
)

// The pods of a server that runs in several.
const (
	Leader = "leader"
	Worker = "worker"
)

// rankKeys are the keys under which kinds of objects describe the pod that leads
// and those that follow: LeaderWorkerSet, kthena's ModelServing, OME's runtimes,
// KServe's predictor and LLMInferenceService.
var rankKeys = map[string]string{
	"leaderTemplate": Leader, "entryTemplate": Leader, "leader": Leader, "template": Leader, "model": Leader,
	"workerTemplate": Worker, "worker": Worker, "workerSpec": Worker,
}

// nameWord is one word of a name: vllm-prefill, VllmPrefillWorker.
var nameWord = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

var stageWords = map[string]string{
	"prefill": Prefill, "prefiller": Prefill, "decode": Decode, "decoder": Decode,
}

// partOf reads the path to a container and the names of the elements on it.
func partOf(s *Server, root *yaml.Node) Part {
	part := Part{}
	var names []string
	for i, step := range s.Path {
		name, isKey := step.(string)
		switch {
		case isKey && rankKeys[name] != "":
			part.Rank, part.Unit = rankKeys[name], s.Path[:i].String()
		case !isKey:
			name = text(at(Lookup(root, s.Path[:i+1]), "name"))
		}
		if stage := stageIn(name); stage != "" {
			part.Stage = stage
		}
		if name != "" && (!isKey || rankKeys[name] != "" || stageIn(name) != "") {
			names = append(names, name)
		}
	}
	for _, name := range []string{s.Container, s.Object.Name} {
		if part.Stage == "" {
			part.Stage = stageIn(name)
		}
	}
	if part.Stage == "" && s.Object.Kind == "LLMInferenceService" && !isNull(at(root, "spec", "prefill")) {
		part.Stage = Decode // what stands beside the prefill section
	}
	part.Label = strings.Join(slices.Compact(names), " ")
	return part
}

// stageIn is the half that a name tells; empty where it tells none, or both.
func stageIn(name string) string {
	found := ""
	for _, word := range nameWord.FindAllString(name, -1) {
		stage := stageWords[strings.ToLower(word)]
		if stage != "" && found != "" && found != stage {
			return ""
		}
		if stage != "" {
			found = stage
		}
	}
	return found
}

// Template is the path of the pod template, or of the pod spec, that the server's
// container stands in: servers of one template run in one pod.
func (s *Server) Template() setting.Path {
	for i, step := range s.Path {
		if step == any("containers") || step == any("initContainers") {
			return s.Path[:i]
		}
	}
	return s.Path
}
