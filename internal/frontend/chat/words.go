package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// This file words events, a line each. Texts from a model, a tool or a file are
// sanitised here.

// AutofixMessage is the message that pawl asked the model to fix a failure.
const AutofixMessage = "the model is asked to fix it"

// questionReason returns why a permission question is asked, "" if the call itself shows it: a
// reason that only repeats that it runs the shown command, or changes the file that it
// names, is left out.
func questionReason(q event.Question) string {
	whole := q.Title + "\n" + q.Preview
	var why []string
	for part := range strings.SplitSeq(q.Reason, "; ") {
		if run, ok := strings.CutPrefix(part, "it runs `"); ok && strings.HasSuffix(run, "`") && strings.Contains(whole, strings.TrimSuffix(run, "`")) {
			continue
		}
		if path, ok := strings.CutPrefix(part, "it changes "); ok && !strings.Contains(path, ", ") && strings.Contains(q.Title, path) {
			continue
		}
		why = append(why, part)
	}
	return plain.Line(strings.Join(why, "; "))
}

// outcomeWords describes the outcome of a call, after its title.
func outcomeWords(d event.CallDone) string {
	s := ""
	command := d.Command != "" && d.Note != "" // its note says how each part ended, and the time
	switch {
	case d.Outcome == event.OK, d.Outcome == event.Failed && command:
		s = d.Note
	case d.Outcome == event.Failed:
		s = "failed"
		if d.Exit != nil {
			s = fmt.Sprintf("exit code %d", *d.Exit)
		} else if first := firstLine(d.Result.Text); first != "" {
			s += ": " + cut.Runes(first, 120)
		}
	case d.Outcome == event.Denied, d.Outcome == event.Invalid:
		first := d.Result.Text
		for _, prefix := range []string{"Not allowed, it did not run: ", "This call did not run: ", "not run: "} {
			first = strings.TrimPrefix(first, prefix)
		}
		first, _, _ = strings.Cut(first, "\n")
		s = "not run: " + cut.Runes(first, 160)
	default:
		s = string(d.Outcome)
	}
	if d.Took >= time.Second && !command && d.Does != tool.Wait {
		s = strings.TrimSpace(s + " " + took.Text(d.Took))
	}
	return plain.Line(s)
}

// argumentWords returns the arguments of a call whose title is only the tool's name, such
// as those of MCP servers.
func argumentWords(b event.CallAsked) string {
	var args map[string]json.RawMessage
	if b.Does == tool.Note || b.Title != b.Tool && b.Title != "" || json.Unmarshal(b.Args, &args) != nil {
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value := string(args[name])
		var text string
		if json.Unmarshal(args[name], &text) == nil && text != "" && !strings.ContainsAny(text, ",:\"") {
			value = text
		}
		out = append(out, name+": "+cut.Runes(value, 80))
	}
	return plain.Line(cut.Runes(strings.Join(out, ", "), 240))
}

// compactionLines returns the lines that report a compaction; the second one, if any, is the
// reason why the model did not write the summary.
func compactionLines(b event.Compacted) []string {
	out := []string{fmt.Sprintf("the conversation was made shorter: about %d tokens, were %d", b.After, b.Before)}
	if b.Error != nil {
		out = append(out, "the model gave no summary; pawl made one from the log: "+plain.Line(b.Error.Message))
	}
	return out
}

// firstLine returns the first line of a result that says what happened: not a note to the
// model about how its call was read, which is in brackets, nor just the name of the file
// of the lines below it.
func firstLine(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	for strings.HasPrefix(first, "[") && strings.HasSuffix(first, "]") && strings.TrimSpace(rest) != "" {
		first, rest, _ = strings.Cut(rest, "\n")
	}
	if strings.HasPrefix(first, "== ") && strings.HasSuffix(first, " ==") && rest != "" {
		first, _, _ = strings.Cut(rest, "\n")
	}
	return strings.TrimPrefix(first, "error: ")
}

// recalledWords reports that an answer was given before.
func recalledWords(r event.Recalled) string {
	return fmt.Sprintf("cached: answered %s ago, and what it depends on has not changed", took.Text(r.Age))
}

