package catalogue

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	s, v := loaded(t, "sglang"), loaded(t, "vllm")
	for _, same := range []string{"0.5.16", "v0.5.16", "0.5.16.0", "V0.5.16", " 0.5.16", "0.5.16+cu129"} {
		r, ok := s.Find(same)
		require.True(t, ok, same)
		require.Equal(t, "0.5.16", r.Version)
	}
	r, ok := v.Find("0.8.5-1")
	require.True(t, ok)
	require.Equal(t, "0.8.5.post1", r.Version)
	for _, none := range []string{"", "latest", "0.5.16.post9", "9", "v", "0.5.16-gfx1201"} {
		_, ok := s.Find(none)
		require.False(t, ok, none)
	}
}

func TestDates(t *testing.T) {
	v := loaded(t, "vllm")
	require.Equal(t, "2025-03-18", release(t, v, "0.8.0").Date.Format("2006-01-02"))
	require.True(t, release(t, v, "0.15.0").Date.IsZero())
	require.True(t, loaded(t, "sglang").Newest().Date.IsZero())
}

func TestRange(t *testing.T) {
	s, v := loaded(t, "sglang"), loaded(t, "vllm")
	for _, c := range []struct {
		engine  *Engine
		text    string
		version string
		inside  bool
	}{
		{s, "", "0.5.16", true},
		{s, "*", "0.5.16", true},
		{s, ">=0.5.10,<0.5.16", "0.5.15.post1", true},
		{s, ">=0.5.10,<0.5.16", "0.5.16", false},
		{s, ">=0.5.10, <0.5.16", "0.5.10", true},
		{s, ">0.5.5", "0.5.5.post3", false},
		{s, ">0.5.5.post2", "0.5.5.post3", true},
		{s, ">=0.5.5", "0.5.5.post3", true},
		{s, "<=0.5.5", "0.5.5.post3", false},
		{s, "<0.5.5.post3", "0.5.5.post2", true},
		{s, "==0.5.5", "0.5.5.post3", false},
		{s, "==0.5.5.*", "0.5.5.post3", true},
		{s, "!=0.5.5.*", "0.5.5.post3", false},
		{s, "~=0.5.10", "0.5.23", true},
		{v, "==0.8.*", "0.8.5.post1", true},
		{v, "==0.8.*", "0.9.0", false},
		{v, "<0.11.1", "0.11.0", true},
		{v, ">=0.9.0", "0.9.0.1", true},
		{v, "==0.9.0", "0.9.0.1", false},
		{v, "<=0.9.0", "0.9.0.1", false},
	} {
		r, err := ParseRange(c.text)
		require.NoError(t, err, c.text)
		for range 2 { // the second answer is remembered
			require.Equal(t, c.inside, r.Contains(release(t, c.engine, c.version)), "%s in %q", c.version, c.text)
		}
	}
	require.True(t, Range{}.Contains(s.Newest()))
	for _, bad := range []string{"0.5.16", ">=", ">=0.5.10,", ">=0.5.10||<0.5.9", "newer", ">=0.5.*", "~=1", ",", ">=0.5.10 <0.5.16"} {
		_, err := ParseRange(bad)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestOfficialImage(t *testing.T) {
	for ref, engine := range map[string]string{
		"vllm/vllm-openai:latest":                        "vllm",
		"docker.io/vllm/vllm-openai-rocm@sha256:abc":     "vllm",
		"vllm/vllm-openai-cpu":                           "vllm",
		"vllm/vllm-tpu:nightly":                          "vllm",
		"registry.example:5000/mirror/lmsysorg/sglang":   "sglang",
		"registry.example/cache/vllm/vllm-openai:v0.9.2": "vllm",
		"vllm-openai:v0.9.2":                             "",
		"acme/vllm-openai:v0.9.2":                        "",
		"vllm/vllm-omni:v0.20.0":                         "",
		"acme/sglang-rdna4:v0.5.15-gfx1201":              "",
		"":                                               "",
	} {
		got, ok := OfficialImage(ref)
		require.Equal(t, engine, got, ref)
		require.Equal(t, engine != "", ok, ref)
	}
}

// spanText prints a span for comparison: its kind and its first and last
// release.
func spanText(s Span) string {
	kind := "range"
	for name, set := range map[string]bool{"exact": s.Exact, "floating": s.Floating, "open": s.Open, "newer": s.Newer, "older": s.Older} {
		if set {
			kind = name
		}
	}
	if len(s.Releases) == 0 {
		return kind
	}
	return kind + " " + s.Releases[0].Version + " " + s.Releases[len(s.Releases)-1].Version
}

const digest = "@sha256:f961fc274eaad4af065097e0921b88ae5a97a478baa0e384e6c5ee440c355b29"

func TestFromImage(t *testing.T) {
	for _, c := range []struct{ engine, ref, want string }{
		{"sglang", "lmsysorg/sglang:v0.5.16", "exact 0.5.16 0.5.16"},
		{"sglang", "acme/sglang-rdna4:v0.5.15-gfx1201" + digest, "exact 0.5.15 0.5.15"},
		{"vllm", "acme/vllm-openai:v0.10.2-nixl-0.7.1", "exact 0.10.2 0.10.2"},
		{"sglang", "lmsysorg/sglang:v0.5.10.post1-cu129", "exact 0.5.10.post1 0.5.10.post1"},
		{"sglang", "localhost:5000/lmsysorg/sglang:v0.4.9.post3-cu126-nixl-v0.4.1", "exact 0.4.9.post3 0.4.9.post3"},
		{"vllm", "vllm/vllm-openai:0.9.0.1", "exact 0.9.0.1 0.9.0.1"},
		{"vllm", "acme/vllm-neuron:0.9.1-neuronx-py311", "exact 0.9.1 0.9.1"},
		{"vllm", "vllm/vllm-openai:v0.11.0rc1", "range 0.10.2 0.11.0"},
		{"vllm", "vllm/vllm-openai:v0.11.0-rc1-cu129", "range 0.10.2 0.11.0"},
		{"vllm", "acme/vllm:v0.19.5", "range 0.19.1 0.20.0"},
		{"vllm", "acme/vllm:v0.9", "range 0.9.0 0.9.2"},
		{"vllm", "vllm/vllm-openai:latest", "floating 0.33.0 0.33.0"},
		{"vllm", "vllm/vllm-openai", "floating 0.33.0 0.33.0"},
		{"sglang", "lmsysorg/sglang:dev", "floating 0.5.23 0.5.23"},
		{"sglang", "lmsysorg/sglang:dev-cu13", "floating 0.5.23 0.5.23"},
		{"sglang", "lmsysorg/sglang:latest-runtime-rocm630", "floating 0.5.23 0.5.23"},
		{"vllm", "vllm/vllm-openai:nightly" + digest, "open 0.8.0 0.33.0"},
		{"vllm", "vllm/vllm-openai" + digest, "open 0.8.0 0.33.0"},
		{"vllm", "vllm/vllm-openai:nightly-4080263bb2c5d10deac17aaeb88e0823bc35bca9", "open 0.8.0 0.33.0"},
		{"vllm", "vllm/vllm-tpu:nightly-20260626-c539adc-cc79815", "open 0.8.0 0.24.0"},
		{"vllm", "acme/vllm:20260309-141005", "open 0.8.0 0.17.1"},
		{"vllm", "acme/vllm:2025-03-10", "open 0.8.0 0.8.0"},
		{"sglang", "lmsysorg/sglang:nightly-dev-20251215-4449c170", "open 0.4.6 0.5.23"},
		{"vllm", "acme/vllm:20991231", "open 0.8.0 0.33.0"},
		{"vllm", "nvcr.io/nvidia/vllm:26.02-py3", "open 0.8.0 0.33.0"},
		{"vllm", "nvcr.io/nvidia/vllm:25.06-py3", "open 0.8.0 0.33.0"},
		{"sglang", "acme/sglang:sha-cb7b76050cbf8dda9e5a78c07b24df1a783caeb3" + digest, "open 0.4.6 0.5.23"},
		{"sglang", "acme/sglang-runtime:my-tag", "open 0.4.6 0.5.23"},
		{"vllm", "acme/vllm:3.3", "open 0.8.0 0.33.0"},
		{"vllm", "acme/vllm:1.2.3", "open 0.8.0 0.33.0"},
		{"vllm", "vllm/vllm-openai:v1.2.3", "newer 0.33.0 0.33.0"},
		{"vllm", "acme/vllm:v0.34.0", "newer 0.33.0 0.33.0"},
		{"vllm", "acme/vllm:v0.7.1", "older"},
		{"vllm", "acme/vllm:rocm6.2_mi300_ubuntu20.04_py3.9_vllm_0.6.4", "older"},
		{"vllm", "acme/vllm:rocm7.0_vllm_0.10.2_20251002", "exact 0.10.2 0.10.2"},
		{"vllm", "ghcr.io/llm-d/llm-d-cuda:v0.9.0", "open 0.8.0 0.33.0"},
		{"vllm", "kserve/huggingfaceserver:v0.15.0-gpu", "open 0.8.0 0.33.0"},
		{"vllm", "${VLLM_IMAGE}", "open 0.8.0 0.33.0"},
		{"vllm", "vllm/vllm-openai:${TAG}", "open 0.8.0 0.33.0"},
		{"vllm", "V_IMAGE_URL", "open 0.8.0 0.33.0"},
		{"vllm", "replaced-by-kustomize", "open 0.8.0 0.33.0"},
		{"vllm", "", "open 0.8.0 0.33.0"},
		{"vllm", "acme/vllm:v0.99999999999999999999999.1", "open 0.8.0 0.33.0"},
	} {
		span := loaded(t, c.engine).FromImage(c.ref)
		require.Equal(t, c.want, spanText(span), c.ref)
		require.Equal(t, span.Exact, span.Why == "", "%s: %s", c.ref, span.Why)
	}
}

func TestStated(t *testing.T) {
	for _, c := range []struct{ engine, text, want string }{
		{"sglang", "v0.5.16", "exact 0.5.16 0.5.16"},
		{"sglang", "0.5.16.post1", "range 0.5.16 0.5.17"},
		{"sglang", " 0.5.15.post1 ", "exact 0.5.15.post1 0.5.15.post1"},
		{"sglang", ">=0.5.10,<0.5.12", "range 0.5.10 0.5.11"},
		{"sglang", "==0.5.16", "exact 0.5.16 0.5.16"},
		{"vllm", "==0.8.*", "range 0.8.0 0.8.5.post1"},
		{"vllm", "v0.19.1+cu129", "exact 0.19.1 0.19.1"},
		{"vllm", ">=0.34", "newer 0.33.0 0.33.0"},
		{"vllm", ">0.33.0", "newer 0.33.0 0.33.0"},
		{"vllm", "<0.8", "older"},
		{"vllm", "0.7.1", "older"},
		{"vllm", "0.40.0", "newer 0.33.0 0.33.0"},
		{"vllm", "latest", "floating 0.33.0 0.33.0"},
	} {
		span, err := loaded(t, c.engine).Stated(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, spanText(span), c.text)
	}
	for _, bad := range []string{"", "newest", "0.5.16 or later", ">=", ">=0.19.2,<0.19.5", "0..1", ">=0.5.10,", "v"} {
		_, err := loaded(t, "vllm").Stated(bad)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "\n")
	}
}

// Real tags, as the index of the public manifests reads them.
func TestFromImageOnPublicManifests(t *testing.T) {
	public := filepath.Join("..", "..", "..", "shared", "cases", "public")
	file, err := os.Open(filepath.Join(public, "INDEX.tsv"))
	if err != nil {
		t.Skip("the public manifests are not beside this checkout")
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comma, reader.LazyQuotes, reader.FieldsPerRecord = '\t', true, -1
	rows, err := reader.ReadAll()
	require.NoError(t, err)
	image := regexp.MustCompile(`(?m)^[\s-]*(?:image|IMAGE): *["']?([^\s"'#]+)`)
	exact := regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(\.post[0-9]+)?$`)
	compared := 0
	for _, row := range rows[1:] {
		if len(row) < 6 || !exact.MatchString(row[5]) || strings.HasPrefix(row[0], "shell/") && strings.Contains(row[0], "ray") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(public, row[0]))
		require.NoError(t, err)
		e := loaded(t, row[4])
		for _, match := range image.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(match[1], e.Name) || !strings.Contains(match[1], row[5]) {
				continue
			}
			compared++
			span := e.FromImage(match[1])
			if span.Older {
				continue
			}
			require.True(t, span.Exact || len(span.Releases) == 2, "%s: %s", row[0], match[1])
			if span.Exact {
				require.True(t, strings.HasPrefix(span.Releases[0].Version, row[5]), "%s: %s", row[0], match[1])
			}
		}
	}
	t.Logf("%d images with a stated version compared", compared)
	require.GreaterOrEqual(t, compared, 30)
}

func FuzzFromImage(f *testing.F) {
	for _, ref := range []string{"lmsysorg/sglang:v0.5.16-cu129" + digest, "a/b:25.06-py3", ":@", "vllm:vllm_", "a:20260309", "x:v0.1rc1.post2.dev3"} {
		f.Add(ref)
	}
	e := loaded(f, "vllm")
	f.Fuzz(func(t *testing.T, ref string) {
		span := e.FromImage(ref)
		require.Equal(t, span.Older, len(span.Releases) == 0)
		require.Equal(t, span.Exact, span.Why == "")
		if stated, err := e.Stated(ref); err == nil {
			require.Equal(t, stated.Older, len(stated.Releases) == 0)
		}
	})
}

func FuzzParseRange(f *testing.F) {
	for _, text := range []string{">=0.5.10,<0.5.16", "==0.8.*", "~=0.5.0", "!=1!2.0", "===x", ">=0.1.dev1", "==0.8.0.0.0.*"} {
		f.Add(text)
	}
	e := loaded(f, "sglang")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRange(text)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		first, second := r.Contains(e.Newest()), r.Contains(e.Newest())
		require.Equal(t, first, second)
	})
}

func BenchmarkFromImage(b *testing.B) {
	e := loaded(b, "vllm")
	for b.Loop() {
		e.FromImage("vllm/vllm-openai:v0.27.1" + digest)
	}
}
