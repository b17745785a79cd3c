package permission

import "fmt"

// This file is the one table of what each mode does about each kind of fact (SPEC 4.15). A
// fact is what a call really does: pawl knows it of its own tools before they run, and the
// kernel meets it in a command that runs confined.

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
	"files elsewhere are read", "files elsewhere are changed", "hosts are connected to", "a command ends a file of which no copy can be kept",
}

// modes says what happens to each fact: it goes on, is asked, or is refused. In every mode
// what only reads the workspace, the system and the toolchains goes on; protected files,
// keys and what cannot be undone are questions of their own.
var modes = map[Mode][numFacts]Verdict{
	//            edits  checks changes unheld reads elsewhere connects lose
	Ask4All:     {Ask, Ask, Ask, Ask, Ask, Ask, Ask, Ask},
	Plan:        {Deny, Deny, Deny, Deny, Ask, Deny, Deny, Deny},
	AcceptEdits: {Allow, Allow, Ask, Ask, Ask, Ask, Ask, Ask},
	Auto:        {Allow, Allow, Allow, Ask, Ask, Ask, Ask, Ask},
	Yolo:        {Allow, Allow, Allow, Allow, Allow, Allow, Allow, Allow},
}

// on returns what the mode does about a fact.
func (m Mode) on(f fact) Verdict { return modes[m][f] }

// readsOnly reports whether the mode refuses all changes. free: it asks about nothing that
// the table lists.
func (m Mode) readsOnly() bool { return m.on(doChange) == Deny }
func (m Mode) free() bool      { return m.on(doElsewhere) == Allow }

// starts reports whether the commands of a mode start without a question, since the sandbox
// enforces what the mode says about what they then do.
func (s Sandbox) starts(m Mode) bool {
	switch {
	case m.free():
		return false // nothing confines them
	case m.readsOnly() || s.Narrow:
		return s.ReadOnly
	case m.on(doChange) == Ask:
		return s.Workspace && s.Holds
	}
	return s.Workspace
}

// Table returns the table of modes as lines for a person.
func Table() []string {
	out := []string{fmt.Sprintf("%-62s %-9s %-9s %-13s %-9s %s", "", Ask4All, Plan, AcceptEdits, Auto, Yolo)}
	word := map[Verdict]string{Deny: "refused", Ask: "asks", Allow: "goes on"}
	for f := range numFacts {
		out = append(out, fmt.Sprintf("%-62s %-9s %-9s %-13s %-9s %s", factNames[f], word[Ask4All.on(f)], word[Plan.on(f)], word[AcceptEdits.on(f)], word[Auto.on(f)], word[Yolo.on(f)]))
	}
	return append(out,
		"In each mode, what only reads the workspace, the system and the toolchains goes on. A command starts at once in the sandbox and waits where the table asks.",
		"Without a sandbox, pawl asks before a command starts, but for a closed list of programs that only read. Where nobody can be asked, what would ask is refused.")
}
