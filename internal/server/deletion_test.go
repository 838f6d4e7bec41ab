package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeletion(t *testing.T) {
	script := func(text string) []string { return []string{"sh", "-ec", text} }
	at := func(paths ...string) []DeletionTarget {
		var targets []DeletionTarget
		for _, p := range paths {
			targets = append(targets, DeletionTarget{Path: p, Depth: -1})
		}
		return targets
	}
	tests := []struct {
		name    string
		command []string
		want    []DeletionTarget
		unclear string
	}{
		{"a pattern", script("rm -rf /v/hc/*"), at("/v/hc/*"), ""},
		{"quotes and comments", script("# rm /x\nrm -rf -- '/v/a b' \"/v/c\"/d >/dev/null 2>&1"), at("/v/a b", "/v/c/d"), ""},
		{"find", script("find /v/hc -mindepth 1 -maxdepth 1 -name '*.tmp' -mtime +3 -delete"), []DeletionTarget{{"/v/hc", "*.tmp", 1}}, ""},
		{"find -exec", []string{"find", "/v", "/w", "-exec", "rm", "-rf", "{}", "+"}, at("/v", "/w"), ""},
		{"a pipe from find", script("find /v/hc -mtime +1 -print0 | sort -z | xargs -0 -n 1 rm -rf --"), at("/v/hc"), ""},
		{"a pipe where the script is", script("cd /v/hc && ls -1t | tail -n +2 | xargs rm -rf"), at("/v/hc/*"), ""},
		{"a loop over what find prints", script("find /v/hc -type f -exec stat -c '%Y %n' {} + | sort -n | cut -d' ' -f2- |\n  while IFS= read -r f; do\n    rm -f -- \"$$f\"\n  done"), at("/v/hc"), ""},
		{"what is empty", script("find /v/hc -type d -empty -delete"), nil, ""},
		{"a loop", script("for d in /v/a /v/b/*; do\n  rm -rf \"$d\"\ndone"), at("/v/a", "/v/b/*"), ""},
		{"a variable", script("DIR=/v/hc; rm -rf ${DIR}/old"), at("/v/hc/old"), ""},
		{"a variable of the container", script("rm -rf $ROOT/x"), at("/env/x"), ""},
		{"what kubelet expands", []string{"rm", "-rf", "$(ROOT)/y"}, at("/env/y"), ""},
		{"a name that is computed", script("rm -rf /v/hc/$(date +%F)"), at("/v/hc/*"), ""},
		{"moved away", script("mv /v/hc/old /trash"), at("/v/hc/old"), ""},
		{"a wrapped program", script("if true; then nice -n 19 rm -r /v/x; fi"), at("/v/x"), ""},
		{"only looks", script("du -sh /v; ls /v | wc -l; cat /v/rm"), nil, ""},
		{"a variable that nothing sets", script("rm -rf \"$DIR\""), nil, "where `$` lies"},
		{"relative, nobody knows where", script("rm -rf old"), nil, "where `old` lies"},
		{"a script elsewhere", []string{"/scripts/prune.sh"}, nil, "`/scripts/prune.sh`"},
		{"a script for a shell", []string{"bash", "/scripts/prune.sh"}, nil, "the script /scripts/prune.sh"},
		{"an interpreter", []string{"python3", "-c", "shutil.rmtree('/v')"}, nil, "`python3`"},
		{"the image's own", nil, nil, "the image's own program"},
		{"a default", script("rm -rf ${DIR:-/v/hc}/x"), at("/v/hc/x"), ""},
		{"a default that is not needed", script("rm -rf ${ROOT:-/v/hc}/x"), at("/env/x"), ""},
		{"a text that is cut", script("rm -rf ${ROOT%/*}/x"), nil, "where `$/x` lies"},
		{"a function", script("drop() {\n  rm -rf /v/a\n}\ndrop"), at("/v/a"), ""},
		{"a function that is declared behind", script("main() { drop; }\ndrop() { rm -rf /v/a; }\nmain"), at("/v/a"), ""},
		{"a folder of a part", script("(cd /v && rm -rf a); cd /w; rm -rf b"), at("/v/a", "/w/b"), ""},
		{"each branch", script("case $1 in a) rm -rf /v/a ;; *) rm -rf /v/b ;; esac"), at("/v/a", "/v/b"), ""},
		{"inside of a word", script("echo \"$(rm -rf /v/a)\""), at("/v/a"), ""},
		{"the text of a document", script("cat <<EOF\nrm -rf /v/a\nEOF"), nil, ""},
		{"continued lines", script("rm -rf \\\n  /v/a"), at("/v/a"), ""},
		{"a variable that grows", script("D=/v; D+=/a; rm -rf \"$D\""), nil, "where `$` lies"},
		{"no shell script", script("rm -rf '/v/a"), nil, "a script that no shell reads"},
		{"both", script("rm -rf /v/a\n./more"), at("/v/a"), "`./more`"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			user := VolumeUser{Command: test.command, Env: []Variable{{Name: "ROOT", Value: "/env"}, {Name: "HIDDEN", Unknown: true}}}
			require.Equal(t, Deletion{Targets: test.want, Unclear: test.unclear}, user.Deletion())
		})
	}
}

