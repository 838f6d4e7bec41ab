package validators

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
)

// generationPrefix begins the name of a directory that Trim gave a cache, so that
// it can be kept in step with the image and the weights.
const generationPrefix = "gen-"

// unversionedCache finds cache directories on volumes that outlive the pod whose
// pages an engine of another image, or with other weights, would read as its own.
func unversionedCache() rule.Rule {
	meta := rule.Named("unversioned-cache")
	return rule.Rule{Meta: meta, EditsEverywhere: true, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		caches, _ := tiersOf(r)
		var found []finding.Finding
		for _, cache := range caches {
			if f := cache.unversioned(r, meta); f != nil {
				found = append(found, *f)
			}
		}
		return found, nil
	}}
}

// unversioned is the finding about one cache; nil where its directory tells what
// its pages do not, or where nothing reads them again.
func (c cacheTier) unversioned(r rule.Release, meta rule.Meta) *finding.Finding {
	if len(c.fact.Tier.Lacks) == 0 || c.fact.Reread(r.State, c.about) != engine.True {
		return nil
	}
	named, whole := generationName(r, c.fact.Tier.Lacks)
	base := path.Base(c.directory)
	f := r.Proven(r.About(meta, c.about), engine.Judgement{Fact: c.fact})
	f.Places = nil
	switch ours := strings.HasPrefix(base, generationPrefix); {
	case ours && (!whole || base == named):
		return nil
	case ours:
		f.Proposed = path.Join(path.Dir(c.directory), named)
		f.Message = fmt.Sprintf("%s: %s is not the name of this image, these weights and settings", c.about.Name, base)
	case namesVersion(r, strings.Trim(c.mount.SubPath, "/")) || c.versioned(r) != "" || counted.MatchString(base):
		return nil
	default:
		f.Message = fmt.Sprintf("%s: %s outlives its image and its weights, and the names of the pages hold none of %s: after a change of one the old pages are served as new ones",
			c.about.Name, c.directory, lacking(c.fact.Tier.Lacks))
		if f.Proposed = path.Join(c.directory, named); !whole {
			f.Proposed = ""
			f.Message += "; pin them, and the directory can be named after them"
		}
	}
	f.Undo = "set it back to " + c.directory + "; the pages are still there, until a job prunes them"
	variable := slices.IndexFunc(r.Env, func(v server.Variable) bool { return "env/"+v.Name == c.about.Name && v.ValuePath != nil })
	if f.Proposed != "" && variable >= 0 && c.about.Value() == c.directory && c.fact.MayEdit(r.State.Release) {
		f.Action = finding.Set
		f.Edits = []finding.Edit{{Action: finding.Set, Path: r.Env[variable].ValuePath, Value: f.Proposed}}
	}
	return &f
}

// counted is a name with a number that somebody counts up: gen1, chat-2.
var counted = regexp.MustCompile(`[0-9]$`)

// lacking writes what the names of pages do not hold, for people.
func lacking(names []string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = strings.ReplaceAll(name, "_", " ")
	}
	return strings.Join(words, ", ")
}

// generationName is a name that changes with what the pages of a tier lack; false
// where none of it is pinned, so that nobody can tell when it changes.
func generationName(r rule.Release, lacks []string) (string, bool) {
	var parts []string
	for _, lacked := range lacks {
		switch lacked {
		case "image":
			image := imageParts(r)
			if len(image) == 0 {
				return "", false
			}
			parts = append(parts, image...)
		case "revision":
			if revision := revisionOf(r); revision != "" {
				parts = append(parts, short(revision))
			}
		default:
			if value, known, _ := r.State.Value(lacked); r.State.Given(lacked) && known && value != "auto" && value != nil {
				word, _, _ := strings.Cut(lacked, "_")
				parts = append(parts, word+fmt.Sprint(value))
			}
		}
	}
	if len(parts) == 0 {
		return "", false
	}
	return generationPrefix + unfitForName.ReplaceAllString(strings.Join(parts, "-"), "_"), true
}

var unfitForName = regexp.MustCompile(`[^-A-Za-z0-9._]`)

// imageParts tell an image from others: its release and digest, or its tag; none
// where the tag floats.
func imageParts(r rule.Release) []string {
	_, tag, digest := catalogue.SplitImage(r.Image)
	var parts []string
	if span := r.Facts.Span; span.Exact && len(span.Releases) == 1 {
		parts = append(parts, "v"+span.Releases[0].Version)
	}
	_, digest, _ = strings.Cut(digest, ":")
	switch {
	case digest != "":
		return append(parts, short(digest))
	case len(parts) > 0 && strings.TrimPrefix(tag, "v") == strings.TrimPrefix(parts[0], "v"):
		return parts
	case tag == "" || strings.Contains(tag, "$") || r.Facts.Span.Floating:
		return nil
	}
	return []string{tag}
}

// revisionOf is the revision of the weights, where the manifest pins one.
func revisionOf(r rule.Release) string {
	if value, known, _ := r.State.Value("revision"); known && r.State.Given("revision") {
		text, _ := value.(string)
		return text
	}
	_, revision, _ := strings.Cut(r.ModelSource, "@")
	return revision
}

// versionsOf are the texts by which a directory's name may tell the image and the
// weights of a server; hashes as short as people write them.
func versionsOf(r rule.Release) []string {
	_, tag, digest := catalogue.SplitImage(r.Image)
	_, digest, _ = strings.Cut(digest, ":")
	return []string{tag, leading(digest, 7), leading(revisionOf(r), 7)}
}

// short is the beginning of a hash; other text is left whole.
func short(text string) string { return leading(text, 8) }

// leading is so much of a hash; other text is left whole.
func leading(text string, digits int) string {
	const sha1 = 40
	if len(text) >= sha1 && strings.Trim(text, "0123456789abcdef") == "" {
		return text[:digits]
	}
	return text
}
