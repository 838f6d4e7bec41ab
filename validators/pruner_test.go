package validators

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
)

// A pruner is what deletes generations of the tier, whichever they are; not what
// deletes one by its name, other files, or beside them.
func TestWhichDeletionsPruneATier(t *testing.T) {
	tier := &finding.Tier{Volume: "pages", Place: "/cache/hc", Pages: []string{"*.bin"}, Keep: map[string][]string{"Deployment chat": {"v2.1"}}}
	user := server.VolumeUser{Mounts: []server.Mount{
		{Path: "/mnt/pages", Claim: "pages"}, {Path: "/hc", Claim: "pages", SubPath: "cache/hc"}, {Path: "/others", Claim: "others"},
	}}
	tests := []struct {
		target server.DeletionTarget
		want   bool
	}{
		{server.DeletionTarget{Path: "/mnt/pages/cache/hc", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt/pages/cache/hc/*", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt/pages/cache/hc/old-*", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt/pages/cache/hc/v*.*", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt/pages/cache/hc/*/*.bin", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt/pages/cache", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt/pages/*", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt/pages/c*/hc", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt", Depth: -1}, true},
		{server.DeletionTarget{Path: "/hc", Depth: 1}, true},
		{server.DeletionTarget{Path: "/hc", Name: "v*", Depth: -1}, true},
		{server.DeletionTarget{Path: "/hc", Name: "*.bin", Depth: -1}, true},
		{server.DeletionTarget{Path: "/mnt/pages/cache/hc/v1", Depth: -1}, false},
		{server.DeletionTarget{Path: "/mnt/pages/cache/hc/*.tmp", Depth: -1}, false},
		{server.DeletionTarget{Path: "/mnt/pages/cache/hcx/*", Depth: -1}, false},
		{server.DeletionTarget{Path: "/mnt/pages/tmp*", Depth: -1}, false},
		{server.DeletionTarget{Path: "/mnt/pages", Depth: 0}, false},
		{server.DeletionTarget{Path: "/mnt/pages", Depth: 1}, false},
		{server.DeletionTarget{Path: "/hc", Name: "*.log", Depth: -1}, false},
		{server.DeletionTarget{Path: "/others/cache/hc", Depth: -1}, false},
		{server.DeletionTarget{Path: "/tmp/*", Depth: -1}, false},
	}
	for _, test := range tests {
		require.Equal(t, test.want, reaches(user, test.target, tier), "%+v", test.target)
	}
}
