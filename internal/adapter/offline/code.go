package offline

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
)

// This file asks language servers, through the session's tools.

// quickFixes are the beginnings of titles of fixes that follow from the code
// alone. Others, such as those that invent a function, guess the intent.
var quickFixes = []string{"Add import", "Delete import", "Remove import", "Remove variable", "Remove unused", "Remove unnecessary"}

// quickFix applies what the language server offers for an error, if that
// improves the build (SPEC 12.2).
func (b *builder) quickFix(e repair.BuildError) (bool, error) {
	p := path.Join(b.dir, e.File)
	if !slices.Contains(b.h.tools, "lsp_code_action") {
		return false, nil
	}
	offered, err := b.codeAction(p, e.Line, "")
	if err != nil {
		return false, nil // it offers nothing: the compiler's message is used instead
	}
	for l := range strings.SplitSeq(offered, "\n") {
		title, kind, _ := strings.Cut(l, " (quickfix")
		if kind == "" || strings.Contains(kind, " not now: ") || !slices.ContainsFunc(quickFixes, func(q string) bool { return strings.HasPrefix(title, q) }) {
			continue
		}
		before, err := b.h.Read(p)
		if err != nil {
			return false, err
		}
		if _, err := b.codeAction(p, e.Line, title); err != nil {
			continue
		}
		now, err := b.h.Read(p)
		b.h.seen[p] = before
		if err != nil {
			return false, err
		}
		b.h.changed(p, now)
		after, err := b.check(nil)
		switch {
		case err != nil:
			return false, err
		case better(b.last, after, e):
			b.last, b.done = after, append(b.done, "the language server's fix at "+e.Where()+": "+title)
			return true, nil
		}
		if err := b.h.restore(p, before); err != nil {
			return false, err
		}
	}
	return false, nil
}

// codeAction lists what a server offers for a line, or has it do one of these. If the
// server is still reading the project, the call is repeated a few times.
func (b *builder) codeAction(file string, line int, title string) (text string, err error) {
	args := map[string]any{"path": file, "line": line}
	if title != "" {
		args["title"] = title
	}
	for range 4 {
		if text, err = b.h.one("lsp_code_action", args); err == nil || !strings.Contains(text, "make the same call again") {
			break
		}
	}
	return text, err
}
