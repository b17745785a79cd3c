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

// errGone means that a file which was to be read is not there or not readable.
var errGone = errors.New("cannot be read")

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

func (h *hands) can(name string) error {
	if len(h.tools) > 0 && !slices.Contains(h.tools, name) {
		return &refused{tool: name, text: "this session has no such tool"}
	}
	return nil
}

func (h *hands) one(name string, args any) (string, error) {
	if err := h.can(name); err != nil {
		return "", err
	}
	r := h.step(call(name, args))[0]
	if unknown(r) && (name == "read" || name == "glob" || name == "ls") {
		r = h.step(call(name, args))[0] // a crash lost the result; reading again does no harm
	}
	if r.Error {
		return r.Text, &refused{tool: name, text: r.Text}
	}
	return r.Text, nil
}

// Run runs a command line. A failing command is not an error: exit is its exit
// code (124 if it was stopped at its time limit, 137 if it was killed).
func (h *hands) Run(command string) (string, int, error) {
	return h.command(call("bash", map[string]any{"command": withCd(command), "timeout": 300}))
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
	return h.command(call("go_overlay", map[string]any{"command": withCd(command), "timeout": 300, "with": list}))
}

// command makes a call that runs a command line.
func (h *hands) command(c llm.Call) (string, int, error) {
	if err := h.can(c.Name); err != nil {
		return "", -1, err
	}
	var err error
	r := h.step(c)[0]
	if unknown(r) {
		r = h.step(c)[0] // a crash took the result; a check may run twice
	}
	text := r.Text
	if r.Error {
		err = &refused{tool: c.Name, text: text}
	}
	out, exit, ok := splitExit(text)
	if ok {
		return out, exit, nil
	}
	if err == nil {
		err = &refused{tool: c.Name, text: "its result does not say how the command ended: " + lastLine(text)}
	}
	return text, -1, err
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
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-6; i-- {
		l := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(l, "exit code "):
			n, err := strconv.Atoi(strings.TrimPrefix(l, "exit code "))
			if err != nil {
				continue
			}
			exit = n
		case strings.HasPrefix(l, "stopped after "):
			exit = 124
		case strings.HasPrefix(l, "killed by "):
			exit = 137
		default:
			continue
		}
		return strings.Join(lines[:i], "\n"), exit, true
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
	for try := 0; ; try++ {
		content, ok := h.seen[path]
		if ok && strings.Count(content, old) == 1 {
			break
		}
		if try > 0 {
			return fmt.Errorf("%s: the text to replace is there %d times, not once", path, strings.Count(content, old))
		}
		if _, err := h.Read(path); err != nil {
			return err
		}
	}
	if text, err := h.one("edit", map[string]any{"path": path, "old": old, "new": new}); err != nil {
		want := strings.Replace(h.seen[path], old, new, 1)
		if !unknown(llm.Result{Text: text, Error: true}) {
			return err
		}
		// The process died in this edit: the file tells whether it was made.
		if now, rerr := h.Read(path); rerr != nil || now != want {
			return err
		}
	}
	h.changed(path, strings.Replace(h.seen[path], old, new, 1))
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

// note keeps a path's content from before its first change.
func (h *hands) note(path string) {
	before, known := h.seen[path]
	if _, noted := h.origin[path]; !noted && known {
		h.order = append(h.order, path)
		h.origin[path] = before
	}
}

func (h *hands) changed(path, content string) {
	h.note(path)
	h.seen[path] = content
}

// settle accepts what was changed so far: putBack will not touch it.
func (h *hands) settle() {
	h.origin, h.order = map[string]string{}, nil
}

// putBack undoes every change since the last settle, newest file first. It
// returns the files that it had to leave as they are.
func (h *hands) putBack() (left []string) {
	for i := len(h.order) - 1; i >= 0; i-- {
		path := h.order[i]
		if err := h.restore(path, h.origin[path]); err != nil {
			left = append(left, path)
		}
	}
	h.settle()
	return left
}

func (h *hands) restore(path, want string) error {
	have, there := h.seen[path]
	if !there { // of unknown content since a call on it failed
		var err error
		if have, err = h.Read(path); err != nil {
			return h.Write(path, want)
		}
	}
	if have == want {
		return nil
	}
	old, new := repair.Narrow(have, want)
	return h.Edit(path, old, new)
}

func putBackWords(left []string) string {
	if len(left) == 0 {
		return "What I had changed is put back."
	}
	return "I could not put back " + strings.Join(left, ", ") + ": a trial change of mine is still there."
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
