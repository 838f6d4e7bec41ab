package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v2/sarif"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

const home = "https://github.com/trimtab/trimtab"

// sarifLevels are the levels of SARIF 2.1.0.
var sarifLevels = map[finding.Severity]string{finding.Error: "error", finding.Warning: "warning", finding.Info: "note"}

// WriteSARIF prints the findings as SARIF 2.1.0, with the rules, their help, and
// the fixes that findings carry. Version is that of trimtab. It returns the
// error of the writer.
func WriteSARIF(w io.Writer, r Report, version string) error {
	document, err := sarif.New(sarif.Version210)
	if err != nil {
		return err
	}
	driver := sarif.NewDriver("trimtab").WithInformationURI(home)
	if version != "" {
		driver.WithVersion(version)
	}
	for _, meta := range rule.Table {
		driver.AddRule(sarifRule(meta))
	}
	run := sarif.NewRun(*sarif.NewTool(driver))
	run.WithColumnKind("unicodeCodePoints").WithResults([]*sarif.Result{})
	for _, f := range r.Findings {
		run.AddResult(sarifResult(f))
	}
	document.AddRun(run)
	var b bytes.Buffer
	if err := document.PrettyWrite(&b); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

func sarifRule(meta rule.Meta) *sarif.ReportingDescriptor {
	var help bytes.Buffer
	ExplainRule(&help, meta)
	return sarif.NewRule(meta.Name).
		WithShortDescription(sarif.NewMultiformatMessageString(meta.Summary)).
		WithTextHelp(strings.TrimSpace(help.String())).
		WithHelpURI(home + "/blob/main/docs/rules.md#" + meta.Name).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(sarifLevels[meta.Severity]))
}

func sarifResult(f finding.Finding) *sarif.Result {
	result := sarif.NewRuleResult(f.Rule).
		WithLevel(sarifLevels[f.Severity]).
		WithMessage(sarif.NewTextMessage(oneLine(f.Message) + proof(f)))
	for i, meta := range rule.Table {
		if meta.Name == f.Rule {
			result.WithRuleIndex(i)
		}
	}
	result.AddLocation(sarifLocation(f))
	result.WithPartialFingerPrints(map[string]any{"trimtab/v1": fingerprint(f)})
	if f.File != "" && len(f.Fix) > 0 {
		result.AddFix(sarifFix(f))
	}
	properties := sarif.NewPropertyBag()
	properties.Add("setting", f.Setting)
	properties.Add("action", string(jsonFindingOf(f).Action))
	if origin := f.Origin.String(); origin != "" {
		properties.Add("origin", origin)
	}
	result.AttachPropertyBag(properties)
	return result
}

func sarifLocation(f finding.Finding) *sarif.Location {
	name := objectName(f.Object)
	if f.Container != "" {
		name += "/" + printable(f.Container)
	}
	logical := sarif.NewLogicalLocation().WithFullyQualifiedName(name).WithKind("resource")
	location := sarif.NewLocation().WithLogicalLocations([]*sarif.LogicalLocation{logical})
	if f.File == "" {
		return location
	}
	place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewArtifactLocation().WithUri(fileURI(f.File)))
	if f.Line > 0 {
		place.WithRegion(sarif.NewRegion().WithStartLine(f.Line).WithStartColumn(max(f.Column, 1)))
	}
	return location.WithPhysicalLocation(place)
}

func sarifFix(f finding.Finding) *sarif.Fix {
	change := sarif.NewArtifactChange(sarif.NewArtifactLocation().WithUri(fileURI(f.File)))
	for _, replacement := range f.Fix {
		region := sarif.NewRegion().
			WithStartLine(replacement.From.Line).WithStartColumn(replacement.From.Column).
			WithEndLine(replacement.To.Line).WithEndColumn(replacement.To.Column)
		text := replacement.Text
		change.WithReplacement(sarif.NewReplacement(region).WithInsertedContent(&sarif.ArtifactContent{Text: &text}))
	}
	says := fmt.Sprintf("%s %s", f.Action, f.Setting)
	if f.Group != "" {
		says += " and what goes with it"
	}
	return sarif.NewFix().WithDescriptionText(says).WithArtifactChanges([]*sarif.ArtifactChange{change})
}

// fileURI is a relative reference, as code hosts want it; an absolute path is a
// file URI.
func fileURI(file string) string {
	slashed := filepath.ToSlash(filepath.Clean(file))
	if strings.HasPrefix(slashed, "/") {
		return (&url.URL{Scheme: "file", Path: slashed}).String()
	}
	return (&url.URL{Path: slashed}).EscapedPath()
}

// fingerprint tells a finding from others in all runs over the same manifests,
// also when its line moves.
func fingerprint(f finding.Finding) string {
	k := jsonFindingOf(f).known()
	sum := sha256.Sum256([]byte(strings.Join([]string{
		k.rule, filepath.ToSlash(k.file), k.object.Kind, k.object.Namespace, k.object.Name, k.container, k.setting, k.value,
	}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
