// Package route decides what a person's prompt asks for, and with which rights the
// turn starts that answers it (SPEC 13.1): a question is answered by reading, a
// command is run, a preference is kept, and everything else is an edit.
//
// It knows words and nothing else: a prompt is told apart by patterns, and what
// they leave open may be asked of a model, whose answer is read strictly. It
// promises that what it does not understand is an edit, with all rights: a
// route takes rights away only where the words are plain, and never adds any.
// It refuses to read what a person only quoted or pasted: code, logs, stack
// traces and quotations are not instructions.
//
// A trajectory is a file: its patterns, its rights, its note and its nodes. The
// list in All is the only other place that names it. doc/routes.md is the page
// for people.
package route

import (
	"slices"
	"strings"
)

// The names of the routes, as events carry them.
const (
	Read    = "read"
	Edit    = "edit"
	Run     = "run_command"
	Profile = "profile"
)

// The rights that a turn can start with. Reading is free on every route, and
// so are the project's checks and notes kept for later sessions.
const (
	RightRead = "read"
	RightRun  = "run"  // commands that may change something
	RightEdit = "edit" // tools that change files, and everything else
)

// Trajectory is one way through the graph.
type Trajectory struct {
	Name string
	// When is the condition on which a prompt goes this way, for the drawing.
	When string
	// Nodes are the steps after route, in order.
	Nodes []string
	// Rights are those that the turn starts with. The trajectory with more of
	// them wins where a prompt has words for several.
	Rights []string
	// Note is told to the model, "" where nothing is to be said.
	Note string
	// Reads is the same as a clause that tells what the request was taken for:
	// "the request reads as a question".
	Reads string
	// claims reports whether a clause asks for this, and by which of its words.
	claims func(c clause) (why string, ok bool)
}

// All are the trajectories, in the order in which they look at a clause: the
// first that claims it has it.
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

// Path is the nodes that a prompt of this trajectory goes through.
func (t Trajectory) Path() []string { return append([]string{"route"}, t.Nodes...) }

// Wider returns the one of two routes that has more rights: what holds when a
// prompt joins a running turn. Names that are not known count as an edit.
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

// Match is what a prompt was taken for.
type Match struct {
	Route string // "" where the patterns do not tell
	Why   string // the words that decided
	// Explicit: the prompt says in so many words that nothing is to be changed.
	Explicit bool
	// Words is how many words of the person's own there were.
	Words int
}

// ExplicitNote is told to the model in place of the route's note where the prompt
// asks for no changes.
const ExplicitNote = "[The user asked for no changes: in this turn what would change a file is not allowed. Answer, and say what you would change instead of changing it.]"

// How many words of its own a prompt may have to be a command or a preference,
// or a question: a longer one that nothing else was found in asks for more.
const (
	longCommand  = 40
	longQuestion = 250
)

// Classify takes a prompt apart and returns what it asks for. Its cost is bounded
// however long the prompt is.
func Classify(prompt string) Match {
	trimmed := strings.TrimSpace(prompt)
	if trimmed == "" || trimmed[0] == '/' && !strings.ContainsAny(firstWord(trimmed)[1:], "/.") || trimmed[0] == '!' {
		return Match{} // a command of pawl's own, and no prompt
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
		out.Route, out.Why = "", "" // there is more in it than the words that were found
	}
	if out.Words > longQuestion {
		no = negation{} // rules for the work, in a text that is long enough to have some
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
