// Package route classifies a person's prompt, and decides with which rights the
// turn starts (SPEC 13.1): a question is answered by reading, a command is run,
// a preference is kept, and everything else is an edit.
//
// It promises that only what is beyond doubt is not an edit: a question has a question
// mark or a question word, no word of trouble or of change anywhere, and not the form of
// a report. What was quoted or pasted is not read as the person's sentences. It knows
// English only. A trajectory is a file, and a name in All.
package route

import (
	"cmp"
	"fmt"
	"strings"
)

// The names of the routes, as in events.
const (
	Read    = "read"
	Edit    = "edit"
	Run     = "run_command"
	Profile = "profile"
)

// The rights that a turn can start with. The project's checks need none.
const (
	RightRead = "read"
	RightRun  = "run"  // commands that may change something
	RightEdit = "edit" // tools that change files, and everything else
)

// Trajectory is one way through the graph.
type Trajectory struct {
	Name   string
	When   string   // its condition, for the drawing
	Nodes  []string // the steps after route, in order
	Rights []string // those that the turn starts with
	Note   string   // for the model, "" for none
	Reads  string   // a clause for people: "the request reads as a question"
	// claims returns the words by which a prompt is of this trajectory, "" if it is not.
	claims func(said) string
}

// All are the trajectories. The first that claims a prompt gets it.
func All() []Trajectory {
	return []Trajectory{profileTrajectory(), editTrajectory(), runTrajectory(), readTrajectory()}
}

// Lookup finds a trajectory by its name or by "run", the short one.
func Lookup(name string) (Trajectory, bool) {
	for _, t := range All() {
		if t.Name == name || t.Name == Run && name == "run" {
			return t, true
		}
	}
	return Trajectory{}, false
}

func (t Trajectory) Path() []string { return append([]string{"route"}, t.Nodes...) }

// How many words a prompt of a kind may have: a longer one probably asks for more.
const longQuestion, longPreference, longCommand = 120, 30, 12

// Match is the classification of a prompt.
type Match struct {
	Route    string // "" if the patterns do not decide
	Why      string // the words that decided
	Explicit bool   // the prompt explicitly asks to change nothing
	Trouble  bool   // it is an edit only because it reports trouble
	Words    int    // of the person's own
}

// ExplicitNote replaces the route's note for the model if no changes are asked for.
const ExplicitNote = "[The user asked for no changes: in this turn a call that would change a file is refused, or the user is asked about it. Answer, and say what you would change instead of changing it.]"

// Classify returns the classification of a prompt that a person typed.
func Classify(prompt string) Match { return ClassifyTyped(prompt, prompt) }

// ClassifyTyped is Classify for a prompt of which a person typed only a part.
func ClassifyTyped(typed, prompt string) Match {
	p := read(typed)
	if typed != prompt && p.trouble == "" {
		p.trouble = read(prompt).trouble
	}
	if why := p.forbidden(); why != "" {
		return Match{Route: Read, Why: why, Explicit: true, Words: p.words}
	}
	for _, t := range All() {
		if w := strings.Fields(t.claims(p)); len(w) > 0 {
			why := strings.Join(w[:min(4, len(w))], " ")
			return Match{Route: t.Name, Why: why, Trouble: t.Name == Edit && p.find(asks()) == "", Words: p.words}
		}
	}
	return Match{Words: p.words}
}

// The routing modes besides the names of routes.
const (
	Auto = "auto" // a prompt's words decide
	Off  = "off"  // no prompt is routed
)

// Config is how prompts are routed. The zero value: they are not.
type Config struct {
	Mode  string // auto, off, or the name of a route that all prompts take
	Model bool   // a model may be asked where the patterns do not decide
}

// ParseMode reads a mode as a person writes it; "" is auto.
func ParseMode(s string) (string, error) {
	if s = cmp.Or(strings.TrimSpace(s), Auto); s == Auto || s == Off {
		return s, nil
	}
	if t, ok := Lookup(s); ok {
		return t.Name, nil
	}
	return "", fmt.Errorf("unknown route %q: use auto, off, read, edit, run or profile", s)
}
