// Package hook judges the answers of hooks (SPEC 16.13): a person's programs
// that run at events of a turn, with the events and answers of other agents.
//
// It promises that a hook only restricts: it can deny, make pawl ask, and add
// text; what the permission policy denies stays denied. Before a tool runs, a
// failed hook denies the call: a hook that cannot be started, is stopped, ends
// with a meaningless exit code, or has an unreadable answer. At other events
// such a hook is only reported.
package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Event is an event of a turn at which hooks run.
type Event string

// The events, as Claude Code names them.
const (
	PreToolUse  Event = "PreToolUse"
	PostToolUse Event = "PostToolUse"
	// PostToolUseFailure is PostToolUse of a call that failed.
	PostToolUseFailure Event = "PostToolUseFailure"
	UserPromptSubmit   Event = "UserPromptSubmit"
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
	Stop               Event = "Stop"
	SubagentStart      Event = "SubagentStart"
	SubagentStop       Event = "SubagentStop"
	PreCompact         Event = "PreCompact"
	Notification       Event = "Notification"
	PermissionRequest  Event = "PermissionRequest"
)

// FailsClosed reports whether a failed hook of the event denies.
func (e Event) FailsClosed() bool { return e == PreToolUse || e == PermissionRequest }

// blocks reports whether a hook of the event can block something: a call, a
// prompt, the end of a turn, a compaction.
func (e Event) blocks() bool {
	switch e {
	case PreToolUse, PermissionRequest, UserPromptSubmit, Stop, SubagentStop, PreCompact, PostToolUse:
		return true
	}
	return false
}

// Ran is how a hook ran.
type Ran struct {
	Command string // for people
	// Failed is why it could not be started or was stopped: not found, a time
	// limit, a signal. "" if it ended by itself, with Exit.
	Failed string
	Exit   int
	Out    []byte // standard output
	Err    []byte // standard error
	Cut    bool   // Out was longer than what is kept
	Closed bool   // as in its Rule
	Took   time.Duration
}

// Answer is a hook's answer.
type Answer struct {
	// Verdict is permission.Allow if it does not object; this grants nothing.
	// The zero value denies.
	Verdict       permission.Verdict
	Reason        string
	Context       string // for the model
	PersonMessage string // for the person
	// Input, if set, is new arguments for the call; they are judged as if the
	// model had chosen them.
	Input json.RawMessage
	// End ends the turn; Reason is why.
	End bool
	// Broken is why the hook itself failed, "" if it did not.
	Broken string
}

// Limits of a hook's texts.
const (
	maxOut   = 1 << 20
	maxWords = 10_000
)

// Read reads a hook's answer.
func Read(e Event, r Ran) Answer {
	switch {
	case r.Failed != "":
		return broken(e, r, r.Failed)
	case r.Exit == 2 && e.blocks():
		return Answer{Verdict: permission.Deny, Reason: words(string(r.Err), "the hook denied it")}
	case r.Exit != 0:
		return broken(e, r, fmt.Sprintf("it ended with exit code %d: %s", r.Exit, words(string(r.Err), "no output")))
	case r.Cut || len(r.Out) > maxOut:
		return broken(e, r, "its answer is too long")
	}
	out := bytes.TrimSpace(r.Out)
	switch {
	case len(out) == 0:
		return Answer{Verdict: permission.Allow}
	case !utf8.Valid(out):
		return broken(e, r, "its answer is not text")
	case out[0] != '{':
		// Plain text. A decision after other output would be missed.
		if e.FailsClosed() && bytes.ContainsAny(out, "{}") {
			return broken(e, r, "its answer has text before the JSON")
		}
		if e == UserPromptSubmit || e == SessionStart || e == SubagentStart {
			return Answer{Verdict: permission.Allow, Context: words(string(out), "")}
		}
		return Answer{Verdict: permission.Allow, PersonMessage: words(string(out), "")}
	}
	a, why := parse(e, out)
	if why != "" {
		return broken(e, r, why)
	}
	return a
}

