package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// This file puts events into words, a line each. Texts that came from a model, a
// tool or a file are sanitised here.

// Mending tells that pawl asked the model to mend what failed.
const Mending = "the model is asked to mend it"

// reason tells why a permission question is asked, unless the call itself says
// so already: to run a command that stands there, or to change the file that it
// names, is no further reason.
func reason(q event.Question) string {
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

// outcomeWords tells how a call went, to stand after its title.
func outcomeWords(d event.CallDone) string {
	s := ""
	switch d.Outcome {
	case event.OK:
		s = d.Note
	case event.Failed:
		s = "failed"
		if d.Exit != nil {
			s = fmt.Sprintf("exit code %d", *d.Exit)
		} else if first := firstLine(d.Result.Text); first != "" {
			s += ": " + plain.Cut(first, 120)
		}
	case event.Denied, event.Invalid:
		first, _, _ := strings.Cut(strings.TrimPrefix(d.Result.Text, "Not allowed, it did not run: "), "\n")
		s = string(d.Outcome) + ": " + plain.Cut(first, 160)
	default:
		s = string(d.Outcome)
	}
	if d.Took >= time.Second && !(d.Outcome == event.OK && d.Command != "") { // a command's note says it
		s = strings.TrimSpace(s + " " + brief.Took(d.Took))
	}
	return plain.Line(s)
}

// shorter tells that the conversation was made shorter, and in a second line why
// the model gave no summary where it was to.
func shorter(b event.Compacted) []string {
	out := []string{fmt.Sprintf("the conversation was made shorter: about %d tokens, were %d", b.After, b.Before)}
	if b.Error != nil {
		out = append(out, "the model gave no summary, so the log's own words stand for it: "+plain.Line(b.Error.Message))
	}
	return out
}

// firstLine is the first line of a result that is more than the name of the
// file that the lines below it are about.
func firstLine(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "== ") && strings.HasSuffix(first, " ==") && rest != "" {
		first, _, _ = strings.Cut(rest, "\n")
	}
	return strings.TrimPrefix(first, "error: ")
}

// recalled tells that an answer is one that was given before.
func recalled(r event.Recalled) string {
	return fmt.Sprintf("cached: given %s ago, and all that it rests on is as it was", brief.Took(r.Age))
}

// retryWords tells that a request is tried again, or which model goes on and why.
func retryWords(r event.Retried) string {
	next := "again in " + brief.Took(r.Wait)
	switch {
	case r.Model != "":
		next = r.Model + " goes on from here"
	case r.Wait == 0:
		next = "again at once"
	}
	s := fmt.Sprintf("try %d failed: %s; %s", r.Attempt, plain.Cut(r.Error.Message, 200), next)
	if r.Shown {
		s += " (what it said so far is withdrawn)"
	}
	return plain.Line(s)
}

// waitingWords counts down to the next try of a request.
func waitingWords(w event.Waiting) string { return "again in " + w.Left.Round(time.Second).String() }

// stuckWords tells in one sentence that the model goes in circles and what was done
// about it; look is the command that has the evidence, "" for none. What the
// model is told is a letter to it and nobody else's. A halt is said by the
// question or the end that follows it.
func stuckWords(b event.Stuck, look string) string {
	if b.Level == progress.Stop.String() {
		return ""
	}
	s := "the model goes in circles: " + plain.Cut(progress.Loop(b), 160)
	switch {
	case b.Level == progress.Recover.String():
		s += "; it is told so and shown another way"
	case b.Call != "":
		s += "; that call is blocked until a file has new content"
	default:
		s += "; it is told so once more"
	}
	if look != "" {
		s += " (evidence: " + look + ")"
	}
	return plain.Line(s)
}

// checkTitle tells which check pawl runs by itself.
func checkTitle(command string) string { return "check: " + plain.Line(plain.Cut(command, 160)) }

// checkedWords tells how it went, to stand after checkTitle.
func checkedWords(c event.Checked) string {
	s := c.Why
	switch {
	case s != "":
	case c.Exit == nil:
		s = "it did not run to its end"
	default:
		s = fmt.Sprintf("exit code %d", *c.Exit)
		if c.Failures > 0 {
			s += " (" + brief.Plural(c.Failures, "failure", "failures") + ")"
		}
		if *c.Exit == 0 && c.Untested != "" && c.Untested != evidence.RunsNone {
			s += ", " + c.Untested
		}
		if len(c.Changed) > 0 {
			s += ", and it changed " + strings.Join(c.Changed, ", ")
		}
	}
	return plain.Line(plain.Cut(s, 300))
}

// progressedWords tells how far a run has come.
func progressedWords(b event.Progressed) string {
	s := brief.Plural(b.Calls, "call", "calls") + brief.Did(b.Files, b.Tests)
	if b.Errors > 0 {
		s += fmt.Sprintf(", %d failed or not run", b.Errors)
	}
	if b.Since > 1 {
		s += fmt.Sprintf(", nothing new in the last %d", b.Since)
	}
	if b.Phase != "" {
		s += fmt.Sprintf("; phase %s (%d of %d done)", strings.TrimSpace(plain.Cut(b.Phase, 60)), b.PhasesDone, b.PhasesTotal)
	}
	return plain.Line(s + "; " + brief.Took(b.Elapsed))
}
