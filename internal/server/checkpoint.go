package server

import (
	"regexp"
	"slices"
	"strings"
)

// modelOptions name the checkpoint, in the spellings of both engines.
var modelOptions = []string{"--model", "--model-path", "--model_path", "--model-tag", "--model_tag", "--model_id", "--model-id"}

// hubID is a repository of the Hub, with or without revision; a path on a disk
// or in a bucket says nothing about the model.
var hubID = regexp.MustCompile(`^(hf://)?[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@[\w./-]+)?$`)

// checkpoint is the repository that the arguments of a program name; empty where
// they name none. Of several options the last counts; a positional model counts
// before all.
func (p program) checkpoint(variables []Variable) string {
	named := ""
	for i, word := range p.arguments {
		flag, value, attached := strings.Cut(word.Text, "=")
		switch {
		case i == 0 && p.mode == "serve" && !strings.HasPrefix(word.Text, "-"):
			return repository(word.Text, variables)
		case !slices.Contains(modelOptions, flag):
		case attached:
			named = value
		case i+1 < len(p.arguments):
			named = p.arguments[i+1].Text
		}
	}
	return repository(named, variables)
}

// repository is a text if it names a repository of the Hub, behind the kubelet.
func repository(text string, variables []Variable) string {
	text = expandVariables(text, variables)
	if !hubID.MatchString(text) {
		return ""
	}
	return text
}

var reference = regexp.MustCompile(`\$?\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)`)

// expandVariables writes the values of literal variables for $(NAME), as the
// kubelet does; $$(NAME) and what is not known stay.
func expandVariables(text string, variables []Variable) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found
		}
		name := found[2 : len(found)-1]
		for i := len(variables) - 1; i >= 0; i-- {
			if v := variables[i]; v.Name == name && !v.Unknown {
				return v.Value
			}
		}
		return found
	})
}
