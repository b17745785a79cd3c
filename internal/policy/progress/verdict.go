package progress

// Level is the severity of a verdict.
type Level int

// The levels. Warn means that the model needs advice; Halt means that
// continuing is a waste.
const (
	OK Level = iota
	Warn
	Halt
)

func (l Level) String() string { return [...]string{"none", "warn", "halt"}[l] }

// Finding is the result of the rules after a step. The zero value means that
// nothing was found.
type Finding struct {
	Level Level
	// Rule is the rule's name.
	Rule string
	// Fingerprint is equal for the same loop.
	Fingerprint string
	// Steps are the steps that show it, oldest first, counted from 0.
	Steps []int
	// Text is the finding in one line.
	Text string
	// Ends is what would end it, for people and models.
	Ends string
	// Soft: it never leads to more than a recovery.
	Soft bool
}

// Raw is the verdicts on a whole run that nobody acted on: the steps after
// which a rule first warned and first halted.
type Raw struct {
	Warn, Halt *int
	// First is the verdict of Halt, or else of Warn.
	First Finding
}

// Add adds the verdict after step n.
func (r *Raw) Add(n int, v Finding) {
	if v.Level == OK {
		return
	}
	if r.Warn == nil {
		r.Warn = &n
		r.First = v
	}
	if v.Level == Halt && r.Halt == nil {
		r.Halt = &n
		r.First = v
	}
}
