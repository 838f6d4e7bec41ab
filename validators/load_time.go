package validators

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/rule"
)

// What is assumed of a server that loads; findings state it. Rates are bytes a
// second: one Gbit/s from the Hub, a fast disk or network volume.
const (
	hubRate    = 125_000_000
	volumeRate = 1_000_000_000
	// startSeconds is what imports, the profile run, compilation and graph capture
	// take at least, besides the weights.
	startSeconds = 45
)

// load is how long a server takes until it answers.
type load struct {
	seconds int64
	// assumes says from what it follows.
	assumes, source string
}

// loadTime estimates it from the size of the weights and where they come from;
// of a model whose size nothing tells only the start counts.
func loadTime(s rule.Server) load {
	const source = "estimate: kserve/kserve#5062 and others report servers that are killed while they load"
	start := fmt.Sprintf("%d s for the engine to start", startSeconds)
	bytes, told := weightBytes(s)
	if bytes == 0 {
		return load{startSeconds, start + " are assumed, and the weights come on top", source}
	}
	rate, from := int64(volumeRate), "from a volume at 1 GB/s"
	if downloads(s) {
		rate, from = hubRate, "from the Hub at 1 Gbit/s"
	}
	return load{
		bytes/rate + startSeconds,
		fmt.Sprintf("%s and %.1f GB of weights (%s) %s are assumed", start, float64(bytes)/1e9, told, from), source,
	}
}

var (
	parameters = regexp.MustCompile(`(?i)(?:^|[-_./])(?:([0-9]{1,2})x)?([0-9]{1,4}(?:\.[0-9]{1,2})?)b(?:$|[-_.])`)
	fourBits   = regexp.MustCompile(`(?i)awq|gptq|int4|w4a|4bit|4-bit|fp4|bnb|gguf|gpt-oss`)
	eightBits  = regexp.MustCompile(`(?i)fp8|int8|w8a|8bit|8-bit`)
)

// weightBytes is the size of the checkpoint: the published one where the
// catalogue has it, else what the name says; 0 where neither does.
func weightBytes(s rule.Server) (bytes int64, told string) {
	if shape := s.Facts.Shape; shape != nil && shape.CheckpointBytes > 0 {
		return shape.CheckpointBytes, "as published"
	}
	name := checkpointName(s)
	match := parameters.FindStringSubmatch(path.Base(name))
	if match == nil {
		return 0, ""
	}
	billions, err := strconv.ParseFloat(match[2], 64)
	if err != nil {
		return 0, ""
	}
	if experts, err := strconv.ParseFloat(match[1], 64); err == nil {
		billions *= experts * 0.8 // experts share what is not theirs
	}
	each, kind := 2.0, "2 bytes"
	switch {
	case fourBits.MatchString(name):
		each, kind = 0.5, "half a byte"
	case eightBits.MatchString(name):
		each, kind = 1, "1 byte"
	}
	return int64(billions * each * 1e9), fmt.Sprintf("%sB in the name, %s each", strings.TrimPrefix(match[1]+"x"+match[2], "x"), kind)
}

// checkpointName is the name or path of the checkpoint, empty where none is told.
func checkpointName(s rule.Server) string {
	if name, _ := s.Facts.Set["model.name"].Value.(string); name != "" && s.ModelSource == "" {
		return name
	}
	if s.ModelSource != "" {
		source, _, _ := strings.Cut(s.ModelSource, "@")
		return source
	}
	for _, flag := range []string{"--model", "--model-path"} {
		if about, ok := given(s, flag); ok && !about.Unknown {
			return about.Value()
		}
	}
	return ""
}

// hubCaches are the variables that say where files of the Hub are kept.
var hubCaches = []string{"env/HF_HUB_CACHE", "env/HUGGINGFACE_HUB_CACHE", "env/HF_HOME", "env/XDG_CACHE_HOME", "env/TRANSFORMERS_CACHE"}

// downloads tells whether each start of the server takes the weights from the
// Hub: they are named as there, nobody brings them before, and no volume that
// outlives the pod keeps them.
func downloads(s rule.Server) bool {
	name := checkpointName(s)
	if s.Operator != "" || strings.Count(name, "/") != 1 || strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") {
		return false
	}
	places := []string{"/root/.cache/huggingface/hub", "/home/vllm/.cache/huggingface/hub"}
	for _, variable := range hubCaches {
		if about, ok := given(s, variable); ok {
			if about.Unknown {
				return false
			}
			places = append(places, about.Value())
		}
	}
	for _, flag := range []string{"--download-dir", "--load-format"} {
		about, ok := given(s, flag)
		switch {
		case !ok:
		case about.Unknown || flag == "--load-format" && about.Value() == "dummy":
			return false
		case flag == "--download-dir":
			places = append(places, about.Value())
		}
	}
	kept := func(place string) bool {
		if path.Clean("/"+place) == "/" {
			return true
		}
		_, persistent := s.Persistent(place)
		return persistent
	}
	return !slices.ContainsFunc(places, kept) && !keepsHub(s)
}

// keepsHub tells whether a volume that outlives the pod is mounted below a folder
// named as the Hub's cache, wherever the home of the user is.
func keepsHub(s rule.Server) bool {
	for _, mount := range s.Mounts {
		if strings.Contains(mount.Path, "huggingface") && (mount.Claim != "" || mount.HostPath != "") {
			return true
		}
	}
	return false
}
