package permission

import (
	"path"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Redefined says whether the agent changed a file with one of these base names
// in this session: what is defined there is not what a person knows any more
// (SPEC 16.4).
func (p *Policy) Redefined(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return p.changed[fold(n)] })
}

// ran takes a command that the agent ran: what it names as something that it
// changes counts as changed. Files that git ignores are watched by nobody, and
// may define a check all the same.
func (p *Policy) ran(command string) {
	if command == "" {
		return
	}
	cmds, err := shellsyntax.Parse(command, "/")
	if err != nil {
		return
	}
	_, writes := shellsyntax.Touched(cmds)
	for _, w := range writes {
		p.changed[fold(path.Base(w))] = true
	}
}