// A guard that asks busybox's find for -printf removes nothing.
func TestDeletionThatBusyboxRefuses(t *testing.T) {
	guard := []string{"sh", "-c", "find /v -type f -printf '%T@ %p\\n' | sort -n | cut -d' ' -f2- | while read -r f; do rm -f \"$f\"; done"}
	broken := VolumeUser{Image: "ghcr.io/home-operations/busybox:1.38.0", Command: guard}.Deletion()
	require.Empty(t, broken.Targets)
	require.Contains(t, broken.Broken, "-printf")
	works := VolumeUser{Image: "debian:12", Command: guard}.Deletion()
	require.Equal(t, Deletion{Targets: []DeletionTarget{{"/v", "", -1}}}, works)
}

func FuzzDeletionOfScript(f *testing.F) {
	f.Add("cd /a; for x in 1 2; do rm \"$x\" $(y) `z` ${w} >& 2 | xargs rm; done")
	f.Add("rm '")
	f.Add("\"$")
	f.Fuzz(func(t *testing.T, text string) {
		for _, target := range (VolumeUser{Command: []string{"sh", "-c", text}}).Deletion().Targets {
			require.True(t, len(target.Path) > 0 && target.Path[0] == '/', "%q", target.Path)
		}
	})
}

func TestPlaces(t *testing.T) {
	mounts := []Mount{
		{Path: "/hicache", Claim: "pages"}, {Path: "/sub/", Claim: "pages", SubPath: "hc/a"}, {Path: "/disk", HostPath: "/data/"},
		{Path: "/hicache/tmp"}, {Path: "/any", Claim: "pages", Anywhere: true},
	}
	for name, want := range map[string]Place{
		"/hicache/hc/a/gen": {"pages", "/hc/a/gen"}, "/sub/gen": {"pages", "/hc/a/gen"}, "/sub": {"pages", "/hc/a"}, "/disk/x/": {"", "/data/x"},
	} {
		got, ok := PlaceOf(mounts, name)
		require.True(t, ok, name)
		require.Equal(t, want, got, name)
	}
	for _, name := range []string{"/hicache/tmp/x", "/elsewhere", "/any/x", "relative"} {
		_, ok := PlaceOf(mounts, name)
		require.False(t, ok, name)
	}
	require.Equal(t, "gen", Place{"pages", "/hc/a"}.Under(Place{"pages", "/hc/a/gen/x"}))
	require.Equal(t, "hc", Place{"pages", "/"}.Under(Place{"pages", "/hc/a"}))
	require.Empty(t, Place{"pages", "/hc"}.Under(Place{"pages", "/hcx/a"}))
	require.Empty(t, Place{"pages", "/hc"}.Under(Place{"pages", "/hc"}))
	require.Empty(t, Place{"pages", "/"}.Under(Place{"others", "/hc"}))
}
