package swarm

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Report is a swarm as it is now: who did and does what, on which machine, what it
// cost, and the evidence. `pawl swarm status --json` and `report --json` print it.
type Report struct {
	ID      string            `json:"id,omitempty"`
	Goal    string            `json:"goal,omitempty"`
	Outcome event.SwarmEnd    `json:"outcome,omitempty"` // empty: it has not ended
	Fault   event.TaskFault   `json:"fault,omitempty"`   // why it is paused
	Error   string            `json:"error,omitempty"`
	Aside   []string          `json:"aside,omitempty"` // machines that get no more tasks, and why
	Base    string            `json:"base"`
	Commit  string            `json:"commit"`
	Counts  map[string]int    `json:"counts"`
	USD     float64           `json:"usd"`
	Known   bool              `json:"usd_known"`          // false: more may have been spent
	Most    *float64          `json:"usd_most,omitempty"` // up to this; nil: not known
	Tokens  int64             `json:"tokens"`
	Checks  []event.TaskCheck `json:"checks,omitempty"` // of the merged tree
	Tasks   []TaskReport      `json:"tasks"`
	// Machines that had a task since the swarm was started or resumed.
	Machines []swarm.Machine `json:"machines,omitempty"`
}

// Paused is the outcome of a swarm that waits to be resumed.
const Paused event.SwarmEnd = "paused"

type TaskReport struct {
	ID      string            `json:"id"`
	Title   string            `json:"title,omitempty"`
	State   swarm.State       `json:"state"`
	Worker  string            `json:"worker,omitempty"` // of the newest lease
	Model   string            `json:"model,omitempty"`
	Session string            `json:"session,omitempty"`
	Tries   int               `json:"tries"` // that did not count
	USD     *float64          `json:"usd,omitempty"`
	Tokens  int64             `json:"tokens,omitempty"`
	Commit  string            `json:"commit,omitempty"` // of the merged tree with it
	Checks  []event.TaskCheck `json:"checks,omitempty"`
	Error   string            `json:"error,omitempty"`
	Machine string            `json:"machine,omitempty"` // of the newest lease; empty: the swarm's own
	Since   *time.Time        `json:"since,omitempty"`   // when the newest lease began
	After   []string          `json:"after,omitempty"`   // tasks that it waits for
	By      string            `json:"by,omitempty"`      // the task that merges its result by hand
	Review  bool              `json:"review,omitempty"`  // its result waits for a person
}

// ReportOf returns the report of a schedule. spent is what the swarm's account says: the
// tasks' own sums lack what workers spent that were lost.
func ReportOf(s *swarm.Schedule, spent budget.Spent) Report {
	r := Report{Goal: s.Goal, Base: s.Base, Commit: s.Tip(), Counts: map[string]int{}}
	r.USD, r.Tokens, r.Known, r.Most = spent.USD, spent.Tokens(), spent.Cost() != nil, spent.Most()
	if s.Ended != nil {
		r.Outcome, r.Error, r.Checks = s.Ended.Outcome, s.Ended.Error, s.Ended.Checks
	}
	if p := s.Paused; p != nil && s.Ended == nil {
		r.Outcome, r.Fault, r.Error = Paused, p.Fault, p.Error
	}
	r.Aside, r.Machines = s.AllAside(), s.Machines()
	for _, t := range s.Tasks() {
		r.Counts[string(t.State)]++
		one := TaskReport{
			ID: t.ID, Title: t.Title, State: t.State, Worker: t.Lease.Worker, Model: t.Result.Model, Session: t.Result.Session,
			Tries: t.Tries, USD: t.Result.USD, Tokens: t.Result.Tokens, Commit: t.Commit, Checks: t.Result.Checks, Error: t.Result.Error,
			Machine: t.Lease.Machine, After: t.After, By: t.By, Review: t.InReview(),
		}
		if t.Lease.Worker != "" {
			one.Since = &t.Began
		}
		r.Tasks = append(r.Tasks, one)
	}
	return r
}

func (r Report) Markdown() string {
	var b strings.Builder
	goal, _, _ := strings.Cut(strings.TrimSpace(r.Goal), "\n")
	goal = cmp.Or(goal, "Swarm")
	fmt.Fprintf(&b, "# %s\n\n", goal)
	switch {
	case r.Outcome == "":
		b.WriteString("It has not ended.")
	case r.Error != "":
		fmt.Fprintf(&b, "**%s**: %s.", r.Outcome, r.Error)
	default:
		fmt.Fprintf(&b, "**%s**.", r.Outcome)
	}
	fmt.Fprintf(&b, " %d of %d tasks are merged. Cost: %s, %d tokens.\n\n", r.Counts[string(swarm.Merged)], len(r.Tasks), r.cost(), r.Tokens)
	b.WriteString("| task | state | worker | model | failed tries | cost | checks |\n|---|---|---|---|---|---|---|\n")
	for _, t := range r.Tasks {
		cost := "unknown"
		if t.USD != nil {
			cost = fmt.Sprintf("$%.4f", *t.USD)
		}
		if t.Worker == "" {
			cost = ""
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s | %s |\n", cell(t.ID), t.State, t.Worker, cell(t.Model), t.Tries, cost, checked(t.Checks))
	}
	for _, why := range r.Aside {
		fmt.Fprintf(&b, "\n%s.\n", why)
	}
	for _, t := range r.Tasks {
		if t.Error != "" && t.State != swarm.Merged {
			what := "failed"
			if t.State != swarm.Failed {
				what = "is " + string(t.State)
			}
			fmt.Fprintf(&b, "\n## %s %s\n%s\n", t.ID, what, t.Error)
			for _, k := range t.Checks {
				if !k.Passed() {
					fmt.Fprintf(&b, "\n    %s\n    %s\n", k.Command, strings.ReplaceAll(strings.TrimSpace(k.Output), "\n", "\n    "))
				}
			}
		}
	}
	if len(r.Checks) > 0 {
		b.WriteString("\n## Checks of the merged tree\n")
		for _, k := range r.Checks {
			fmt.Fprintf(&b, "- `%s`: %s\n", k.Command, exit(k))
		}
	}
	return b.String()
}

func (r Report) cost() string {
	switch {
	case r.Known:
		return fmt.Sprintf("$%.4f", r.USD)
	case r.Most != nil:
		return fmt.Sprintf("$%.4f, up to $%.4f", r.USD, *r.Most)
	case r.USD > 0:
		return fmt.Sprintf("$%.4f or more", r.USD)
	}
	return "unknown"
}

func checked(ks []event.TaskCheck) string {
	var out []string
	for _, k := range ks {
		out = append(out, "`"+cell(k.Command)+"` "+exit(k))
	}
	return strings.Join(out, ", ")
}

func exit(k event.TaskCheck) string {
	if k.Exit == nil {
		return "did not run to its end"
	}
	return fmt.Sprintf("exit %d after %s", *k.Exit, k.Took.Round(time.Millisecond))
}

func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "`", "'").Replace(s)
}
