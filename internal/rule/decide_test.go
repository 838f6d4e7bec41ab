package rule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

func policy(t *testing.T) rule.Policy {
	t.Helper()
	sglang, err := catalogue.Load("sglang")
	require.NoError(t, err)
	span, err := sglang.Stated("v0.5.16")
	require.NoError(t, err)
	return rule.Policy{
		Engine: sglang, Span: span,
		Settings: []setting.Setting{{Name: "--tp-size"}, {Name: "--pre-warm-nccl"}},
		Comments: func(finding.Finding) []string { return nil },
	}
}

func inert(name string) finding.Finding {
	return finding.Finding{Rule: "inert-setting", Severity: finding.Warning, Setting: name, Action: finding.Remove}
}

func typedField(name string, path ...any) finding.Finding {
	f := inert(name)
	f.Origin = setting.Origin{Kind: setting.Field, Path: path}
	return f
}

func TestDecideRules(t *testing.T) {
	no, yes, severe := false, true, finding.Error
	cases := []struct {
		name    string
		setting config.RuleSetting
		want    []finding.Finding
	}{
		{"as it is", config.RuleSetting{}, []finding.Finding{inert("--pre-warm-nccl")}},
		{"off", config.RuleSetting{Off: true}, nil},
		{"report", config.RuleSetting{Trim: &no}, []finding.Finding{{Rule: "inert-setting", Severity: finding.Warning, Setting: "--pre-warm-nccl", Action: finding.None}}},
		{"fix and severity", config.RuleSetting{Trim: &yes, Severity: &severe}, []finding.Finding{{Rule: "inert-setting", Severity: finding.Error, Setting: "--pre-warm-nccl", Action: finding.Remove}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := policy(t)
			p.Rules = map[string]config.RuleSetting{"inert-setting": c.setting}
			require.Equal(t, c.want, rule.Decide([]finding.Finding{inert("--pre-warm-nccl")}, p, finding.Finding{}))
		})
	}
}

func TestARuleThatDoesNotTrimActsOnlyWithFix(t *testing.T) {
	p := policy(t)
	restated := finding.Finding{Rule: "restated-default", Severity: finding.Info, Setting: "--tp-size", Action: finding.Remove}
	require.Equal(t, finding.None, rule.Decide([]finding.Finding{restated}, p, finding.Finding{})[0].Action)
	yes := true
	p.Rules = map[string]config.RuleSetting{"restated-default": {Trim: &yes}}
	require.Equal(t, finding.Remove, rule.Decide([]finding.Finding{restated}, p, finding.Finding{})[0].Action)
}

func TestKeepMatchesEveryNameOfASetting(t *testing.T) {
	tp := typedField("--tp-size", "spec", "sglangConfig", "tensorParallelSize")
	env := inert("env/CUDA_VISIBLE_DEVICES")
	cases := []struct {
		keep string
		f    finding.Finding
		kept bool
	}{
		{"--tp-size", tp, true},
		{"--tensor-parallel-size", tp, true},
		{"tensorParallelSize", tp, true},
		{"spec.sglangConfig.tensorParallelSize", tp, true},
		{"--pp-size", tp, false},
		{"env/CUDA_VISIBLE_DEVICES", env, true},
		{"CUDA_VISIBLE_DEVICES", env, false},
		{"--nonsense", tp, false},
	}
	for _, c := range cases {
		p := policy(t)
		p.Keep = []string{c.keep}
		got := rule.Decide([]finding.Finding{c.f}, p, finding.Finding{})
		require.Len(t, got, 1, "a keep stops the edit, not the finding")
		require.Equal(t, c.kept, got[0].Action == finding.None, c.keep)
		require.Equal(t, finding.Warning, got[0].Severity)
	}
}

func TestAKeepOnOneHoldsItsGroup(t *testing.T) {
	p := policy(t)
	p.Keep = []string{"env/A"}
	a, b, other := inert("env/A"), inert("env/B"), inert("env/C")
	a.Group, b.Group = "devices", "devices"
	got := rule.Decide([]finding.Finding{a, b, other}, p, finding.Finding{})
	require.Equal(t, []finding.Action{finding.None, finding.None, finding.Remove}, []finding.Action{got[0].Action, got[1].Action, got[2].Action})
}

func TestAContradictedServerIsNotEdited(t *testing.T) {
	mismatch := finding.Finding{Rule: "gpu-mismatch", Severity: finding.Error, Setting: "--tp-size", Action: finding.None}
	got := rule.Decide([]finding.Finding{inert("--num-continuous-decode-steps"), mismatch}, policy(t), finding.Finding{})
	require.Len(t, got, 2)
	require.Equal(t, finding.None, got[0].Action)
	require.Contains(t, got[0].Message, "gpu-mismatch")
}

