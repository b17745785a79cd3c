package offline

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// idPrefix marks calls of the built-in model.
const idPrefix = "off_"

// refused is the error of a call that failed: the tool's own message.
type refused struct {
	tool, text string
}

// notAllowed begins the result of a call that a person or a rule did not allow.
const notAllowed = "Not allowed, it did not run: "

// Error is one line. The first may only name the file.
func (e *refused) Error() string {
	first, rest, _ := strings.Cut(strings.TrimSpace(e.text), "\n")
	if strings.HasPrefix(first, "== ") && rest != "" {
		first = firstLine(rest)
	}
	return e.tool + ": " + strings.TrimPrefix(strings.TrimSpace(first), "error: ")
}

// hands is how a plan acts: each method asks for a tool call and suspends the
// plan until its result is there. It remembers the plan's changes, so that all
// of them can be reverted. It implements repair.Hands.
type hands struct {
	text strings.Builder
	// declined: the plan stated that it does nothing.
	declined bool

	ask   func(ask) []llm.Result
	tools []string // what may be called; empty: not known

	seen   map[string]string // content of files as this plan last saw or wrote them
	origin map[string]string
	order  []string // keys of origin, in the order of their first change
}

func newHands(specs []llm.ToolSpec, stop func(ask) []llm.Result) *hands {
	h := &hands{ask: stop, seen: map[string]string{}, origin: map[string]string{}}
	for _, s := range specs {
		h.tools = append(h.tools, s.Name)
	}
	return h
}

// Say adds text to the reply with the next call.
func (h *hands) Say(s string) {
	if h.text.Len() > 0 && s != "" {
		h.text.WriteString("\n")
	}
	h.text.WriteString(s)
}

// Decline states why the task is not done. The reply is then a refusal, so that the
// task does not look done.
func (h *hands) Decline(why string) {
	h.Say(why)
	h.declined = true
}

// Stop ends a plan after a failed call, if it has done nothing yet. A call that was not
// allowed is the person's decision, not a refusal of the model: the run reports that.
func (h *hands) Stop(err error) {
	h.Say(stopWords(err))
	r := (*refused)(nil)
	h.declined = !errors.As(err, &r) || !strings.HasPrefix(r.text, notAllowed)
}

// step asks for calls, all in one reply.
func (h *hands) step(calls ...llm.Call) []llm.Result {
	text := strings.TrimSpace(h.text.String())
	h.text.Reset()
	out := h.ask(ask{text: text, calls: calls})
	for len(out) < len(calls) {
		out = append(out, llm.Result{Text: "no result was recorded", Error: true})
	}
	return out
}

// result asks for a call and returns its result. again: the call is repeated if a crash
// lost its result, since it does no harm twice.
func (h *hands) result(again bool, name string, args any) (llm.Result, error) {
	if len(h.tools) > 0 && !slices.Contains(h.tools, name) {
		return llm.Result{}, &refused{tool: name, text: "this session has no such tool"}
	}
	r := h.step(call(name, args))[0]
	if again && unknown(r) {
		r = h.step(call(name, args))[0]
	}
	if r.Error {
		return r, &refused{tool: name, text: r.Text}
	}
	return r, nil
}

func (h *hands) one(name string, args any) (string, error) {
	r, err := h.result(name == "read" || name == "glob" || name == "ls", name, args)
	return r.Text, err
}

// Run runs a command line. A failing command is not an error: exit is its exit
// code (124 if it was stopped at its time limit, 137 if it was killed).
func (h *hands) Run(command string) (string, int, error) {
	return h.command("bash", map[string]any{"command": withCd(command), "timeout": 300})
}

// Overlay runs a go command on the workspace as if it had these files. It is
// one call, and nothing is written in the workspace.
func (h *hands) Overlay(command string, files map[string]string) (string, int, error) {
	type file struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	var list []file
	for _, p := range sortedKeys(files) {
		list = append(list, file{p, files[p]})
	}
	return h.command("go_overlay", map[string]any{"command": withCd(command), "timeout": 300, "with": list})
}

// command makes a call that runs a command line.
func (h *hands) command(name string, args any) (string, int, error) {
	r, err := h.result(true, name, args)
	if out, exit, ok := splitExit(r.Text); ok {
		return out, exit, nil
	}
	if err == nil {
		err = &refused{tool: name, text: "its result does not say how the command ended: " + lastLine(r.Text)}
	}
	return r.Text, -1, err
}

