package line

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// history keeps entries in a file of mode 0600, a line each, newest last. The
// newlines inside an entry are marks (see keys), and known shapes of keys are
// masked: what was pasted by mistake is not kept.
type history struct {
	path  string
	mask  *secrets.Masker
	lines []string // as they were found
}

// The file is cut back to keptEntries once it has more than twice as many.
const (
	keptEntries = 500
	longEntry   = 10_000 // bytes: longer ones are not kept
)

func openHistory(path string) (*history, error) {
	h := &history{path: path, mask: secrets.New()}
	if path == "" {
		return h, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for l := range strings.Lines(string(raw)) {
		if l = printable(strings.TrimSpace(l)); l != "" {
			h.lines = append(h.lines, l)
		}
	}
	if len(h.lines) > 2*keptEntries {
		h.lines = h.lines[len(h.lines)-keptEntries:]
		return h, replaceFile(path, strings.Join(h.lines, "\n")+"\n")
	}
	return h, nil
}

// add keeps an entry. A history that cannot be written is not worth an error.
func (h *history) add(entry string) {
	entry = strings.ReplaceAll(h.mask.String(entry), "\n", string(newlineMark))
	if h.path == "" || len(entry) > longEntry {
		return
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(entry + "\n")
	_ = f.Close()
}

func replaceFile(path, text string) error {
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

// printable takes out control characters: the line editor echoes what it is
// given.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