// stuckWords reports in one sentence that the model repeats itself and what
// was done about it; look is the command that shows the evidence, "" for none.
// It leaves out the message to the model. The question or the end that follows
// a halt reports the halt.
func stuckWords(b event.Stuck, look string) string {
	if b.Level == progress.Stop.String() {
		return ""
	}
	s := "the model repeats itself: " + cut.Runes(progress.Loop(b), 160)
	switch {
	case b.Level == progress.Recover.String():
		s += "; pawl tells it, and suggests another way"
	case b.Call != "":
		s += "; that call is blocked until a file changes"
	default:
		s += "; pawl tells it again"
	}
	if look != "" {
		s += " (evidence: " + look + ")"
	}
	return plain.Line(s)
}

// checkTitle returns the title of a check by pawl.
func checkTitle(command string) string { return "check: " + plain.Line(cut.Runes(command, 160)) }

// checkingTitle returns the title of a check that begins.
func checkingTitle(b event.Checking) string {
	switch {
	case b.Before:
		return checkTitle(b.Command) + " (the files as they were before)"
	case b.Again:
		return checkTitle(b.Command) + " (once more)"
	}
	return checkTitle(b.Command)
}

// baselineWords describes what a check showed of the files before the turn.
func baselineWords(b event.Baseline) string {
	switch n := len(b.Failed); {
	case b.Why != "":
		return plain.Line(cut.Runes(b.Why, 300))
	case n == 0 && b.Again:
		return "passed"
	case n == 0:
		return "passed before"
	case b.Again:
		return plural.Of(n, "failure")
	default:
		return plural.Of(n, "failure") + " before"
	}
}

// checkedWords describes the outcome of a check, after checkTitle.
func checkedWords(c event.Checked) string {
	s := c.Why
	switch {
	case s != "":
	case c.Exit == nil:
		s = "it did not run to its end"
	default:
		s = fmt.Sprintf("exit code %d", *c.Exit)
		if c.Took >= time.Second {
			s += ", " + took.Text(c.Took)
		}
		if c.Failures > 0 {
			s += " (" + plural.Of(c.Failures, "failure") + ")"
		}
		if *c.Exit == 0 && c.Untested != "" && c.Untested != evidence.RunsNone {
			s += ", " + c.Untested
		}
		if len(c.Changed) > 0 {
			s += ", and it changed " + strings.Join(c.Changed, ", ")
		}
	}
	return plain.Line(cut.Runes(s, 300))
}

// progressedWords describes the state of a run.
func progressedWords(b event.Progressed) string {
	s := "so far " + plural.Of(b.Calls, "call") + brief.Did(b.Files, b.Tests)
	if b.Errors > 0 {
		s += fmt.Sprintf(", %d failed or not run", b.Errors)
	}
	if b.Since > 1 {
		s += fmt.Sprintf(", nothing new in the last %d", b.Since)
	}
	if b.Phase != "" {
		s += fmt.Sprintf("; phase %s (%d of %d done)", strings.TrimSpace(cut.Runes(b.Phase, 60)), b.PhasesDone, b.PhasesTotal)
	}
	return plain.Line(s + "; " + took.Text(b.Elapsed))
}

// Told is the proof for a person who can look at the changes and undo them.
func (b TurnEnd) Told() []string {
	out := slices.Clone(b.Proof)
	if n := len(out); n > 0 {
		out[n-1] += "; /diff shows it, /undo turn undoes it"
	}
	return out
}

// minTokens is the least change of a request's size that is told.
const minTokens = 100

// requestWords describes a request: how large it is, and what that is beside the last one.
func (t *Timeline) requestWords(b event.Requested) string {
	last := t.tokens
	t.tokens = b.Tokens
	words := fmt.Sprintf("request: %s, %s, about %d tokens", plural.Of(b.Messages, "message"), plural.Of(b.Tools, "tool"), b.Tokens)
	if t.window > 0 {
		words += fmt.Sprintf(", %d %% of the window", 100*b.Tokens/t.window)
	}
	if d := b.Tokens - last; last > 0 && (d > minTokens || d < -minTokens) {
		words += fmt.Sprintf(" (%+d)", d)
	}
	if b.Attempt > 1 {
		words += fmt.Sprintf("; attempt %d", b.Attempt)
	}
	return words
}
