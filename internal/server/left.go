package server

import (
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Left is a container, or a custom resource, that was looked at and is not taken
// for a server.
type Left struct {
	Item      *stream.Item
	Object    finding.Object
	Container string
	Path      setting.Path
	// Why says what it is instead, or what keeps it from being read.
	Why string
}

func (s seat) left(why string) Left {
	return Left{Item: s.item, Object: s.object, Container: text(at(s.container, "name")), Path: s.path, Why: why}
}
