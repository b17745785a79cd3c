// Package route classifies a person's prompt, and decides with which rights the
// turn starts (SPEC 13.1): a question is answered by reading, a command is run,
// a preference is kept, and everything else is an edit.
//
// It uses only words: patterns classify a prompt, and a model may be asked
// where they do not decide; its answer is parsed strictly. It promises that a
// prompt that is not understood is an edit, with all rights: a route removes
// rights only where the words are clear, and never adds any. It ignores text
// that a person quoted or pasted: code, logs, stack traces and quotations are
// not instructions.
//
// A trajectory is a file: its patterns, its rights, its note and its nodes. The
// list in All is the only other place that names it. doc/routes.md is the page
// for people.
package route

import (
	"slices"
	"strings"
)

// The names of the routes, as in events.
const (
	Read    = "read"
	Edit    = "edit"
	Run     = "run_command"
	Profile = "profile"
)

// The rights that a turn can start with. Reading is allowed on every route, and
// so are the project's checks and notes for later sessions.
const (
	RightRead = "read"
	RightRun  = "run"  // commands that may change something
	RightEdit = "edit" // tools that change files, and everything else
)

// Trajectory is one way through the graph.
type Trajectory struct {
	Name string
	// When is the condition of this trajectory, for the drawing.
	When string
	// Nodes are the steps after route, in order.
	Nodes []string
	// Rights are those that the turn starts with. If a prompt has words for several
	// trajectories, the one with more rights wins.
	Rights []string
	// Note is the note for the model, "" for none.
	Note string
	// Reads is a clause for people that names the classification: "the request reads as a
	// question".
	Reads string
	// claims reports whether a clause belongs to this trajectory, and by which
	// of its words.
	claims func(c clause) (why string, ok bool)
}

// All are the trajectories, in the order in which they are tried: the first that claims a
// clause gets it.
func All() []Trajectory {
	return []Trajectory{profileTrajectory(), readTrajectory(), runTrajectory(), editTrajectory()}
}

// Lookup finds a trajectory by its name or by "run", the short one.
func Lookup(name string) (Trajectory, bool) {
	if name == "run" {
		name = Run
	}
	all := All()
	i := slices.IndexFunc(all, func(t Trajectory) bool { return t.Name == name })
	if i < 0 {
		return Trajectory{}, false
	}
	return all[i], true
}

// Path returns the nodes of a prompt of this trajectory.
func (t Trajectory) Path() []string { return append([]string{"route"}, t.Nodes...) }

// Wider returns the one of two routes that has more rights; it is used when a
// prompt joins a running turn. Unknown names count as an edit.
func Wider(a, b string) string {
	x, ok := Lookup(a)
	y, ok2 := Lookup(b)
	switch {
	case !ok || !ok2:
		return Edit
	case len(y.Rights) > len(x.Rights):
		return y.Name
	}
	return x.Name
}

// Match is the classification of a prompt.
type Match struct {
	Route string // "" if the patterns do not decide
	Why   string // the words that decided
	// Explicit: the prompt explicitly asks to change nothing.
	Explicit bool
	// Words is the number of the person's own words.
	Words int
}

// ExplicitNote replaces the route's note for the model if the prompt asks for no changes.
const ExplicitNote = "[The user asked for no changes: in this turn what would change a file is not allowed. Answer, and say what you would change instead of changing it.]"

// How many words a prompt may have to be a command or a preference, or a
// question: a longer one in which nothing else was found probably asks for
// more.
const (
	longCommand  = 40
	longQuestion = 250
)

// Classify returns the classification of a prompt. Its cost is limited for prompts of any
// length.
func Classify(prompt string) Match {
	trimmed := strings.TrimSpace(prompt)
	if trimmed == "" || trimmed[0] == '/' && !strings.ContainsAny(firstWord(trimmed)[1:], "/.") || trimmed[0] == '!' {
		return Match{} // one of pawl's own commands, not a prompt
	}
	ss := sentences(trimmed)
	out := Match{}
	best, no, trouble := -1, negation{}, ""
	all := All()
	for _, s := range ss {
		out.Words += len(s.words)
		if n := forbidden(s); n.kind != notNegated {
			no = no.stronger(n)
			continue
		}
		if m, ok := foreign(s); ok {
			if t, known := Lookup(m.Route); known && len(t.Rights) > best {
				best, out.Route, out.Why = len(t.Rights), m.Route, m.Why
			}
			continue
		}
		for _, c := range clauses(s) {
			c.alone = len(ss) == 1
			if n := negated(c); n.kind != notNegated {
				no = no.stronger(n)
				continue
			}
			if trouble == "" && reports(c) {
				trouble = c.why(4)
			}
			for _, t := range all {
				why, ok := t.claims(c)
				if !ok {
					continue
				}
				if len(t.Rights) > best && !(t.Name == Profile && best == len(t.Rights)) {
					best, out.Route, out.Why = len(t.Rights), t.Name, why
				}
				break
			}
		}
	}
	if (out.Route == Run || out.Route == Profile) && out.Words > longCommand || out.Route == Read && out.Words > longQuestion {
		out.Route, out.Why = "", "" // it contains more than the words that were found
	}
	if out.Words > longQuestion {
		no = negation{} // rules for the work: a long text often has some
	}
	if out = no.apply(out); out.Route == "" && trouble != "" {
		out.Route, out.Why = Edit, trouble
	}
	return out
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}
