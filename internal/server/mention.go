package server

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// pathInText is an absolute path as a script or an option holds it; what the
// shell would replace ends in or holds a dollar.
var pathInText = regexp.MustCompile("/[^\\s'\"`;|&<>(){},=:\\\\]*")

// NamesUnder are the names directly below a place that the container's mounts,
// words and variables name, in order; one that is decided elsewhere holds a
// dollar, and patterns hold wildcards.
func (u VolumeUser) NamesUnder(place Place) []string {
	var names []string
	for _, mount := range u.Mounts {
		if root, ok := mount.Root(); ok && !mount.Anywhere {
			names = append(names, place.Under(root))
		}
	}
	for _, text := range u.Texts() {
		names = append(names, NamesIn(text, u.Mounts, place)...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// NamesIn are the names directly below a place that a text names, as a container
// with these mounts sees it.
func NamesIn(text string, mounts []Mount, place Place) []string {
	var names []string
	for _, found := range append(pathInText.FindAllString(text, -1), text) {
		if !path.IsAbs(found) {
			continue
		}
		if at, ok := PlaceOf(mounts, found); ok {
			if name := place.Under(at); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// MayLeadTo tells whether a path of which a part is decided elsewhere may lead
// to a place, or below it.
func (u VolumeUser) MayLeadTo(name string, place Place) bool {
	written, _, _ := strings.Cut(name, "$")
	written, _, _ = strings.Cut(written, "{{")
	if !path.IsAbs(written) {
		return true
	}
	folder := written[:strings.LastIndex(written, "/")+1]
	at, ok := PlaceOf(u.Mounts, folder)
	return ok && (at.Holds(place) || place.Holds(at)) || slices.ContainsFunc(u.Mounts, func(m Mount) bool {
		root, persistent := m.Root()
		return persistent && Below(folder, m.Path) && root.Volume == place.Volume
	})
}
