package offline

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// This file saves steps and lines on the screen: the files that a repair
// writes for the go command alone go out together with the command that needs
// them, in one reply, and are deleted together. They are ours by their name.

// ownPrefix begins the names of those files.
const ownPrefix = ".pawl-repair-"

func own(p string) bool { return strings.HasPrefix(path.Base(p), ownPrefix) }

// enqueue notes a file to be written; one that has the content is left alone.
func (h *hands) enqueue(p, content string) {
	if c, ok := h.seen[p]; ok && c == content {
		return
	}
	h.drop = slices.DeleteFunc(h.drop, func(d string) bool { return d == p })
	h.queue = slices.DeleteFunc(h.queue, func(e edit) bool { return e.path == p })
	h.queue = append(h.queue, edit{path: p, new: content})
	h.changed(p, content)
}

// dequeue notes a file to be deleted, if it was ever written.
func (h *hands) dequeue(p string) {
	h.queue = slices.DeleteFunc(h.queue, func(e edit) bool { return e.path == p })
	delete(h.seen, p)
	if h.disk[p] && !slices.Contains(h.drop, p) {
		h.drop = append(h.drop, p)
	}
}

// withQueue asks for what is queued and then for calls, all in one reply, and
// gives the results of calls.
func (h *hands) withQueue(calls ...llm.Call) ([]llm.Result, error) {
	var first []llm.Call
	if len(h.drop) > 0 {
		first = append(first, call("apply_patch", map[string]any{"patch": deletion(h.drop...)}))
	}
	for _, e := range h.queue {
		first = append(first, call("write", map[string]any{"path": e.path, "content": e.new}))
	}
	if len(first)+len(calls) == 0 {
		return nil, nil
	}
	queued := h.queue
	for _, p := range h.drop {
		delete(h.disk, p)
	}
	h.queue, h.drop = nil, nil
	results := h.step(append(first, calls...)...)
	var err error
	for i, c := range first {
		if r := results[i]; r.Error {
			err = &refused{tool: c.Name, text: r.Text}
			if k := i - (len(first) - len(queued)); k >= 0 {
				delete(h.seen, queued[k].path)
			}
		} else if k := i - (len(first) - len(queued)); k >= 0 {
			h.disk[queued[k].path] = true
		}
	}
	return results[len(first):], err
}

// deletion is the patch that deletes files.
func deletion(paths ...string) string {
	s := "*** Begin Patch\n"
	for _, p := range paths {
		s += "*** Delete File: " + p + "\n"
	}
	return s + "*** End Patch\n"
}

// plain writes `go test -C DIR …` as `cd DIR && go test …`: the same thing in
// the form that permission rules know.
func plain(command string) string {
	f := strings.SplitN(command, " ", 5)
	if len(f) < 5 || f[0] != "go" || f[2] != "-C" || strings.ContainsAny(f[3], "'\"\\") {
		return command
	}
	return "cd " + f[3] + " && go " + f[1] + " " + f[4]
}
