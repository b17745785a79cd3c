package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/unknown"
)

// Rule is a configured hook.
type Rule struct {
	Event   Event
	Matcher string
	Command string // for people, if Prompt is set
	// Prompt, if set, is what the model is asked, in place of a command.
	Prompt string
	// Async: nothing waits for it, and it decides nothing.
	Async bool
	// Once: it is of a file that is used (Scope), and does not run again after it succeeded.
	Once bool
	// Timeout is the longest it may run: its own, or that of its event.
	Timeout time.Duration
	// Free: it has "sandbox": "off". Only a person's own hook may.
	Free bool
	// Apart: it has "cwd": "apart", so it starts away from the workspace.
	Apart bool
	// Closed: if it fails, it blocks what it was asked about.
	Closed bool
	// Root is the folder of the plugin that brings it, "" for none.
	Root string
	// Scope is the agent's, skill's or command's file that it is in: it holds while that is
	// used. "": it holds always.
	Scope string
	// Name distinguishes it from the others of its file: its event and its
	// position there.
	Name string
	// From is the file, for people.
	From string
	// Config is its matcher and its configuration, as written: a person trusts these.
	Config string
	// InactiveBecause is why pawl does not run it, "" if it does.
	InactiveBecause string
}

// Key distinguishes a hook from all others.
func (r Rule) Key() string { return r.From + " " + r.Name }

// Events are the events that pawl supports, in the order of a session.
var Events = []Event{
	SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, Notification, PreCompact, SubagentStart, SubagentStop, Stop, SessionEnd,
}

// elsewhere are the events of Claude Code that pawl does not have, and whether a hook of
// the event can block something there.
var elsewhere = map[Event]bool{
	"PostToolBatch": true, "UserPromptExpansion": true, "PreModelSwitch": true, "TeammateIdle": true, "TaskCreated": true, "TaskCompleted": true,
	"PreSkillShellCommand": true, "Elicitation": true, "ElicitationResult": true, "ConfigChange": true, "WorktreeCreate": true,
	"StopFailure": false, "PostCompact": false, "PostModelSwitch": false, "PermissionDenied": false,
	"Setup": false, "WorktreeRemove": false, "InstructionsLoaded": false, "CwdChanged": false, "FileChanged": false, "DirectoryAdded": false, "MessageDisplay": false,
}

// Elsewhere returns the events of Claude Code that pawl does not have.
func Elsewhere() []Event { return slices.Sorted(maps.Keys(elsewhere)) }

// CouldBlock reports whether a hook of the event may be a guard: it can block something,
// here or in Claude Code, or nobody knows what it does.
func (e Event) CouldBlock() bool { return elsewhere[e] || e.blocks() || e.known() != nil }

// Dropped returns an error for a guard among hooks that is never run, nil if there is
// none: of a configuration in pawl's own form, where nothing of the kind is meant for
// another agent.
func Dropped(rules []Rule) error {
	for _, r := range rules {
		if r.InactiveBecause != "" && r.Event.CouldBlock() {
			return fmt.Errorf("the hook %s would never run: %s", r.Name, r.InactiveBecause)
		}
	}
	return nil
}

// The default and the largest time limits of hooks.
const (
	usual   = 60 * time.Second
	waited  = 30 * time.Second // a person waits until their prompt is accepted
	leaving = 5 * time.Second  // a person waits for pawl to end
	longest = 10 * time.Minute
)

func (e Event) timeout() time.Duration {
	switch e {
	case UserPromptSubmit, SessionStart:
		return waited
	case SessionEnd, Notification:
		return leaving
	}
	return usual
}

// The keys of a matcher and of a hook, here and in Claude Code.
var (
	matcherKeys = unknown.Keys{Guards: []string{"matcher", "hooks"}, Others: []string{"description"}}
	hookKeys    = unknown.Keys{
		Guards: []string{"type", "command", "prompt", "timeout", "sandbox", "cwd", "async", "if", "args", "onFailure"},
		Others: []string{"url", "headers", "allowedEnvVars", "model", "once", "statusMessage", "asyncRewake", "shell", "description", "name", "server", "tool", "input", "continueOnBlock", "rewakeMessage", "rewakeSummary", "holdsTools"},
	}
)

// known returns an error for an event that nobody has, which may be a misspelt guard.
func (e Event) known() error {
	if _, theirs := elsewhere[e]; theirs || slices.Contains(Events, e) {
		return nil
	}
	var keys unknown.Keys
	for _, one := range append(Elsewhere(), Events...) {
		keys.Others = append(keys.Others, string(one))
	}
	return keys.Error("hooks", []string{string(e)})
}

// entry is a hook in its configuration.
type entry struct {
	Type      string   `json:"type"`
	Command   string   `json:"command"`
	Args      []string `json:"args"` // the command is then a program, and no shell reads them
	OnFailure string   `json:"onFailure"`
	Prompt    string   `json:"prompt"`
	URL       string   `json:"url"`
	Timeout   float64  `json:"timeout"` // seconds
	Sandbox   string   `json:"sandbox"`
	Cwd       string   `json:"cwd"`
	Async     bool     `json:"async"`
	Once      bool     `json:"once"`
	If        string   `json:"if"`
}

