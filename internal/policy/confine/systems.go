package confine

import "slices"

// Rights is what a rule of Linux allows for everything below a path.
type Rights int

const (
	Read   Rights = iota // read and run
	All                  // read, run and change
	Device               // read, write, and the ioctls of devices
)

// Rule is a path and the rights below it.
type Rule struct {
	Path   string
	Rights Rights
}

func (r Rule) String() string {
	return [...]string{"read  ", "change", "device"}[r.Rights] + " " + r.Path
}

// Linux returns the policy as rules of Landlock, which can only add rights
// along a path. The workspace has no right to be changed: the sandbox makes
// those changes itself, as Change judges them.
func (p Policy) Linux() []Rule {
	var out []Rule
	for _, r := range slices.Concat(p.whole(), p.Reads) {
		out = append(out, Rule{r, Read})
	}
	for _, g := range slices.Concat(p.Granted, p.Git, p.Common) {
		out = append(out, Rule{g, Read})
	}
	for _, w := range p.Writes {
		r := Rule{w, All}
		if p.Level < Workspace {
			r.Rights = Read
		}
		out = append(out, r)
	}
	for _, d := range devices {
		out = append(out, Rule{d, Device})
	}
	return out
}
