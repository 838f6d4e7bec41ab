package catalogue

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// officialImages are the repositories the engines' own projects publish.
var officialImages = map[string]string{
	"vllm/vllm-openai":      "vllm",
	"vllm/vllm-openai-rocm": "vllm",
	"vllm/vllm-openai-cpu":  "vllm",
	"vllm/vllm-tpu":         "vllm",
	"lmsysorg/sglang":       "sglang",
}

// ownNumbers are images that hold an engine but count their own releases: the
// tag v0.9.0 of llm-d-cuda is not vLLM 0.9.0.
var ownNumbers = regexp.MustCompile(`(^|/)(llm-d/[^/]+|llm-d-[^/]+|huggingfaceserver(-[^/]+)?|ray-llm|ai-dynamo/[^/]+|lmcache/vllm-openai)$`)

var (
	repositoryPath = regexp.MustCompile(`^[a-z0-9]+(?:[a-z0-9._:-]*[a-z0-9])?(?:/[a-z0-9._-]+)*$`)
	toReplace      = regexp.MustCompile(`^(replaced?|placeholder|changeme|todo)([-_.].*)?$`)
	rolling        = regexp.MustCompile(`^(latest|nightly|dev|main|master)$`)
	rollingVariant = regexp.MustCompile(`^(latest|nightly|dev|main|master)((?:[-_.][a-z][a-z0-9.]*)+)$`)
	commit         = regexp.MustCompile(`[0-9a-f]{7,}`)
	dated          = regexp.MustCompile(`^(?:(?:nightly|dev|main|latest)[-_.])*(20[0-9]{2})[-.]?(0[1-9]|1[0-2])[-.]?(0[1-9]|[12][0-9]|3[01])(?:[^0-9].*)?$`)
)

// OfficialImage returns the engine whose project publishes an image, mirrors
// included. Everything else that runs the engine is a fork.
func OfficialImage(ref string) (engine string, ok bool) {
	repository, _, _ := SplitImage(ref)
	parts := strings.Split(repository, "/")
	if len(parts) < 2 {
		return "", false
	}
	engine, ok = officialImages[strings.Join(parts[len(parts)-2:], "/")]
	return engine, ok
}

// SplitImage takes an image reference apart: registry/path, tag, digest.
func SplitImage(ref string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(strings.TrimSpace(ref), "@")
	if colon := strings.LastIndexByte(repository, ':'); colon > strings.LastIndexByte(repository, '/') {
		repository, tag = repository[:colon], repository[colon+1:]
	}
	return repository, tag, digest
}

// FromImage returns the span that an image reference leaves, as the contract
// reads tags: one that begins with a release is that release, on forks too; a
// rolling tag is the newest release, unless a digest pins it to an unknown one.
func (e *Engine) FromImage(ref string) Span {
	known, ok := e.images.Load(ref)
	if !ok {
		known = e.fromImage(ref)
		if e.imageCount.Add(1) <= mostImages {
			e.images.Store(ref, known)
		}
	}
	span := known.(Span)
	span.Releases = slices.Clone(span.Releases)
	return span
}

// mostImages bounds how many image references are remembered.
const mostImages = 4096

func (e *Engine) fromImage(ref string) Span {
	repository, tag, digest := SplitImage(ref)
	switch {
	case strings.Contains(ref, "${") || strings.Contains(ref, "$("):
		return e.open(ref, "the image is decided outside the manifest")
	case repository == "":
		return e.open("", "no image is named")
	case !repositoryPath.MatchString(repository) || toReplace.MatchString(repository):
		return e.open(ref, "the image is a placeholder")
	case ownNumbers.MatchString(repository):
		return e.open(tag, "the tags of this image do not follow the releases of "+e.Name)
	case tag == "" && digest != "":
		return e.open("", "a digest alone does not tell the version")
	}
	if span, ok := e.taggedRelease(repository, tag); ok {
		return span
	}
	if day, ok := dayOf(tag); ok {
		return e.until(tag, day)
	}
	variant := rollingVariant.FindStringSubmatch(tag)
	if tag == "" || rolling.MatchString(tag) || variant != nil && !commit.MatchString(variant[2]) {
		if digest != "" {
			return e.open(tag, "the rolling tag "+tag+" with a digest does not tell the version")
		}
		return e.floating(tag)
	}
	return e.open(tag, "the tag "+tag+" does not name a release")
}

