package repair

import (
	"fmt"
	"sort"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// work is one repair's use of the Hands: it counts commands and knows what to
// put back.
type work struct {
	h       Hands
	opt     Options
	m       *module
	runs    int
	applied map[string]string // changed source files -> their text before
}

// run runs a command in the workspace.
func (w *work) run(command string) (string, int, error) {
	if w.runs >= w.opt.Runs {
		return "", 0, errRuns
	}
	w.runs++
	out, exit, err := w.h.Run(command)
	if err != nil {
		return out, exit, fmt.Errorf("%w: run %q: %w", ErrHands, command, err)
	}
	return out, exit, nil
}

// gotest writes a go test command for the module's folder.
func (w *work) gotest(args string) string { return w.goIn("test", args) }

func (w *work) goIn(verb, args string) string {
	if w.opt.Dir != "" {
		args = "-C " + shellsyntax.Quote(w.opt.Dir) + " " + args
	}
	return "go " + verb + " " + args
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, s := range words {
		quoted[i] = shellsyntax.Quote(s)
	}
	return strings.Join(quoted, " ")
}

// with runs a go command on the workspace as it would be with files: path ->
// text. Nothing is written there.
func (w *work) with(files map[string]string, command string) (string, int, error) {
	if w.runs >= w.opt.Runs {
		return "", 0, errRuns
	}
	w.runs++
	out, exit, err := w.h.Overlay(command, files)
	if err != nil {
		return out, exit, fmt.Errorf("%w: run %q: %w", ErrHands, command, err)
	}
	return out, exit, nil
}

// apply makes an edit in the tree.
func (w *work) apply(e change) error {
	if _, ok := w.applied[e.path]; !ok {
		w.applied[e.path] = e.before
	}
	if err := w.h.Edit(e.path, e.old, e.new); err != nil {
		return fmt.Errorf("%w: edit %s: %w", ErrHands, e.path, err)
	}
	return nil
}

// revert puts an edit back.
func (w *work) revert(e change) error {
	now, err := w.h.Read(e.path)
	if err == nil && now == e.before {
		delete(w.applied, e.path)
		return nil
	}
	if err == nil {
		err = w.h.Write(e.path, e.before)
	}
	if err != nil {
		return fmt.Errorf("%w: put back %s: %w", ErrHands, e.path, err)
	}
	delete(w.applied, e.path)
	return nil
}

// restore puts everything back that is changed. The error names the files that
// could not be.
func (w *work) restore() error {
	paths := make([]string, 0, len(w.applied))
	for p := range w.applied {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	var left []string
	var cause error
	for _, p := range paths {
		if err := w.revert(change{path: p, before: w.applied[p]}); err != nil {
			left, cause = append(left, p), err
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: still changed: %s: %w", ErrHands, strings.Join(left, ", "), cause)
	}
	return nil
}