func TestIgnoreNeedsRuleAndSetting(t *testing.T) {
	p := policy(t)
	p.IgnoreHere = []config.Exception{
		{Rule: "inert-setting", Setting: "--pre-warm-nccl", Reason: "r", Line: "used"},
		{Rule: "restated-default", Setting: "--tp-size", Reason: "r", Line: "unused"},
	}
	got := rule.Decide([]finding.Finding{inert("--pre-warm-nccl"), inert("--tp-size")}, p, finding.Finding{})
	require.Len(t, got, 2)
	require.Equal(t, "--tp-size", got[0].Setting, "another rule's ignore does not silence it")
	require.Equal(t, "stale-exception", got[1].Rule)
	require.Equal(t, "unused", got[1].Value)
	require.Contains(t, got[1].Message, "matches no finding")
}

func TestKeepAnnotations(t *testing.T) {
	cases := []struct {
		name      string
		exception config.Exception
		kept      bool
		stale     string
	}{
		{"by name", config.Exception{Setting: "--pre-warm-nccl", Line: "x"}, true, ""},
		{"for its rule", config.Exception{Rule: "inert-setting", Setting: "--pre-warm-nccl", Line: "x"}, true, ""},
		{"for another rule", config.Exception{Rule: "dead-env", Setting: "--pre-warm-nccl", Line: "x"}, false, ""},
		{"until a later release", config.Exception{Setting: "--pre-warm-nccl", UntilEngine: "sglang", UntilVersion: "0.5.20", Line: "x"}, true, ""},
		{"until this release", config.Exception{Setting: "--pre-warm-nccl", UntilEngine: "sglang", UntilVersion: "0.5.16", Line: "x"}, false, "come to its end"},
		{"until a release of the other engine", config.Exception{Setting: "--pre-warm-nccl", UntilEngine: "vllm", UntilVersion: "0.1.0", Line: "x"}, true, ""},
		{"of nothing", config.Exception{Setting: "--enable-mscclpp", Line: "x"}, false, "matches no setting"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := policy(t)
			p.KeepHere = []config.Exception{c.exception}
			got := rule.Decide([]finding.Finding{inert("--pre-warm-nccl")}, p, finding.Finding{})
			require.Equal(t, c.kept, got[0].Action == finding.None)
			if c.stale == "" {
				require.Len(t, got, 1)
				return
			}
			require.Len(t, got, 2)
			require.Equal(t, "stale-exception", got[1].Rule)
			require.Contains(t, got[1].Message, c.stale)
		})
	}
}

func TestCommentsThatGiveAReason(t *testing.T) {
	write := finding.Finding{Setting: "--hicache-write-policy", Value: "write_through"}
	steps := finding.Finding{Setting: "--num-continuous-decode-steps", Value: "16"}
	field := typedField("--tp-size", "spec", "sglangConfig", "tensorParallelSize")
	field.Value = "1"
	cases := []struct {
		comment string
		f       finding.Finding
		want    bool
	}{
		{"write_through_selective gates promotion on hit_count >= 2, which left L3 empty.", write, true},
		{"--hicache-write-policy", write, false},
		{"hicache_write_policy guards against a regression", write, true},
		{"measured with 16 at four requests per second", steps, true},
		{"160 requests at four per second", steps, false},
		{"raised for the second card next month", field, false},
		{"tensorParallelSize goes to 2 when the second card arrives", field, true},
		{"1 is what this card can do", field, false},
		{"needed for startup speed here", inert("--pre-warm-nccl"), false},
		{"", inert("--pre-warm-nccl"), false},
		{"pre-warm-nccl: TTFT of the first request halves", inert("--pre-warm-nccl"), true},
	}
	for _, c := range cases {
		require.Equal(t, c.want, rule.GivesReason(c.comment, c.f), c.comment)
	}
	p := policy(t)
	p.Comments = func(finding.Finding) []string { return []string{"pre-warm-nccl: TTFT of the first request halves"} }
	got := rule.Decide([]finding.Finding{inert("--pre-warm-nccl")}, p, finding.Finding{})
	require.Equal(t, finding.Info, got[0].Severity)
	require.Equal(t, finding.None, got[0].Action)
	p.Comments = func(finding.Finding) []string { return []string{"trimtab:keep"} }
	got = rule.Decide([]finding.Finding{inert("--pre-warm-nccl")}, p, finding.Finding{})
	require.Equal(t, finding.Warning, got[0].Severity)
	require.Equal(t, finding.None, got[0].Action)
}

func TestSpeaksOnlyOf(t *testing.T) {
	others := []setting.Setting{{Name: "--pre-warm-nccl"}, {Name: "--disable-custom-all-reduce"}}
	for comment, want := range map[string]bool{
		"pre-warm-nccl": true,
		"pre-warm-nccl and disable-custom-all-reduce": false,
		"the flags of the two-card server":            false,
	} {
		require.Equal(t, want, rule.SpeaksOnlyOf(comment, inert("--pre-warm-nccl"), others), comment)
	}
}