// taggedRelease returns the span of a tag that begins with a release, or names
// the engine before one (vllm_0.6.4). Calendar versions, and on forks versions
// of another major than the engine's, are foreign.
func (e *Engine) taggedRelease(repository, tag string) (Span, bool) {
	version, rest := cutVersion(tag)
	if _, named, found := strings.Cut(tag, e.Name+"_"); version == "" && found {
		version, rest = cutVersion(named)
	}
	if version == "" || rest != "" && !strings.ContainsRune("-_", rune(rest[0])) {
		return Span{}, false
	}
	parsed, err := pep440.Parse(strings.ReplaceAll(version, "_", "."))
	if err != nil {
		return Span{}, false
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	newestMajor, _, _ := strings.Cut(e.Newest().Version, ".")
	official := officialImages[strings.Join(lastTwo(repository), "/")] == e.Name
	if major != newestMajor && (!official || len(major) > 1) {
		return Span{}, false
	}
	if strings.Count(version, ".") == 1 {
		if span, ok := e.series(version); ok {
			return span, true
		}
	}
	return e.at(parsed, version), true
}

// series returns the span of a tag with two numbers: v0.9 may move from one
// patch release of 0.9 to the next.
func (e *Engine) series(version string) (Span, bool) {
	versions, err := ParseRange("==" + strings.TrimPrefix(version, "v") + ".*")
	if err != nil {
		return Span{}, false
	}
	span := Span{Text: version, Why: "the tag " + version + " does not name the patch release"}
	for _, release := range e.Releases {
		if versions.Contains(release) {
			span.Releases = append(span.Releases, release)
		}
	}
	return span, len(span.Releases) > 0
}

func lastTwo(repository string) []string {
	parts := strings.Split(repository, "/")
	return parts[max(0, len(parts)-2):]
}

// dayOf returns the day a tag begins with, behind nightly- and the like.
func dayOf(tag string) (time.Time, bool) {
	parts := dated.FindStringSubmatch(tag)
	if parts == nil {
		return time.Time{}, false
	}
	day, err := time.Parse(time.DateOnly, strings.Join(parts[1:4], "-"))
	return day, err == nil
}

// until returns the span that a build of a day leaves: every release up to that
// day, and the next one, for a build from the main branch holds what is to come.
func (e *Engine) until(tag string, day time.Time) Span {
	span := e.open(tag, "the tag "+tag+" names a day, not a release")
	for i, release := range e.Releases {
		if release.Date.After(day) {
			span.Releases = slices.Clone(e.Releases[:i+1])
			return span
		}
	}
	return span
}

// Retag returns the reference of an engine's own image with the tag of another
// release. The error says why there is none: the image is a fork, whose releases
// are not known, a digest pins it, or the tag is no plain release.
func (e *Engine) Retag(ref string, to Release) (string, error) {
	repository, tag, digest := SplitImage(ref)
	engine, official := OfficialImage(ref)
	plain := strings.TrimPrefix(tag, "v")
	_, isRelease := e.byVersion[plain]
	switch {
	case !official || engine != e.Name:
		return "", fmt.Errorf("%s is not the engine's own image, and its tags are not known", repository)
	case digest != "":
		return "", fmt.Errorf("a digest pins the image; take the one of %s", to)
	case !isRelease:
		return "", fmt.Errorf("the tag %q is not a release alone, and whether there is such a one of %s is not known", tag, to)
	}
	return repository + ":" + strings.TrimSuffix(tag, plain) + to.Version, nil
}
