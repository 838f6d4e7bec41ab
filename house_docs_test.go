package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever reads the packages has their doc comments to go by: every exported
// declaration has one, and so does every exported method, on whatever type it
// stands: an interface somewhere calls it, or it needs no capital.
func TestEveryExportedDeclarationHasADocComment(t *testing.T) {
	files := token.NewFileSet()
	seen := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if file.Name.Name == "main" {
			return nil
		}
		for _, declaration := range file.Decls {
			for _, name := range undocumented(declaration) {
				t.Errorf("%s: %s has no doc comment", files.Position(name.Pos()), name.Name)
			}
			seen++
		}
		return nil
	}))
	require.NotZero(t, seen)
}

// undocumented gives the exported names a declaration leaves unexplained. A
// group of constants or variables may be explained by the comment over it; a
// type may not: it has a comment of its own.
func undocumented(declaration ast.Decl) []*ast.Ident {
	var out []*ast.Ident
	say := func(names []*ast.Ident, explained bool) {
		for _, name := range names {
			if name.IsExported() && !explained {
				out = append(out, name)
			}
		}
	}
	switch declared := declaration.(type) {
	case *ast.FuncDecl:
		say([]*ast.Ident{declared.Name}, declared.Doc != nil)
	case *ast.GenDecl:
		for _, spec := range declared.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				say(spec.Names, declared.Doc != nil || spec.Doc != nil || spec.Comment != nil)
			case *ast.TypeSpec:
				say([]*ast.Ident{spec.Name}, spec.Doc != nil || !declared.Lparen.IsValid() && declared.Doc != nil)
			}
		}
	}
	return out
}
