package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/monochromegane/go-gitignore"
)

// manifestSuffixes are the files that a walk takes for manifests.
var manifestSuffixes = []string{".yaml", ".yml", ".json"}

// ignoreFiles hide files below the folder they stand in, in gitignore syntax.
var ignoreFiles = []string{".gitignore", ".krmignore"}

// walk visits the manifests below a folder in lexical order. Hidden folders,
// and what the ignore files of the folders on the way name, are left out.
func walk(folder string, visit func(path string) error, leaveOut func(path string, err error) error) error {
	matchers := map[string][]gitignore.IgnoreMatcher{}
	above := matchersAbove(folder)
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil && path == folder {
			return readable(err)
		}
		if err != nil {
			return leaveOut(path, err)
		}
		if path != folder {
			if ignored(matchers, folder, path, entry.IsDir()) || ignoredAbove(above, path, entry.IsDir()) || entry.IsDir() && strings.HasPrefix(entry.Name(), ".") {
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
		}
		if entry.IsDir() {
			matchers[path] = matchersIn(path)
			return nil
		}
		if !slices.Contains(manifestSuffixes, strings.ToLower(filepath.Ext(path))) || !isFile(path) {
			return nil
		}
		return visit(path)
	})
}

// matchersAbove are the ignore files between the top of the repository and a
// folder in it; none outside a repository.
func matchersAbove(folder string) []gitignore.IgnoreMatcher {
	absolute, err := filepath.Abs(folder)
	if err != nil || isTop(absolute) {
		return nil
	}
	var list []gitignore.IgnoreMatcher
	for at := filepath.Dir(absolute); ; at = filepath.Dir(at) {
		list = append(list, matchersIn(at)...)
		switch {
		case isTop(at):
			return list
		case at == filepath.Dir(at):
			return nil
		}
	}
}

// isTop tells whether a folder is the top of a repository, or of one of its work
// trees.
func isTop(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, ".git"))
	return err == nil
}

func ignoredAbove(matchers []gitignore.IgnoreMatcher, path string, isDir bool) bool {
	if len(matchers) == 0 {
		return false
	}
	absolute, err := filepath.Abs(path)
	return err == nil && slices.ContainsFunc(matchers, func(m gitignore.IgnoreMatcher) bool { return m.Match(absolute, isDir) })
}

func matchersIn(folder string) []gitignore.IgnoreMatcher {
	var list []gitignore.IgnoreMatcher
	for _, name := range ignoreFiles {
		if matcher, err := gitignore.NewGitIgnore(filepath.Join(folder, name)); err == nil {
			list = append(list, matcher)
		}
	}
	return list
}

// ignored asks the ignore files of every folder from the root of the walk down
// to the path.
func ignored(matchers map[string][]gitignore.IgnoreMatcher, root, path string, isDir bool) bool {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		for _, matcher := range matchers[folder] {
			if matcher.Match(path, isDir) {
				return true
			}
		}
		if folder == root || folder == filepath.Dir(folder) {
			return false
		}
	}
}

// isFile follows symbolic links: a link to a folder is not walked into.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
