package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// Redefined reports whether the agent changed a file with one of these base names,
// or with one of these extensions ("*.mk"), in this session: what is defined there is not what a person knows any more
// (SPEC 16.4).
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

// isCheck reports whether a command is one of the project's checks: one that the
// configuration names, or a form of a program that is known to run nothing else.
func (p *Policy) isCheck(c shellsyntax.Command) bool {
	for _, r := range p.checks {
		if allowCommand(r.words, c) {
			return !p.Redefined("package.json", "makefile", "gnumakefile", "justfile", "pyproject.toml", "conftest.py")
		}
	}
	return command.Checks{Changed: p.Redefined}.Is(c)
}

// definedAnew takes from checks what they are allowed as, where the agent
// changed a file that says what they do.
func (p *Policy) definedAnew(units []unit, defined []string) {
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

// ran takes a command that the agent ran: what it names as something that it
// changes counts as changed. Files that git ignores are watched by nobody, and
// may define a check all the same.
func (p *Policy) ran(line string) {
	if line == "" {
		return
	}
	cmds, err := shellsyntax.Parse(line, "/")
	if err != nil {
		return
	}
	_, writes := command.Touched(cmds)
	for _, w := range writes {
		p.changed[fold(path.Base(w))] = true
	}
}
