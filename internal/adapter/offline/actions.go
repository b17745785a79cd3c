package offline

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
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

// actions is how a plan acts: each method asks for a tool call and suspends the
// plan until its result is there. It implements repair.Hands.
type actions struct {
	text strings.Builder
	// declined: the plan stated that it does nothing.
	declined bool

	ask   func(ask) llm.Result
	tools []string // what may be called; empty: not known

	seen map[string]string // content of files as this plan last saw or wrote them
}

func newHands(specs []llm.ToolSpec, stop func(ask) llm.Result) *actions {
	h := &actions{ask: stop, seen: map[string]string{}}
	for _, s := range specs {
		h.tools = append(h.tools, s.Name)
	}
	return h
}

// Say adds text to the reply with the next call.
func (h *actions) Say(s string) {
	if h.text.Len() > 0 && s != "" {
		h.text.WriteString("\n")
	}
	h.text.WriteString(s)
}

// Decline states why the task is not done. The reply is then a refusal, so that the
// task does not look done.
func (h *actions) Decline(why string) {
	h.Say(why)
	h.declined = true
}

// Stop ends a plan after a failed call, if it has done nothing yet. A call that was not
// allowed is the person's decision, not a refusal of the model: the run reports that.
func (h *actions) Stop(err error) {
	h.Say(stopWords(err))
	r := (*refused)(nil)
	h.declined = !errors.As(err, &r) || !strings.HasPrefix(r.text, notAllowed)
}

// step asks for a call, and returns its result.
func (h *actions) step(name string, args any) llm.Result {
	text := strings.TrimSpace(h.text.String())
	h.text.Reset()
	return h.ask(ask{text: text, call: call(name, args)})
}

// result asks for a call and returns its result. again: the call is repeated if a crash
// lost its result, since it does no harm twice.
func (h *actions) result(again bool, name string, args any) (llm.Result, error) {
	if len(h.tools) > 0 && !slices.Contains(h.tools, name) {
		return llm.Result{}, &refused{tool: name, text: "this session has no such tool"}
	}
	r := h.step(name, args)
	if again && unknown(r) {
		r = h.step(name, args)
	}
	if r.Error {
		return r, &refused{tool: name, text: r.Text}
	}
	return r, nil
}

func (h *actions) one(name string, args any) (string, error) {
	r, err := h.result(name == "read" || name == "glob" || name == "ls", name, args)
	return r.Text, err
}

// Run runs a command line. A failing command is not an error: exit is its exit
// code (124 if it was stopped at its time limit, 137 if it was killed).
func (h *actions) Run(command string) (string, int, error) {
	return h.command("bash", map[string]any{"command": command, "timeout": 300})
}

// Overlay runs a go command on the workspace as if it had these files. It is
// one call, and nothing is written in the workspace.
func (h *actions) Overlay(command string, files map[string]string) (string, int, error) {
	type file struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	var list []file
	for _, p := range sortedKeys(files) {
		list = append(list, file{p, files[p]})
	}
	return h.command("go_overlay", map[string]any{"command": command, "timeout": 300, "with": list})
}

// command makes a call that runs a command line.
func (h *actions) command(name string, args any) (string, int, error) {
	r, err := h.result(true, name, args)
	if out, exit, ok := splitExit(r.Text); ok {
		return out, exit, nil
	}
	if err == nil {
		err = &refused{tool: name, text: "its result does not say how the command ended: " + lastLine(r.Text)}
	}
	return r.Text, -1, err
}

// ending matches the line that tells how a command ended. An engine may add notes after it.
var ending = lazyregexp.New(`(?m)^(?:exit code (\d+)|(stopped) after |killed by )`)

// splitExit separates the output from how the command ended.
func splitExit(text string) (out string, exit int, ok bool) {
	all := ending().FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return "", 0, false
	}
	m := all[len(all)-1]
	switch {
	case m[2] >= 0:
		exit, _ = strconv.Atoi(text[m[2]:m[3]])
	case m[4] >= 0:
		exit = 124
	default:
		exit = 137
	}
	return strings.TrimSuffix(text[:m[0]], "\n"), exit, true
}

// List returns the files that match a glob pattern, in alphabetical order.
func (h *actions) List(pattern string) ([]string, error) {
	text, err := h.one("glob", map[string]any{"pattern": pattern})
	if err != nil {
		return nil, err
	}
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimSpace(l); l != "" && l[0] != '[' && !strings.HasPrefix(l, "no files match") { // not a sentence about the list
			out = append(out, strings.TrimPrefix(l, "./"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Edit replaces the only occurrence of old in a file. Unlike the tool it is strict: it
// does not try if old does not occur exactly once.
func (h *actions) Edit(path, old, new string) error {
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
	h.seen[path] = want
	return nil
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
