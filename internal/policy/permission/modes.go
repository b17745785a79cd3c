package permission

import (
	"fmt"
	"slices"
	"strings"
)

// This file is the one table of what each mode does about each kind of fact (SPEC 4.15). A
// fact is what a call really does: pawl knows it of its own tools before they run, and the
// kernel meets it in a command that runs confined. Nobody else decides anything by a mode's
// name.

// Mode decides what is allowed if no rule matches.
type Mode string

// The modes.
const (
	AskMode     Mode = "ask"
	AcceptEdits Mode = "accept-edits"
	Plan        Mode = "plan"
	Auto        Mode = "auto"
	Yolo        Mode = "yolo"
)

// fact is a kind of thing that a call does.
type fact int

const (
	doEdit      fact = iota // pawl's own tools change files of the workspace
	doCheck                 // the project's checks run
	doChange                // a command changes files of the workspace
	doUnheld                // a command that no sandbox holds and that does not only read
	doRead                  // files outside the workspace are read
	doElsewhere             // files outside the workspace are changed
	doConnect               // a host, or a server of this machine that no command started
	doLose                  // a command ends a file of which no copy can be kept
	numFacts
)

var factNames = [numFacts]string{
	"pawl's tools edit files here", "the project's checks run", "commands change files here", "a command runs without a sandbox",
	"files elsewhere are read", "files elsewhere are changed", "commands connect to hosts", "a command ends a file of which no copy can be kept",
}

// mode is a row of the table.
type mode struct {
	name  Mode
	facts [numFacts]Verdict
	about string   // what it does, for a person
	told  string   // the same for a model
	hook  string   // its name in the input of hooks, as Claude Code has it
	other []string // its names in other products, without - and _
}

// modes says what happens to each fact: it goes on, is asked, or is refused. In every mode
// what only reads the workspace, the system and the toolchains goes on; protected files,
// keys and what cannot be undone are questions of their own. The order is the one in which
// modes are shown and chosen.
var modes = []mode{
	//      edits  checks changes unheld reads elsewhere connects lose
	{AskMode, [...]Verdict{Ask, Ask, Ask, Ask, Ask, Ask, Ask, Ask},
		"asks before each change", "reading is free, each change needs a permission", "default", []string{"manual"}},
	{AcceptEdits, [...]Verdict{Allow, Allow, Ask, Ask, Ask, Ask, Ask, Ask},
		"edits and runs the project's checks without asking, and asks before commands change files",
		"the edit tools, programs that only change the files they name (cp, mv, mkdir, …) and the project's checks are free; other changes, by a program or by git, need a permission", "acceptEdits", []string{"autoedit"}},
	{Plan, [...]Verdict{Deny, Deny, Deny, Deny, Ask, Deny, Deny, Deny},
		"only reads", "reading is free, changes are refused", "plan", []string{"readonly"}},
	{Auto, [...]Verdict{Allow, Allow, Allow, Ask, Ask, Ask, Ask, Ask},
		"edits, and lets commands in the sandbox change files, without asking", "changes in the workspace are free, others need a permission", "auto", nil},
	{Yolo, [...]Verdict{Allow, Allow, Allow, Allow, Allow, Allow, Allow, Allow},
		"asks nothing; only what is refused or protected is kept", "nothing needs a permission", "bypassPermissions", []string{"dangerouslyskippermissions"}},
}

// Modes lists the modes in the order to show them.
func Modes() []Mode {
	var out []Mode
	for _, m := range modes {
		out = append(out, m.name)
	}
	return out
}

func ModeNames() string {
	out := fmt.Sprint(Modes())
	out = strings.ReplaceAll(out[1:len(out)-1], " ", ", ")
	i := strings.LastIndex(out, ", ")
	return out[:i] + " or " + out[i+2:]
}

// ParseMode reads a mode by pawl's names and by those of other products.
func ParseMode(s string) (Mode, error) {
	plain := strings.NewReplacer("-", "", "_", "")
	name := strings.ToLower(plain.Replace(strings.TrimSpace(s)))
	for _, m := range modes {
		if name == plain.Replace(string(m.name)) || name == strings.ToLower(m.hook) || slices.Contains(m.other, name) {
			return m.name, nil
		}
	}
	return "", fmt.Errorf("unknown permission mode %q: use %s", s, ModeNames())
}

// Default returns the mode of a session whose person chose none.
func Default(person bool) Mode {
	if person {
		return AskMode
	}
	return allowing(doEdit)
}

// row returns the mode's row; a mode that is not known refuses everything.
func (m Mode) row() mode {
	for i := range modes {
		if modes[i].name == m {
			return modes[i]
		}
	}
	return mode{}
}

// About describes the mode for a person: "asks before each change".
func (m Mode) About() string { return m.row().about }

// Told describes the mode for a model: "reading is free, …".
func (m Mode) Told() string { return m.row().told }

// Hook returns the name by which hooks know the mode.
func (m Mode) Hook() string { return m.row().hook }

// on returns what the mode does about a fact.
func (m Mode) on(f fact) Verdict { return m.row().facts[f] }

func (m Mode) ReadsOnly() bool { return m.on(doChange) == Deny }

// Edits reports whether pawl's tools edit files without a question.
func (m Mode) Edits() bool { return m.on(doEdit) == Allow }

// Free reports whether the mode asks about nothing that the table lists.
func (m Mode) Free() bool { return m.on(doElsewhere) == Allow }

// Editing returns the mode after a person's yes to all edits.
func (m Mode) Editing() Mode {
	if m.Edits() {
		return m
	}
	return allowing(doEdit)
}

// allowing returns the first mode in which a fact goes on.
func allowing(f fact) Mode {
	for _, m := range modes {
		if m.facts[f] == Allow {
			return m.name
		}
	}
	return ""
}

// Child returns the mode of a child session while its parent's mode is m.
func (m Mode) Child(readOnly bool) Mode {
	if readOnly {
		return Plan
	}
	return m
}

// Wider reports whether a mode allows more than another one.
func (m Mode) Wider(than Mode) bool {
	for f := range numFacts {
		if m.on(f) > than.on(f) {
			return true
		}
	}
	return false
}

// starts reports whether the commands of a mode start without a question, since the sandbox
// enforces what the mode says about what they then do.
func (s Sandbox) starts(m Mode) bool {
	switch {
	case m.Free():
		return false // nothing confines them
	case m.ReadsOnly() || s.Narrow:
		return s.ReadOnly
	case m.on(doChange) == Ask:
		return s.Workspace && s.Holds
	}
	return s.Workspace
}

// Table returns the table of modes as lines for a person.
func Table() []string {
	line := func(first string, cell func(m Mode) string) string {
		out := fmt.Sprintf("%-62s", first)
		for _, m := range Modes() {
			out += fmt.Sprintf(" %-*s", max(9, len(m)+1), cell(m))
		}
		return strings.TrimRight(out, " ")
	}
	out := []string{line("", func(m Mode) string { return string(m) })}
	for f := range numFacts {
		out = append(out, line(factNames[f], func(m Mode) string {
			return map[Verdict]string{Deny: "refused", Ask: "asks", Allow: "goes on"}[m.on(f)]
		}))
	}
	return append(out,
		"In each mode, what only reads the workspace, the system and the toolchains goes on. A command starts at once in the sandbox and waits where the table asks.",
		"Without a sandbox, pawl asks before a command starts, but for a closed list of programs that only read. Where nobody can be asked, what would ask is refused.")
}
