// Package brief describes the results of package policy in one line each: prices,
// costs, evidence, phases, statistics. Package chat does the same for events. Texts
// from a model, a tool or a file are sanitised here, so a frontend may print the
// results.
package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// Model describes the model, where it runs, and its price: the first line of every run
// (SPEC 5.5).
func Model(i llm.Info) string {
	if i.Planner() {
		return "model offline: the built-in planner (not a language model), in this process, free"
	}
	return fmt.Sprintf("model %s from %s, %s%s", plain.Line(i.Ref()), plain.Line(i.From), Effort(i), PriceOf(i))
}

// Effort describes the reasoning effort that is asked for, with a comma behind it; "" if
// none is.
func Effort(i llm.Info) string {
	if i.Effort == "" {
		return ""
	}
	return "effort " + plain.Line(i.Effort) + ", "
}

// PriceOf describes a model's price, and whether it is only the maker's list price.
func PriceOf(i llm.Info) string {
	if i.ListPrice {
		return "list price " + Price(i.Price)
	}
	return Price(i.Price)
}

// ModelShort is a shorter Model, which a person reads before each prompt.
func ModelShort(i llm.Info) string {
	switch {
	case i.Planner():
		return "offline, the built-in planner, free"
	case i.Price == nil || i.Price.Input == 0 && i.Price.Output == 0:
		return fmt.Sprintf("%s from %s, %s%s", plain.Line(i.Ref()), plain.Line(i.From), Effort(i), Price(i.Price))
	}
	return fmt.Sprintf("%s from %s, %s$%s/$%s per M tokens", plain.Line(i.Ref()), plain.Line(i.From), Effort(i), money(i.Price.Input), money(i.Price.Output))
}

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

// Cost formats a cost in USD; nil means unknown, never 0.
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

// Spent describes what was spent in USD. If a part is unknown, it states the known part
// and, if there is one, the upper limit.
func Spent(s budget.Spent) string {
	known, most := s.Cost(), s.Most()
	if known != nil {
		return Cost(known)
	}
	t, upTo := Cost(nil), ""
	switch {
	case most == nil || *most <= 0: // there is no upper limit without a price
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

// Evidence describes a turn in lines: what is proven about its changes, what it left that a
// person should look at, and last the files that it changed. It returns none if there is
// nothing of it.
func Evidence(r evidence.Report) []string {
	left := Left(r)
	files := r.Changed()
	if len(files) == 0 {
		return left
	}
	var names []string
	for _, f := range files {
		names = append(names, plain.Line(f.Path))
	}
	if len(names) > 5 {
		names = append(names[:5], fmt.Sprintf("and %d more", len(files)-5))
	}
	var out []string
	for _, line := range r.Lines() {
		out = append(out, plain.Line(line))
	}
	return append(append(out, left...), "changed "+strings.Join(names, ", "))
}

// Left names what a turn left that a person, or what they start, would run or follow without
// having read it, a line for each kind.
func Left(r evidence.Report) []string {
	return slices.DeleteFunc(append(byChecks(r.Files), obeyed(r.Obeyed), inGit(r.Git)), func(s string) bool { return s == "" })
}

// byChecks names what checks left in the workspace, which nobody asked for.
func byChecks(files []evidence.File) (out []string) {
	const most = 3
	left := map[string][]string{}
	var checks []string
	for _, x := range files {
		if x.Left == "" {
			continue
		}
		if left[x.Left] == nil {
			checks = append(checks, x.Left)
		}
		left[x.Left] = append(left[x.Left], plain.Line(x.Path))
	}
	for _, c := range checks {
		names := left[c]
		if more := len(names) - most; more > 0 {
			names = append(names[:most], fmt.Sprintf("and %d more", more))
		}
		out = append(out, "left by "+plain.Line(c)+": "+strings.Join(names, ", "))
	}
	return out
}

// obeyed names the changed files that another agent or a tool obeys by itself: the person
// would run or follow them without having read them (SPEC 16.16).
func obeyed(files []event.Obeyed) string {
	var out []string
	for _, f := range files {
		out = append(out, plain.Line(f.Path)+" ("+f.By+")")
		if f.More > 0 {
			out = append(out, fmt.Sprintf("and %d more", f.More))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "other programs act on these, check them first: " + strings.Join(out, ", ")
}

// inGit names what the turn left in git and not in the workspace: the person's next git
// command would write it, and somebody runs or obeys it then (SPEC 16.16).
func inGit(files []event.GitFile) string {
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimLeft(plain.Line(fmt.Sprintf("%s (%s; %s)", f.Path, f.By, f.In)), " "))
		if f.More > 0 {
			out = append(out, fmt.Sprintf("and %d more", f.More))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "git holds other content than the workspace; run git diff HEAD before git stash, checkout or reset: " + strings.Join(out, ", ")
}

// Ending says why a turn ended early. The error of a provider, or of a setting, says so itself.
func Ending(end event.End, why string) string {
	if end == event.EndProvider || end == event.EndConfig {
		return why
	}
	return string(end) + ": " + why
}

// Spending describes what a turn cost.
func Spending(s budget.Spent) string {
	replies := plural.Of(s.Replies, "model reply")
	switch {
	case s.Replies == 0 && s.Cost() != nil:
		replies = "no model reply"
	case s.Replies == 0: // a part of one may stand above
		replies = "no whole model reply"
	}
	t := Spent(s) + ", " + replies
	if s.Usage.Known && s.Usage.Input+s.Usage.Output+s.Usage.CacheRead > 0 {
		t += fmt.Sprintf(", %d tokens in (%d cached), %d out", s.Usage.Input+s.Usage.CacheRead+s.Usage.CacheWrite, s.Usage.CacheRead, s.Usage.Output)
	}
	if s.Calls > 0 {
		t += ", " + plural.Of(s.Calls, "call")
	}
	return t
}

// Narrowed describes the tools to which a command or a skill limits the turn.
func Narrowed(n event.Narrowed) string {
	return plain.Line(n.By + " limits this turn to: " + n.Left())
}

// Route describes how a prompt was classified; it returns "" if the class limits no
// rights.
func Route(r event.Routed) string {
	why := ""
	if r.Why != "" {
		why = " (“" + cut.Runes(r.Why, 80) + "”)"
	}
	t, known := route.Lookup(r.Route)
	switch {
	case r.By == event.WidenedByModel, r.By == event.WidenedByPerson:
		return plain.Line("route " + r.Route + " from now on: " + string(r.By) + why)
	case !known || len(r.Rights) == 0 || slices.Contains(r.Rights, route.RightEdit):
		return ""
	case r.Explicit && r.By == event.RoutedByFlag:
		return plain.Line("route " + r.Route + ", as requested: pawl asks before it does more")
	case r.Explicit:
		return plain.Line("route " + r.Route + ": the request says not to change anything" + why)
	}
	return plain.Line("route " + r.Route + ": " + t.Reads + why)
}
