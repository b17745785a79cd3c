// Package headless runs one prompt without a person: the answer on stdout,
// progress on stderr, or both as JSON. Nothing here waits for an answer that
// cannot come.
package headless

import (
	"cmp"
	"encoding/json"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/team/structured"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// Result is the result of a run: the object that --output-format json writes, and the
// last line of stream-json.
type Result struct {
	Type    string `json:"type"` // result
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
	// Answer and SessionID are Text and Session under the names of other agents.
	Answer    string `json:"result"`
	SessionID string `json:"session_id"`
	// Structured is the answer that fits the run's JSON schema; Misfit is why there is
	// none.
	Structured json.RawMessage `json:"structured_output,omitempty"`
	Misfit     string          `json:"misfit,omitempty"`
	Session    string          `json:"session"`
	Model      string          `json:"model"`
	Route      *Route          `json:"route"` // null if prompts are not routed
	Turns      int             `json:"turns"` // model replies
	Calls      int             `json:"calls"`
	Usage      llm.Usage       `json:"usage"`
	CostUSD    *float64        `json:"cost_usd"` // null if unknown
	// CostUpTo is an upper limit of the cost if a part is unknown, such as an
	// interrupted reply, which is paid for. It is null if there is no upper limit.
	CostUpTo   *float64        `json:"cost_usd_up_to"`
	DurationMS int64           `json:"duration_ms"`
	Files      []string        `json:"files_changed"`
	Proof      evidence.Word   `json:"proof,omitempty"`      // verified, built or not verified; only if the run changed files
	Verified   *evidence.Check `json:"verified"`             // null if nothing is proven after the last change
	Built      *evidence.Check `json:"built,omitempty"`      // a check that proves that the changes compile, if verified is null
	Unverified string          `json:"unverified,omitempty"` // why verified is null
	// Checks are the checks since the last change, the newest run of each.
	Checks      []evidence.Check `json:"checks"`
	FixAttempts int              `json:"fix_attempts"` // requested by pawl because a check failed
	Denials     []Denial         `json:"denials"`
	// Until is the result of the run's goal.
	Until *until.Result `json:"until,omitempty"`
	// Trust tells whether the folder's own programs may run automatically, and which
	// did not. It is null if the run ended before that was decided.
	Trust    *event.FolderTrust `json:"trust"`
	Phases   *Phases            `json:"phases"` // null if the task has none
	Error    *event.Fault       `json:"error"`
	ExitCode int                `json:"exit_code"`
	Cached   bool               `json:"cached,omitempty"` // the answer is a stored one, and no model was asked
	// Git is what the run left in git and not in the workspace, where somebody runs or obeys
	// it once a git command writes it.
	Git []event.GitFile `json:"git,omitempty"`
	// Obeyed is which of the changed files somebody runs or obeys by itself.
	Obeyed []event.Obeyed `json:"obeyed,omitempty"`
	// NotRestorable names what the run destroyed and no undo can restore.
	NotRestorable string `json:"not_restorable,omitempty"`
	// Fallbacks are the models that took over because another model did not answer.
	Fallbacks []Fallback `json:"fallbacks,omitempty"`
}

// Fallback is a model that took over, and why.
type Fallback struct {
	Model string `json:"model"`
	Why   string `json:"why"`
}

// Route is the classification of the prompt at the end of the run.
type Route struct {
	Route string         `json:"route"`
	By    event.RoutedBy `json:"by"`
	Why   string         `json:"why"`
}

// Denial is a call that was denied.
type Denial struct {
	Tool   string          `json:"tool"`
	What   string          `json:"what"`
	Reason string          `json:"reason"`
	By     event.BlockedBy `json:"by"`
	// Ran: the call ran, and only what the reason names was refused within it.
	Ran bool `json:"ran,omitempty"`
}

// Code is an exit code with its meaning.
type Code struct {
	Code    int
	Outcome string
	Meaning string
}

// Codes returns all exit codes of pawl.
func Codes() []Code {
	return []Code{
		{0, "done", "the run ended by itself"},
		{1, "failed", "the run failed: see the error"},
		{2, "usage", "the command line is wrong"},
		{3, "configuration", "a setting or a key is missing or wrong: the message shows what to set"},
		{4, "provider", "the model's server did not answer, also after retries"},
		{4, "refused", "the model refused to answer (the error has its reason, if it gave one): change the prompt or use another model"},
		{5, "stuck", "the run made no progress and was stopped"},
		{6, "budget", "a limit of costs or tokens was reached"},
		{7, "turns", "--max-turns was reached"},
		{8, "permission", "the run changed nothing, and ended because a call needed a permission and nobody could be asked"},
		{9, "unverified", "with --verify: files changed, and no check with tests passed after the last change; also if the project builds but has no tests"},
		{10, "unmet", "the command of --until did not pass: --max-rounds was reached, the model made no more changes, or the command is not allowed to run"},
		{Misfit, "misfit", "the answer does not match --json-schema, also after two more tries"},
		{Full, string(event.EndDisk), "too little space is left on a disk: free some, or see resources.disk_mb"},
		{124, "timeout", "--timeout was reached"},
		{129, "interrupted", "ended by SIGHUP"},
		{130, "interrupted", "ended by SIGINT (Ctrl+C)"},
		{143, "interrupted", "ended by SIGTERM"},
	}
}

// Full is the exit code of a run that a full disk ended.
const Full = 12

// Misfit is the exit code of an answer that does not fit its schema.
const Misfit = 11

// hold adds the answer that fits the run's schema, if there is one.
func (r *Result) hold(form *structured.Answer) {
	if form == nil {
		return
	}
	r.Structured, r.Misfit = form.Value()
	if r.Misfit != "" && r.ExitCode == 0 {
		r.Outcome, r.ExitCode = "misfit", Misfit
	}
}

// fail turns r into the result of a run whose end is not recorded, and returns err.
func (r *Result) fail(err error) error {
	f := turn.Describe(err)
	r.Outcome, r.ExitCode, r.Error = string(event.EndFailed), 1, &f
	switch {
	case store.Full(err):
		r.Outcome, r.ExitCode = string(event.EndDisk), Full
	case fault.CategoryOf(err) == fault.Configuration:
		r.Outcome, r.ExitCode = string(event.EndConfig), 3
	}
	return err
}

// SignalCode returns the exit code for a signal, or 0 for another name.
func SignalCode(name string) int {
	return map[string]int{"SIGHUP": 129, "SIGINT": 130, "SIGTERM": 143}[name]
}

// Failure returns the result of a run that could not start, because of a wrong command
// line or a missing setting.
func Failure(code int, f event.Fault) Result {
	r := Result{Type: "result", Outcome: string(event.EndFailed), Files: []string{}, Checks: []evidence.Check{}, Denials: []Denial{}, Error: &f, ExitCode: code}
	for _, c := range Codes() {
		if c.Code == code {
			r.Outcome = c.Outcome
			break // the first of several outcomes with one code
		}
	}
	return r
}

// CodeOf returns the exit code for an end. by is what interrupted the run.
func CodeOf(end event.End, by string) int {
	switch end {
	case event.EndInterrupted:
		return cmp.Or(SignalCode(by), 130)
	case event.EndTimeout:
		return 124
	}
	for _, c := range Codes() {
		if c.Outcome == string(end) {
			return c.Code
		}
	}
	return 1
}

func resultOf(s *session.Session, run session.Outcome, o Options) Result {
	v := s.View()
	_, spent := v.Spent()
	proof := v.Evidence()
	r := Result{
		Type: "result", Outcome: string(run.Ended.End), ExitCode: CodeOf(run.Ended.End, run.By), Error: run.Ended.Error, Text: run.Reply, Answer: run.Reply, Cached: run.Cached,
		Session: s.ID(), SessionID: s.ID(), Model: v.Info().Ref(), Phases: phasesOf(v.Phases()), Trust: o.Trust,
		Turns: spent.Replies, Calls: spent.Calls, Usage: spent.Usage, CostUSD: spent.Cost(), CostUpTo: spent.Most(),
		Verified: proof.Verified, Checks: append([]evidence.Check{}, proof.Checks...), FixAttempts: proof.Attempts,
		Files: []string{}, Denials: []Denial{}, Git: proof.Git, Obeyed: proof.Obeyed,
	}
	if b := v.Route(); run.Began > 0 && b.Route != "" {
		r.Route = &Route{Route: b.Route, By: b.By, Why: b.Why}
	}
	for _, b := range run.Fallbacks {
		r.Fallbacks = append(r.Fallbacks, Fallback{Model: b.Model, Why: b.Error.Message})
	}
	if len(proof.Changed()) > 0 {
		r.Unverified, r.Built, r.Proof = proof.Unverified, proof.Built, proof.Word()
	}
	for _, f := range proof.Changed() {
		r.Files = append(r.Files, f.Path)
	}
	for _, d := range proof.Denials {
		r.Denials = append(r.Denials, Denial{Tool: d.Tool, What: d.What, Reason: d.Reason, By: d.By, Ran: d.Ran})
	}
	met := false
	if o.Until != nil {
		goal := o.Until.Result()
		r.Until, met = &goal, goal.Met
	}
	switch {
	case run.Ended.End != event.EndDone:
	case run.Unanswered && !met && len(r.Files) == 0: // else it did its work, and Denials has what it did without
		r.Outcome, r.ExitCode = "permission", 8
	case o.Until != nil && !met:
		r.Outcome, r.ExitCode = "unmet", 10
	case o.Verify && len(r.Files) > 0 && proof.Word() != evidence.Verified:
		r.Outcome, r.ExitCode = "unverified", 9
	}
	r.hold(o.Answer)
	return r
}
