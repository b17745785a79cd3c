package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// Redefined reports whether, in this session, the agent changed a file with one of
// these base names or extensions ("*.mk"): its definitions are then not the ones that a
// person knows (SPEC 16.4).
func (p *Policy) Redefined(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		if ext, ok := strings.CutPrefix(n, "*"); ok {
			for c := range p.changed {
				if strings.HasSuffix(c, ext) {
					return true
				}
			}
			return false
		}
		return p.changed[fold(n)]
	})
}

// isCheck reports whether a command is one of the project's checks: the
// configuration names it, or it is a form of a program that is known to run
// nothing else.
func (p *Policy) isCheck(c shellsyntax.Command) bool {
	for _, r := range p.checks {
		if allowCommand(r.words, c) {
			return !p.Redefined("package.json", "makefile", "gnumakefile", "justfile", "pyproject.toml", "conftest.py")
		}
	}
	return command.Checks{Changed: p.Redefined}.Is(c)
}

// askRedefined removes the permission of checks if the agent changed a file that
// defines what they do.
func (p *Policy) askRedefined(units []unit, defined []string) {
	i := slices.IndexFunc(defined, func(f string) bool { return p.Redefined(path.Base(f)) })
	if i < 0 {
		return
	}
	for j := range units {
		if u := &units[j]; u.class == command.Checking && len(command.DefinedBy(u.cmd)) > 0 {
			u.class = command.Unsafe
			u.why += ", and this session changed " + p.shown(p.abs(defined[i])) + ", which says what it does"
		}
	}
}

// ran applies a command that the agent ran: files that it names as targets
// count as changed. Files that git ignores are not watched but may define a
// check.
func (p *Policy) ran(line string) {
	if line == "" {
		return
	}
	cmds, err := command.Parse(line, "/")
	if err != nil {
		return
	}
	_, writes := command.Touched(cmds)
	for _, w := range writes {
		p.changed[fold(path.Base(w))] = true
	}
}