// line returns the command line: with args, each word of it is quoted but for the folders
// that it may name.
func (e entry) line() string {
	if e.Args == nil {
		return e.Command
	}
	var words []string
	for _, w := range append([]string{e.Command}, e.Args...) {
		w = shellsyntax.Quote(w)
		for _, folder := range []string{"${CLAUDE_PLUGIN_ROOT}", "${CLAUDE_PROJECT_DIR}"} {
			w = strings.ReplaceAll(w, folder, `'"`+folder+`"'`)
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// Rules reads the value of "hooks" of a settings file: for each event a list of
// matchers, each with its hooks. The result includes hooks that pawl does not
// run, with the reason. An event or a key that nobody has is an error: the hook would
// guard nothing.
func Rules(from string, raw json.RawMessage) ([]Rule, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var byEvent map[string][]json.RawMessage
	if err := json.Unmarshal(jsonc.Plain(raw), &byEvent); err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	var out []Rule
	for _, name := range slices.Sorted(maps.Keys(byEvent)) {
		if err := Event(name).known(); err != nil {
			return nil, err
		}
		n := 0
		for _, raw := range byEvent[name] {
			var keys map[string]json.RawMessage
			var m struct {
				Matcher string            `json:"matcher"`
				Hooks   []json.RawMessage `json:"hooks"`
			}
			if err := errors.Join(json.Unmarshal(raw, &keys), json.Unmarshal(raw, &m)); err != nil {
				return nil, fmt.Errorf("hooks: %s: %w", name, err)
			}
			if err := matcherKeys.Every("a matcher of "+name, maps.Keys(keys)); err != nil {
				return nil, err
			}
			for _, h := range m.Hooks {
				n++
				r := Rule{Event: Event(name), Matcher: m.Matcher, Name: fmt.Sprintf("%s %d", name, n), From: from, Config: m.Matcher + "\n" + string(h)}
				if err := r.read(h); err != nil {
					return nil, err
				}
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// read reads the configuration of one hook. The error is about a key that is not known.
func (r *Rule) read(raw json.RawMessage) error {
	var e entry
	var keys map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &keys), json.Unmarshal(raw, &e)); err != nil {
		r.Command, r.InactiveBecause = string(raw), "it cannot be read: "+err.Error()
		return nil
	}
	if err := hookKeys.Every("the hook "+r.Name, maps.Keys(keys)); err != nil {
		return err
	}
	r.Command, r.Free, r.Apart, r.Async, r.Once, r.Closed = e.line(), e.Sandbox == "off", e.Cwd == "apart", e.Async, e.Once, e.OnFailure == "block"
	r.Timeout = r.Event.timeout()
	if e.Type == "prompt" {
		r.Timeout = judging
	}
	if e.Timeout > 0 {
		r.Timeout = min(time.Duration(min(e.Timeout, longest.Seconds())*float64(time.Second)), longest)
	}
	switch {
	case !slices.Contains(Events, r.Event):
		r.InactiveBecause = "pawl has no event of this name"
	case !r.Event.FailsClosed() && !readable(r.Matcher): // before a tool it then runs for each call
		r.InactiveBecause = fmt.Sprintf("its matcher %q cannot be read", r.Matcher)
	case e.Type == "prompt" && (!r.Event.blocks() || e.Async):
		r.InactiveBecause = "it asks the model for a decision, and there is none here"
	case e.Type == "prompt" && strings.TrimSpace(e.Prompt) == "":
		r.InactiveBecause = "it has no prompt"
	case e.Type == "prompt":
		r.Prompt, r.Command, r.Free, r.Apart = e.Prompt, "ask the model: "+shown(e.Prompt), false, false
	case e.Type != "" && e.Type != "command":
		r.InactiveBecause = fmt.Sprintf("it is of the type %q, and pawl runs commands and prompts", e.Type)
	case strings.TrimSpace(e.Command) == "":
		r.InactiveBecause = "it has no command"
	case e.Cwd != "" && e.Cwd != "project" && e.Cwd != "apart":
		r.InactiveBecause = fmt.Sprintf("its cwd is %q: use project or apart", e.Cwd)
	case e.If != "" && !r.Event.FailsClosed(): // before a tool it then runs for more calls
		r.InactiveBecause = `it has an "if", which pawl does not read`
	}
	r.Command = cmp.Or(r.Command, e.URL, string(raw)) // without one it is not run
	return nil
}

// Select returns the rules of an event that match any of these names, each
// command once. Without names it returns all.
func Select(rules []Rule, e Event, names ...string) []Rule {
	var out []Rule
	for _, r := range rules {
		if r.Event != e || r.InactiveBecause != "" || len(names) > 0 && !matches(e, r.Matcher, names...) {
			continue
		}
		if !slices.ContainsFunc(out, func(o Rule) bool {
			return o.Command == r.Command && o.Prompt == r.Prompt && o.Async == r.Async && o.Free == r.Free && o.Apart == r.Apart && o.Root == r.Root
		}) {
			out = append(out, r)
		}
	}
	return out
}
