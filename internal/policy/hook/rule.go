package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
)

// Rule is a configured hook.
type Rule struct {
	Event   Event
	Matcher string
	Command string
	// Timeout is the longest it may run: its own, or that of its event.
	Timeout time.Duration
	// Free: it has "sandbox": "off". Only a person's own hook may.
	Free bool
	// Root is the folder of the plugin that brings it, "" for none.
	Root string
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

// Events are the events that pawl supports, in the order of a session.
var Events = []Event{
	SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, Notification, PreCompact, SubagentStop, Stop, SessionEnd,
}

// elsewhere are the events of Claude Code that pawl does not have, and whether a hook of
// the event can block something there.
var elsewhere = map[Event]bool{
	"PostToolBatch": true, "UserPromptExpansion": true, "PreModelSwitch": true, "TeammateIdle": true, "TaskCreated": true, "TaskCompleted": true,
	"Elicitation": true, "ElicitationResult": true, "ConfigChange": true, "WorktreeCreate": true,
	"PostToolUseFailure": false, "StopFailure": false, "SubagentStart": false, "PostCompact": false, "PostModelSwitch": false, "PermissionDenied": false,
	"Setup": false, "WorktreeRemove": false, "InstructionsLoaded": false, "CwdChanged": false, "FileChanged": false, "DirectoryAdded": false, "MessageDisplay": false,
}

// Elsewhere returns the events of Claude Code that pawl does not have.
func Elsewhere() []Event { return slices.Sorted(maps.Keys(elsewhere)) }

// CouldBlock reports whether a hook of the event may be a guard: it can block something,
// here or in Claude Code, or nobody knows what it does.
func (e Event) CouldBlock() bool {
	blocks, known := elsewhere[e]
	return blocks || !known && (e.blocks() || !slices.Contains(Events, e))
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

// entry is a hook in its configuration.
type entry struct {
	Type    string  `json:"type"`
	Command string  `json:"command"`
	URL     string  `json:"url"`
	Timeout float64 `json:"timeout"` // seconds
	Sandbox string  `json:"sandbox"`
	Async   bool    `json:"async"`
	If      string  `json:"if"`
}

// Rules reads the value of "hooks" of a settings file: for each event a list of
// matchers, each with its hooks. The result includes hooks that pawl does not
// run, with the reason.
func Rules(from string, raw json.RawMessage) ([]Rule, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var byEvent map[string][]struct {
		Matcher string            `json:"matcher"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(jsonc.Plain(raw), &byEvent); err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	var out []Rule
	for _, name := range slices.Sorted(maps.Keys(byEvent)) {
		n := 0
		for _, m := range byEvent[name] {
			for _, h := range m.Hooks {
				n++
				r := Rule{Event: Event(name), Matcher: m.Matcher, Name: fmt.Sprintf("%s %d", name, n), From: from, Config: m.Matcher + "\n" + string(h)}
				r.read(h)
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// read reads the configuration of one hook.
func (r *Rule) read(raw json.RawMessage) {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		r.Command, r.InactiveBecause = string(raw), "it cannot be read: "+err.Error()
		return
	}
	r.Command, r.Free = e.Command, e.Sandbox == "off"
	r.Timeout = r.Event.timeout()
	if e.Timeout > 0 {
		r.Timeout = min(time.Duration(min(e.Timeout, longest.Seconds())*float64(time.Second)), longest)
	}
	switch {
	case !slices.Contains(Events, r.Event):
		r.InactiveBecause = "pawl has no event of this name"
	case e.Type != "" && e.Type != "command":
		r.InactiveBecause = fmt.Sprintf("it is of the type %q, and pawl runs commands", e.Type)
	case strings.TrimSpace(e.Command) == "":
		r.InactiveBecause = "it has no command"
	case e.Async && r.Event.blocks():
		r.InactiveBecause = "it is async, and what it says would come too late"
	case e.If != "" && !r.Event.FailsClosed(): // before a tool it then runs for more calls
		r.InactiveBecause = `it has an "if", which pawl does not read`
	}
	if r.Command == "" {
		if r.Command = e.URL; r.Command == "" {
			r.Command = string(raw)
		}
	}
}

// Select returns the rules of an event that match any of these names, each
// command once. Without names it returns all.
func Select(rules []Rule, e Event, names ...string) []Rule {
	var out []Rule
	for _, r := range rules {
		if r.Event != e || r.InactiveBecause != "" || len(names) > 0 && !matches(e, r.Matcher, names...) {
			continue
		}
		if !slices.ContainsFunc(out, func(o Rule) bool { return o.Command == r.Command && o.Free == r.Free && o.Root == r.Root }) {
			out = append(out, r)
		}
	}
	return out
}
