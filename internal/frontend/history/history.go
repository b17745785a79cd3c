// Package history stores a person's entries over sessions.
//
// It is a file of mode 0600, an entry a line, newest last; a mark replaces
// newlines within an entry. Known formats of keys are masked: a key that was
// pasted by mistake is not stored.
package history

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// newline replaces a newline within an entry.
const newline = "\U000F10A0"

// How much is kept.
const (
	Kept = 500    // entries; the file is cut back to them once it has twice as many
	long = 10_000 // bytes: a longer entry is not kept
)

// File is a history. One without a path keeps nothing.
type File struct {
	path string
	mask *secrets.Masker
}

// Open opens the history in a file, which need not be there, and returns its
// entries, oldest first.
func Open(path string) (*File, []string, error) {
	f := &File{path: path, mask: secrets.New()}
	if path == "" {
		return f, nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, nil, err
	}
	var lines, entries []string
	for l := range strings.Lines(string(raw)) {
		if l = printable(strings.TrimSpace(l)); l != "" {
			lines = append(lines, l)
			entries = append(entries, strings.ReplaceAll(l, newline, "\n"))
		}
	}
	if n := len(lines); n > 2*Kept {
		err = replace(path, strings.Join(lines[n-Kept:], "\n")+"\n")
		entries = entries[n-Kept:]
	} else {
		err = nil
	}
	return f, entries, err
}

// Add stores an entry. A failure to write the history is not reported.
func (f *File) Add(entry string) {
	if f.path == "" || len(entry) > long {
		return
	}
	entry = strings.ReplaceAll(f.mask.String(strings.TrimSpace(entry)), "\n", newline)
	if entry == "" {
		return
	}
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = file.WriteString(entry + "\n")
	_ = file.Close()
}

func replace(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".history-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// printable takes out control characters: an entry is shown as it is.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
