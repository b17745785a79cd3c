// Package hook judges what hooks answered (SPEC 16.13): programs of a person's
// that run at points of a turn, with the events and the answers that other
// agents gave them.
//
// It promises that a hook only narrows: it can deny, have a person asked, and
// add words, and what the permission policy denies stays denied. Before a tool
// runs a hook fails closed: one that can not be started, is stopped, ends with
// a code of no meaning, or answers what can not be read denies the call. At the
// other points such a hook is reported and nothing more.
package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Event is a point of a turn.
type Event string

// The events, as Claude Code names them.
const (
	PreToolUse        Event = "PreToolUse"
	PostToolUse       Event = "PostToolUse"
	UserPromptSubmit  Event = "UserPromptSubmit"
	SessionStart      Event = "SessionStart"
	SessionEnd        Event = "SessionEnd"
	Stop              Event = "Stop"
	SubagentStop      Event = "SubagentStop"
	PreCompact        Event = "PreCompact"
	Notification      Event = "Notification"
	PermissionRequest Event = "PermissionRequest"
)

// Closed reports whether a hook of the event that fails denies.
func (e Event) Closed() bool { return e == PreToolUse || e == PermissionRequest }

// Blocks reports whether a hook of the event can hold up what it is about: a
// call, a prompt, the end of a turn, a compaction.
func (e Event) Blocks() bool {
	switch e {
	case PreToolUse, PermissionRequest, UserPromptSubmit, Stop, SubagentStop, PreCompact, PostToolUse:
		return true
	}
	return false
}

// Ran is how a hook ran.
type Ran struct {
	Command string // for people
	// Failed says why it could not be started or was stopped: not found, a time
	// limit, a signal. "" where it ended by itself, with Exit.
	Failed string
	Exit   int
	Out    []byte // standard output
	Err    []byte // standard error
	Cut    bool   // there was more of Out than is kept
	Took   time.Duration
}

// Answer is what a hook's run says.
type Answer struct {
	// Verdict is permission.Allow where it does not object, which lifts nothing.
	// An answer that nobody read denies.
	Verdict permission.Verdict
	Reason  string
	Context string // for the model
	Said    string // for the person
	// Input, if set, are other arguments for the call; it is judged with them as
	// a call that the model made.
	Input json.RawMessage
	// End stops the turn; Reason says why.
	End bool
	// Broken says what is wrong with the hook itself, "" where nothing is.
	Broken string
}

// What is taken of a hook's words.
const (
	maxOut   = 1 << 20
	maxWords = 10_000
)

// Read reads a hook's run.
func Read(e Event, r Ran) Answer {
	switch {
	case r.Failed != "":
		return broken(e, r, r.Failed)
	case r.Exit == 2 && e.Blocks():
		return Answer{Verdict: permission.Deny, Reason: words(string(r.Err), "the hook says no")}
	case r.Exit != 0:
		return broken(e, r, fmt.Sprintf("it ended with exit code %d: %s", r.Exit, words(string(r.Err), "no words")))
	case r.Cut || len(r.Out) > maxOut:
		return broken(e, r, "its answer is too long")
	}
	out := bytes.TrimSpace(r.Out)
	switch {
	case len(out) == 0:
		return Answer{Verdict: permission.Allow}
	case !utf8.Valid(out):
		return broken(e, r, "its answer is no text")
	case out[0] != '{':
		// Words. A decision that stands behind other output would be missed.
		if e.Closed() && bytes.ContainsAny(out, "{}") {
			return broken(e, r, "its answer is JSON with something before it")
		}
		if e == UserPromptSubmit || e == SessionStart {
			return Answer{Verdict: permission.Allow, Context: words(string(out), "")}
		}
		return Answer{Verdict: permission.Allow, Said: words(string(out), "")}
	}
	a, why := parse(e, out)
	if why != "" {
		return broken(e, r, why)
	}
	return a
}

// broken is the answer of a hook that gave none.
func broken(e Event, r Ran, why string) Answer {
	a := Answer{Verdict: permission.Allow, Broken: "the hook " + r.Command + ": " + why}
	if e.Closed() {
		a.Verdict, a.Reason = permission.Deny, a.Broken
	}
	return a
}

func words(s, none string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if s == "" {
		return none
	}
	if r := []rune(s); len(r) > maxWords {
		return string(r[:maxWords]) + "…"
	}
	return s
}

// reply is the JSON of a hook, in the forms that it has had.
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

// parse reads an answer. What is not one of the known decisions is none, and
// why says so.
func parse(e Event, out []byte) (a Answer, why string) {
	if _, err := jsonc.Canonical(out); err != nil { // a key that stands twice decides nothing
		return a, "its answer can not be read: " + err.Error()
	}
	var r reply
	if err := json.Unmarshal(out, &r); err != nil {
		return a, "its answer can not be read: " + err.Error()
	}
	a.Verdict, a.Said, a.Reason = permission.Allow, words(r.SystemMessage, ""), words(r.Reason, "")
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
		return Answer{}, fmt.Sprintf("%q is no decision", *r.Decision)
	}
	if s := r.Specific; s != nil {
		if s.Event != "" && s.Event != e {
			return Answer{}, fmt.Sprintf("its answer is for %s, and this was %s", s.Event, e)
		}
		if s.Decision != nil && !take(*s.Decision, s.Reason) {
			return Answer{}, fmt.Sprintf("%q is no decision", *s.Decision)
		}
		a.Context, a.Input = words(s.Context, ""), s.Input
		if q := s.Request; q != nil {
			if !take(q.Behavior, q.Message) {
				return Answer{}, fmt.Sprintf("%q is no decision", q.Behavior)
			}
			if q.Input != nil {
				a.Input = q.Input
			}
		}
	}
	if len(a.Input) > 0 && a.Input[0] != '{' {
		if string(a.Input) != "null" {
			return Answer{}, "its updatedInput is no object"
		}
		a.Input = nil
	}
	if r.Continue != nil && !*r.Continue {
		a.End, a.Reason = true, words(r.StopReason, words(a.Reason, "the hook ends the turn"))
		if e.Closed() {
			a.Verdict = permission.Deny
		}
	}
	if a.Verdict == permission.Deny && a.Reason == "" {
		a.Reason = "the hook says no"
	}
	return a, ""
}

// Narrow is what is left of a verdict after hooks answered: the strictest of
// all. by is the answer that made it stricter, nil where none did.
func Narrow(v permission.Verdict, answers []Answer) (left permission.Verdict, by *Answer) {
	left = v
	for i := range answers {
		if answers[i].Verdict < left { // deny, ask, allow
			left, by = answers[i].Verdict, &answers[i]
		}
	}
	return left, by
}

// Matches reports whether a hook is for a tool, by any of the names that it has:
// a matcher is a regular expression of the whole name, "" and * are for all.
// Before a tool, one that can not be read is for all of them.
func Matches(e Event, matcher string, names ...string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	re, err := regexp.Compile(`(?i)^(?:` + matcher + `)$`)
	if err != nil {
		return e.Closed()
	}
	for _, n := range names {
		if re.MatchString(n) {
			return true
		}
	}
	return false
}