// broken returns the answer for a hook that failed.
func broken(e Event, r Ran, why string) Answer {
	a := Answer{Verdict: permission.Allow, Broken: "the hook " + r.Command + ": " + why}
	if e.FailsClosed() || r.Closed && e.blocks() {
		a.Verdict, a.Reason = permission.Deny, a.Broken
	}
	return a
}

func words(s, none string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if s == "" {
		return none
	}
	return cut.Runes(s, maxWords)
}

// reply is the JSON of a hook, in all forms that are in use.
type reply struct {
	Continue      *bool   `json:"continue"`
	StopReason    string  `json:"stopReason"`
	SystemMessage string  `json:"systemMessage"`
	Decision      *string `json:"decision"`
	Reason        string  `json:"reason"`
	Specific      *struct {
		Event    Event           `json:"hookEventName"`
		Decision *string         `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Input    json.RawMessage `json:"updatedInput"`
		Context  string          `json:"additionalContext"`
		Request  *struct {
			Behavior string          `json:"behavior"`
			Message  string          `json:"message"`
			Input    json.RawMessage `json:"updatedInput"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

// parse reads an answer. An unknown decision is not an answer, and why is the reason.
func parse(e Event, out []byte) (a Answer, why string) {
	if _, err := jsonc.Canonical(out); err != nil { // with a duplicate key the decision is not certain
		return a, "its answer cannot be read: " + err.Error()
	}
	var r reply
	if err := json.Unmarshal(out, &r); err != nil {
		return a, "its answer cannot be read: " + err.Error()
	}
	a.Verdict, a.PersonMessage, a.Reason = permission.Allow, words(r.SystemMessage, ""), words(r.Reason, "")
	take := func(decision, reason string) bool {
		switch strings.ToLower(decision) {
		case "deny", "block":
			a.Verdict = permission.Deny
		case "ask":
			a.Verdict = min(a.Verdict, permission.Ask)
		case "allow", "approve":
		default:
			return false
		}
		if reason != "" {
			a.Reason = words(reason, "")
		}
		return true
	}
	if r.Decision != nil && !take(*r.Decision, "") {
		return Answer{}, fmt.Sprintf("%q is not a decision", *r.Decision)
	}
	if s := r.Specific; s != nil {
		if s.Event != "" && s.Event != e {
			return Answer{}, fmt.Sprintf("its answer is for %s, and this was %s", s.Event, e)
		}
		if s.Decision != nil && !take(*s.Decision, s.Reason) {
			return Answer{}, fmt.Sprintf("%q is not a decision", *s.Decision)
		}
		a.Context, a.Input = words(s.Context, ""), s.Input
		if q := s.Request; q != nil {
			if !take(q.Behavior, q.Message) {
				return Answer{}, fmt.Sprintf("%q is not a decision", q.Behavior)
			}
			if q.Input != nil {
				a.Input = q.Input
			}
		}
	}
	if len(a.Input) > 0 && a.Input[0] != '{' {
		if string(a.Input) != "null" {
			return Answer{}, "its updatedInput is not an object"
		}
		a.Input = nil
	}
	if r.Continue != nil && !*r.Continue {
		a.End, a.Reason = true, words(r.StopReason, words(a.Reason, "the hook ends the turn"))
		if e.FailsClosed() {
			a.Verdict = permission.Deny
		}
	}
	if a.Verdict == permission.Deny && a.Reason == "" {
		a.Reason = "the hook denied it"
	}
	return a, ""
}

// matches reports whether a hook is for a tool, by any of the tool's names: a
// matcher is a regular expression for the whole name; "" and * match all.
// Before a tool, an invalid matcher matches all.
func matches(e Event, matcher string, names ...string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	re, err := pattern(matcher)
	if err != nil {
		return e.FailsClosed()
	}
	return slices.ContainsFunc(names, func(n string) bool { return re.MatchString(n) })
}

func pattern(matcher string) (*regexp.Regexp, error) {
	return regexp.Compile(`(?i)^(?:` + matcher + `)$`)
}

func readable(matcher string) bool {
	_, err := pattern(matcher)
	return matcher == "*" || err == nil
}
