package repair

import (
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strings"
)

// tempPrefix begins the name of every file that a repair writes for itself.
// They lie in the module's root and are gone at the end.
const tempPrefix = ".pawl-repair-"

// work is one repair's use of the Hands: it counts commands and knows what to
// put back.
type work struct {
	h       Hands
	opt     Options
	m       *module
	runs    int
	temps   []string          // files written for the go command
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
func (w *work) gotest(args string) string {
	if w.opt.Dir == "" {
		return "go test " + args
	}
	return "go test -C " + quote(w.opt.Dir) + " " + args
}

func (w *work) govet(args string) string {
	if w.opt.Dir == "" {
		return "go vet " + args
	}
	return "go vet -C " + quote(w.opt.Dir) + " " + args
}

// quote makes one word of a shell command.
func quote(s string) string {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r)) {
			return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	return s
}

// overlay writes what the go command shall see instead of the tree: file ->
// text. It gives the flag that says so.
func (w *work) overlay(files map[string]string) (string, error) {
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	replace := map[string]string{}
	for i, p := range paths {
		name := fmt.Sprintf("%s%d.txt", tempPrefix, i)
		if err := w.temp(name, files[p]); err != nil {
			return "", err
		}
		replace[strings.TrimPrefix(strings.TrimPrefix(p, w.opt.Dir), "/")] = name
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", fmt.Errorf("encode the overlay: %w", err)
	}
	if err := w.temp(tempPrefix+"overlay.json", string(b)); err != nil {
		return "", err
	}
	return "-overlay=" + tempPrefix + "overlay.json", nil
}

// temp writes a file of our own in the module's root.
func (w *work) temp(name, text string) error {
	p := path.Join(w.opt.Dir, name)
	known := false
	for _, t := range w.temps {
		known = known || t == p
	}
	if !known {
		w.temps = append(w.temps, p)
	}
	if err := w.h.Write(p, text); err != nil {
		return fmt.Errorf("%w: write %s: %w", ErrHands, p, err)
	}
	return nil
}

// clean removes what temp wrote. It tries all, and says what is left.
func (w *work) clean() error {
	var left []string
	var cause error
	for _, t := range w.temps {
		err := w.h.Remove(t)
		if err == nil {
			continue
		}
		if _, gone := w.h.Read(t); gone == nil { // it may never have been written
			left, cause = append(left, t), err
		}
	}
	w.temps = nil
	if len(left) > 0 {
		return fmt.Errorf("%w: left behind: %s: %w", ErrHands, strings.Join(left, ", "), cause)
	}
	return nil
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
