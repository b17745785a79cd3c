package repair

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// work is one repair's use of the Hands: it counts commands and knows what to
// put back.
type work struct {
	h        Hands
	opt      Options
	m        *module
	runs     int
	standing *change // in the tree, and not accepted yet
}

// run runs a command on the workspace, or as it would be with files (path -> text).
func (w *work) run(command string, files map[string]string) (out string, exit int, err error) {
	if w.runs >= w.opt.Runs {
		return "", 0, errRuns
	}
	w.runs++
	if files == nil {
		out, exit, err = w.h.Run(command)
	} else {
		out, exit, err = w.h.Overlay(command, files)
	}
	if err != nil {
		err = fmt.Errorf("%w: run %q: %w", ErrHands, command, err)
	}
	return out, exit, err
}

// goIn writes a go command for the module's folder.
func (w *work) goIn(verb string, args ...string) string {
	if w.opt.Dir != "" {
		verb += " -C " + shellsyntax.Quote(w.opt.Dir)
	}
	return "go " + verb + " " + strings.Join(args, " ")
}

// goTest writes a command that tests, without a cache.
func (w *work) goTest(args string) string {
	return w.goIn("test", "-count=1 -timeout="+strconv.Itoa(w.opt.Timeout)+"s "+args)
}

func (w *work) everything(r *Report) (TestRun, int, error) {
	var args []string
	for _, p := range w.opt.Packages {
		args = append(args, shellsyntax.Quote(p))
	}
	command := w.goTest(strings.Join(args, " "))
	out, exit, err := w.run(command, nil)
	r.Command, r.Exit = command, exit
	return ReadTests(out), exit, err
}

// apply makes an edit in the tree.
func (w *work) apply(e change) error {
	w.standing = &e
	if err := w.h.Edit(e.path, e.old, e.new); err != nil {
		return fmt.Errorf("%w: edit %s: %w", ErrHands, e.path, err)
	}
	return nil
}

// revert puts the standing edit back. The error says that it is still there.
func (w *work) revert() error {
	if w.standing == nil {
		return nil
	}
	e := *w.standing
	now, err := w.h.ReadAll([]string{e.path})
	if err == nil && now[e.path] != e.before {
		err = w.h.Write(e.path, e.before)
	}
	if err != nil {
		return fmt.Errorf("%w: still changed: %s: %w", ErrHands, e.path, err)
	}
	w.standing = nil
	return nil
}