// withCd rewrites `go test -C DIR …` as `cd DIR && go test …`, the form that
// permission rules know.
func withCd(command string) string {
	f := strings.SplitN(command, " ", 5)
	if len(f) < 5 || f[0] != "go" || f[2] != "-C" || strings.ContainsAny(f[3], "'\"\\") {
		return command
	}
	return "cd " + f[3] + " && go " + f[1] + " " + f[4]
}

// splitExit separates the exit line from a bash result. It is the last line,
// but an engine may add a few notes after it.
func splitExit(text string) (out string, exit int, ok bool) {
	for rest, notes := strings.TrimRight(text, "\n"), 0; notes < 6 && rest != ""; notes++ {
		at := strings.LastIndexByte(rest, '\n')
		l := strings.TrimSpace(rest[at+1:])
		rest = rest[:max(at, 0)]
		code, ended := strings.CutPrefix(l, "exit code ")
		n, err := strconv.Atoi(code)
		switch {
		case ended && err == nil:
			return rest, n, true
		case strings.HasPrefix(l, "stopped after "):
			return rest, 124, true
		case strings.HasPrefix(l, "killed by "):
			return rest, 137, true
		}
	}
	return "", 0, false
}

// List returns the files that match a glob pattern, in alphabetical order.
func (h *hands) List(pattern string) ([]string, error) {
	text, err := h.one("glob", map[string]any{"pattern": pattern})
	if err != nil {
		return nil, err
	}
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimSpace(l); isPath(l) {
			out = append(out, strings.TrimPrefix(l, "./"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// isPath reports whether a line of a list is a path, not a sentence about the list.
func isPath(l string) bool {
	return l != "" && l[0] != '[' && !strings.HasPrefix(strings.ToLower(l), "no files match")
}

// Edit replaces the only occurrence of old in a file. Unlike the tool it is strict: it
// does not try if old does not occur exactly once.
func (h *hands) Edit(path, old, new string) error {
	if old == new {
		return nil
	}
	if strings.Count(h.seen[path], old) != 1 {
		if _, err := h.Read(path); err != nil {
			return err
		}
	}
	if n := strings.Count(h.seen[path], old); n != 1 {
		return fmt.Errorf("%s: the text to replace is there %d times, not once", path, n)
	}
	want := strings.Replace(h.seen[path], old, new, 1)
	if r, err := h.result(false, "edit", map[string]any{"path": path, "old": old, "new": new}); err != nil {
		if !unknown(r) {
			return err
		}
		// The process died in this edit: the file tells whether it was made.
		before := h.seen[path]
		now, rerr := h.Read(path)
		if h.seen[path] = before; rerr != nil || now != want {
			return err
		}
	}
	h.changed(path, want)
	return nil
}

// Write creates a file or replaces all of it.
func (h *hands) Write(path, content string) error {
	if _, err := h.one("write", map[string]any{"path": path, "content": content}); err != nil {
		return err
	}
	h.changed(path, content)
	return nil
}

// changed notes a path's new content, and what it was before its first change.
func (h *hands) changed(path, content string) {
	before, known := h.seen[path]
	if _, noted := h.origin[path]; !noted && known {
		h.order = append(h.order, path)
		h.origin[path] = before
	}
	h.seen[path] = content
}

// settle accepts what was changed so far: takeBack will not touch it.
func (h *hands) settle() {
	h.origin, h.order = map[string]string{}, nil
}

// takeBack undoes every change since the last settle, newest file first, and returns a
// sentence about it.
func (h *hands) takeBack() string {
	if len(h.order) == 0 {
		return ""
	}
	var left []string
	for _, path := range slices.Backward(h.order) {
		if err := h.restore(path, h.origin[path]); err != nil {
			left = append(left, path)
		}
	}
	h.settle()
	if len(left) > 0 {
		return " I could not undo " + strings.Join(left, ", ") + ": a trial change of mine is still there."
	}
	return " What I had changed is undone."
}

func (h *hands) restore(path, want string) error {
	have := h.seen[path]
	if have == want {
		return nil
	}
	old, new := repair.Narrow(have, want)
	return h.Edit(path, old, new)
}

// unknown reports whether a call's result was lost in a crash.
func unknown(r llm.Result) bool {
	return r.Error && strings.HasPrefix(r.Text, "[Outcome unknown")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(s)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}
