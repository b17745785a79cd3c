// Package brief says events in one line each: what every plain frontend shows.
// Texts that came from a model, a tool or a file are sanitised here, so that a
// frontend may print what it gets.
package brief

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// Model says which model it is, from where, and at what price: the first line
// of every run (SPEC 5.5).
func Model(i llm.Info) string {
	if i.Provider == "offline" {
		return "model offline: the built-in planner without weights, in this process, free"
	}
	return fmt.Sprintf("model %s from %s, %s", plain.Line(i.Ref()), plain.Line(i.From), PriceOf(i))
}

// PriceOf says a model's price, and whether it is only its maker's.
func PriceOf(i llm.Info) string {
	if i.ListPrice {
		return "list price " + Price(i.Price)
	}
	return Price(i.Price)
}

// ModelShort is Model where a person reads it before each prompt.
func ModelShort(i llm.Info) string {
	switch {
	case i.Provider == "offline":
		return "offline, the built-in planner without weights, free"
	case i.Price == nil || i.Price.Input == 0 && i.Price.Output == 0:
		return fmt.Sprintf("%s from %s, %s", plain.Line(i.Ref()), plain.Line(i.From), Price(i.Price))
	}
	return fmt.Sprintf("%s from %s, $%s/$%s per M tokens", plain.Line(i.Ref()), plain.Line(i.From), money(i.Price.Input), money(i.Price.Output))
}

// Price says a price.
func Price(p *llm.Price) string {
	switch {
	case p == nil:
		return "price unknown"
	case p.Input == 0 && p.Output == 0:
		return "free"
	}
	return fmt.Sprintf("$%s in / $%s out per million tokens", money(p.Input), money(p.Output))
}

func money(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", f), ".00") }

// Cost says a cost in USD; nil is unknown, never 0.
func Cost(c *float64) string {
	switch {
	case c == nil:
		return "cost unknown"
	case *c == 0:
		return "$0"
	case *c < 0.00005:
		return "under $0.0001"
	case *c < 0.01:
		return fmt.Sprintf("$%.4f", *c)
	}
	return fmt.Sprintf("$%.2f", *c)
}

// Spent says what was spent in USD. Where a part is not known it says how much
// there can be at most, where that can be said, and how much is known.
func Spent(s budget.Spent) string {
	known, most := s.Cost(), s.Most()
	if known != nil {
		return Cost(known)
	}
	t, upTo := Cost(nil), ""
	switch {
	case most == nil || *most <= 0: // no price is known: nothing limits what it was
	case *most < 0.00005:
		upTo = Cost(most)
		t += ", " + upTo
	default:
		upTo = Cost(most)
		t += ", up to " + upTo
	}
	if sure := Cost(&s.USD); s.USD > 0 && sure != upTo {
		t += " (" + sure + " of it known)"
	}
	return t
}

// Call says what a call wants to do: the tool and the argument that tells most.
func Call(b event.CallAsked) string { return plain.Line(b.Title) }

func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

// Reason says why a permission question is asked, unless the call itself says
// so already: to run a command that stands there, or to change the file that it
// names, is no further reason.
func Reason(q event.Question) string {
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

// Done says how a call went, to stand behind Call.
func Done(d event.CallDone) string {
	s := ""
	switch d.Outcome {
	case event.OK:
		s = d.Note
	case event.Failed:
		s = "failed"
		if d.Exit != nil {
			s = fmt.Sprintf("exit code %d", *d.Exit)
		} else if first := firstLine(d.Result.Text); first != "" {
			s += ": " + cut(first, 120)
		}
	case event.Denied, event.Invalid:
		first, _, _ := strings.Cut(strings.TrimPrefix(d.Result.Text, "Not allowed, it did not run: "), "\n")
		s = string(d.Outcome) + ": " + cut(first, 160)
	default:
		s = string(d.Outcome)
	}
	if d.Took >= time.Second && !(d.Outcome == event.OK && d.Command != "") { // a command's note says it
		s = strings.TrimSpace(s + " " + Took(d.Took))
	}
	return plain.Line(s)
}

// Shorter says that the conversation was made shorter, and in a second line why
// the model gave no summary where it was to.
func Shorter(b event.Compacted) []string {
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

// Took says a duration as people do.
func Took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Evidence says what is proven of a turn that changed files, "" for one that
// changed none.
func Evidence(r evidence.Report) string {
	files := r.Changed()
	if len(files) == 0 {
		return ""
	}
	var names []string
	for _, f := range files {
		names = append(names, plain.Line(f.Path))
	}
	if len(names) > 5 {
		names = append(names[:5], fmt.Sprintf("and %d more", len(files)-5))
	}
	return "changed " + strings.Join(names, ", ") + "; " + plain.Line(r.Proof())
}

// Spending says what a turn cost.
func Spending(s budget.Spent) string {
	t := fmt.Sprintf("%s, %s", Spent(s), Plural(s.Replies, "model reply", "model replies"))
	if s.Usage.Known && s.Usage.Input+s.Usage.Output+s.Usage.CacheRead > 0 {
		t += fmt.Sprintf(", %d tokens in (%d cached), %d out", s.Usage.Input+s.Usage.CacheRead+s.Usage.CacheWrite, s.Usage.CacheRead, s.Usage.Output)
	}
	return t + ", " + Plural(s.Calls, "call", "calls")
}

// Plural is a number with its word: "1 call", "2 calls".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Recalled says that an answer is one that was given before.
func Recalled(r event.Recalled) string {
	return fmt.Sprintf("cached: given %s ago, and all that it rests on is as it was", Took(r.Age))
}

// Retry says that a request is tried again, or which model goes on and why.
func Retry(r event.Retried) string {
	next := "again in " + Took(r.Wait)
	switch {
	case r.Model != "":
		next = r.Model + " goes on from here"
	case r.Wait == 0:
		next = "again at once"
	}
	s := fmt.Sprintf("try %d failed: %s; %s", r.Attempt, cut(r.Error.Message, 200), next)
	if r.Shown {
		s += " (what it said so far is withdrawn)"
	}
	return plain.Line(s)
}

// Waiting counts down to the next try of a request.
func Waiting(w event.Waiting) string { return "again in " + w.Left.Round(time.Second).String() }

// Stuck says in one sentence that the model goes in circles and what was done
// about it; look is the command that has the evidence, "" for none. What the
// model is told is a letter to it and nobody else's. A halt is said by the
// question or the end that follows it.
func Stuck(b event.Stuck, look string) string {
	if b.Level == progress.Stop.String() {
		return ""
	}
	s := "the model goes in circles: " + cut(progress.Loop(b), 160)
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

// Route says what a prompt was taken for, "" where that leaves all rights.
func Route(r event.Routed) string {
	why := ""
	if r.Why != "" {
		why = " (“" + cut(r.Why, 80) + "”)"
	}
	t, known := route.Lookup(r.Route)
	switch {
	case r.By == "model asked", r.By == "person":
		return plain.Line("route " + r.Route + " from here on: " + r.By + why)
	case !known || len(r.Rights) == 0 || slices.Contains(r.Rights, route.RightEdit):
		return ""
	case r.Explicit && r.By == "flag":
		return plain.Line("route " + r.Route + ", as was asked for: what goes beyond it is not done unasked")
	case r.Explicit:
		return plain.Line("route " + r.Route + ": the request says not to change anything" + why)
	}
	return plain.Line("route " + r.Route + ": " + t.Reads + why)
}
