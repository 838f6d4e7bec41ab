package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// staged is new text that lies beside its file, ready to take its place.
type staged struct{ name, target, temporary string }

// writeFiles replaces files: every new text is written beside its file first, so
// that a folder that cannot be written to stops the run before any file has
// changed. Each file is replaced at once and keeps its mode; of a symbolic link
// the target is replaced.
func writeFiles(texts map[string][]byte, order []string) error {
	var ready []staged
	defer func() {
		for _, s := range ready {
			_ = os.Remove(s.temporary) // those that took their place are gone
		}
	}()
	for _, name := range order {
		s, err := stage(name, texts[name])
		if err != nil {
			return fmt.Errorf("%s: cannot be written, no file was changed: %w", name, err)
		}
		ready = append(ready, s)
	}
	for i, s := range ready {
		if err := os.Rename(s.temporary, s.target); err != nil {
			return fmt.Errorf("%s: cannot be replaced, %d of %d files were: %w", s.name, i, len(ready), err)
		}
	}
	return nil
}

func stage(name string, text []byte) (staged, error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return staged{}, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return staged{}, err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return staged{}, fmt.Errorf("the file is read-only")
	}
	file, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".trimtab-*")
	if err != nil {
		return staged{}, err
	}
	s := staged{name, target, file.Name()}
	_, err = file.Write(text)
	for _, step := range []func() error{
		func() error { return file.Chmod(info.Mode().Perm()) },
		file.Sync,
		file.Close,
	} {
		if stepErr := step(); err == nil {
			err = stepErr
		}
	}
	if err != nil {
		_ = os.Remove(s.temporary)
	}
	return s, err
}
