package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// This file splits a command line into parts. What a command does is decided when it does
// it: the sandbox holds it there. Its words decide only what the kernel does not meet: the
// rules about commands, files that look like secrets, and which rule a yes adds. Without a
// sandbox a closed list of reading programs and the person's rules need no question;
// everything else asks.

// held reports whether a command line starts in the sandbox, which holds what it does.
func (p *Policy) held(f tool.Footprint) bool {
	return f.Shell != "" && !f.Unconfined && p.cfg.Sandbox.starts(p.mode) && (!p.holdsHome || p.mode.ReadsOnly())
}

// confined reports whether a command line that changes something would run in the sandbox.
func (p *Policy) confined(f tool.Footprint) bool {
	return f.Shell != "" && !f.Unconfined && p.cfg.Sandbox.Workspace && !p.holdsHome
}

// lineParts returns the parts of the simple commands of a line.
func (p *Policy) lineParts(cmds []shellsyntax.Command, held bool) []part {
	var out []part
	for _, c := range cmds {
		u := p.commandPart(c)
		if u.held = held; !held {
			u.readOnly = u.readOnly && p.readsPlainly(c) && !searches(c)
			out = append(out, p.named(c, u.readOnly)...)
		}
		if len(c.Words) > 0 || len(c.Assigns) > 0 || c.Evaluates || c.Code {
			out = append(out, u)
		}
		out = append(out, p.written(c, held)...)
	}
	return out
}

// readsPlainly reports whether no rule about reading can name what a reading command finds
// by itself.
func (p *Policy) readsPlainly(c shellsyntax.Command) bool {
	return slices.Contains([]string{"", "cat", "head", "tail", "wc", "stat", "file", "pwd", "cd", "echo", "printf", "true", "false", "test", "[", "which"}, base(c)) ||
		!slices.ContainsFunc(p.rules, func(r Rule) bool { return r.List != Allows && !r.Bare && r.family() == tool.ReadFamily })
}

// commandPart returns the part of a simple command.
func (p *Policy) commandPart(c shellsyntax.Command) part {
	u := part{kind: commandPart, cmd: c, why: "it runs `" + shorten(c.String()) + "`"}
	alone := c
	alone.Redirects = nil // they are parts of their own
	u.readOnly = c.Func || command.ReadOnly(alone) || startsOnly(c)
	if len(c.Words)+len(c.Assigns) == 0 {
		u.why = "it evaluates what may be code"
	}
	_, u.check = command.CheckOf(c)
	u.edits = command.Edits(c)
	u.sensitive = command.Sensitive(c)
	u.pattern = proposal(c, u.readOnly || u.edits || command.RepeatableSubcommand(c))
	return u
}

// searches reports whether a reading command shows the contents of files that its words do
// not name, secrets among them.
func searches(c shellsyntax.Command) bool {
	switch name := base(c); name {
	case "rg":
		return true
	case "git":
		return command.ParseGit(c.Words[1:]).Sub == "grep"
	case "grep", "egrep", "fgrep", "diff":
		return slices.ContainsFunc(c.Words[1:], func(w shellsyntax.Word) bool {
			return strings.HasPrefix(w.Text, "--") && (strings.Contains(w.Text, "recurs") || strings.HasPrefix(w.Text, "--dir")) ||
				len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsAny(w.Text, "rRd")
		})
	}
	return false
}

// startsOnly reports whether a command is a shell with code that is known, whose commands
// are listed beside it.
func startsOnly(c shellsyntax.Command) bool {
	if _, plain := c.Program(); !plain || len(c.Words) != 3 || !shellsyntax.Shell(base(c)) || len(c.Via)+len(c.Assigns) > 0 {
		return false
	}
	return (c.Words[1].Text == "-c" || c.Words[1].Text == "-lc") && c.Words[2].Known
}

// written returns the parts of the files that redirections write.
func (p *Policy) written(c shellsyntax.Command, held bool) []part {
	var out []part
	for _, r := range c.Redirects {
		if !r.Writes() || r.Target.Proc || r.Target.Known && command.SafeDevice(r.Target.Text) {
			continue
		}
		paths, ok := c.Paths(r.Target)
		if !ok || !r.Target.Known {
			u := part{kind: writePart, guard: outsideGuard, held: held, why: "it redirects to " + shorten(r.Target.Text) + ", which cannot be known before it runs"}
			if held {
				u.guard = noGuard
			}
			out = append(out, u)
			continue
		}
		for _, abs := range paths {
			u := p.pathPart(writePart, abs, false)
			if u.held = held; held && u.guard != noGuard {
				u.guard, u.pattern = noGuard, "" // the kernel meets it there
			}
			out = append(out, u)
		}
	}
	return out
}

// named returns the files among the words of a command that a question or a rule is about,
// where no sandbox holds the command: files that look like secrets, protected ones, and what
// is outside the workspace.
func (p *Policy) named(c shellsyntax.Command, reads bool) []part {
	var out []part
	add := func(kind partKind, abs string, glob bool) {
		if command.SafeDevice(abs) || slices.ContainsFunc(out, func(o part) bool { return o.path == abs }) {
			return
		}
		u := p.pathPart(kind, abs, glob)
		u.derived = true
		switch {
		case u.guard == noGuard && glob && secretGlob(abs):
			u.guard, u.sensitive, u.readOnly = secretGuard, true, false
			u.why = "it reads " + p.shown(abs) + ", which may be files of secrets"
		case u.guard == protectedGuard && base(c) == "git", u.guard == noGuard && !p.ruled(u):
			return
		}
		out = append(out, u)
	}
	kind := writePart
	if reads {
		kind = readPart
	}
	words := slices.Concat(c.Words[min(1, len(c.Words)):], c.Via)
	if slices.Contains([]string{"echo", "printf"}, base(c)) {
		words = nil
	}
	if i := patternOf(base(c), words); i >= 0 {
		words = slices.Delete(words, i, i+1)
	}
	for _, w := range words {
		for _, k := range [...]partKind{readPart, writePart} {
			if u := (part{kind: k, derived: true, why: "it is given " + shorten(w.Text) + ", which cannot be known before it runs"}); !w.Known && !w.Glob && p.mayBeDenied(u) {
				out = append(out, u)
			}
		}
		for _, abs := range c.Candidates(w) {
			add(kind, abs, !w.Known)
		}
	}
	for _, r := range c.Redirects {
		if !r.Writes() {
			for _, abs := range c.Forms(r.Target) {
				add(readPart, abs, !r.Target.Known)
			}
		}
	}
	if len(c.Words) > 0 && !reads || len(c.Words) == 1 {
		for _, abs := range c.Forms(shellsyntax.Word{Text: ".", Known: true}) {
			add(readPart, abs, false) // its own folder
		}
	}
	return out
}

// patternOf returns the index of the word that is a pattern and no file, -1 for none.
func patternOf(name string, words []shellsyntax.Word) int {
	if !slices.Contains([]string{"grep", "egrep", "fgrep", "rg", "sed", "awk"}, name) {
		return -1
	}
	for i, w := range words {
		switch {
		case !w.Known, len(w.Text) > 1 && w.Text[0] == '-' && strings.Trim(w.Text[1:], "acEhHilLnorRsvwx") != "":
			return -1 // an option may hold the pattern, or take the next word
		case w.Text == "" || w.Text[0] != '-':
			return i
		}
	}
	return -1
}

// asksAbout reports whether a person is asked about a file that a held command names: it
// looks like a secret, and the sandbox lets every command read it. What /proc shows of other
// processes it lets nobody read.
func (p *Policy) asksAbout(u part) bool {
	return u.guard == secretGuard || p.keyFile(u.path) && !ofProcess(u.path) && !slices.ContainsFunc(p.keys, func(k string) bool { return confine.Within(k, u.path) })
}

// ruled reports whether a rule about paths names a part's file.
func (p *Policy) ruled(u part) bool {
	return p.mayBeDenied(u) || slices.ContainsFunc(p.rules, func(r Rule) bool { return r.List != Allows && !r.Bare && p.denies(r, u) })
}

// secretGlob reports whether the fixed parts of a pattern already look like a
// secret's name.
func secretGlob(full string) bool {
	base := path.Base(full)
	fixed := strings.NewReplacer("*", "", "?", "").Replace(full)
	return strings.HasPrefix(base, "id_") || secrets.LooksSecret(fixed) && !secrets.EnvFile(fixed)
}

func base(c shellsyntax.Command) string {
	if n := c.Name(); n != "" {
		return fold(path.Base(n))
	}
	return ""
}

// landPart judges a place that a call asks for or that a running command meets.
func (p *Policy) landPart(l tool.ResolvedPath) part {
	kind := readPart
	if l.Write {
		kind = writePart
	}
	u := p.pathPart(kind, l.Path, false)
	u.derived = true
	named := l.Named
	if path.IsAbs(named) {
		named = p.shown(path.Clean(named))
	}
	if named != p.shown(l.Path) && named != "" && u.guard != noGuard {
		u.why += " (" + shorten(named) + " leads there)"
	}
	return u
}

func shorten(s string) string {
	return cut.Bytes(strings.Join(strings.Fields(s), " "), 120)
}

// redefined reports whether, in this session, the agent changed a file with the base name
// of one of these: its definitions are then not the ones that a person knows (SPEC 16.4).
func (p *Policy) redefined(files ...string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return p.changed[fold(path.Base(f))] })
}

// definitions are the files that define what the checks of a configuration do.
var definitions = []string{"package.json", "makefile", "gnumakefile", "justfile", "pyproject.toml", "conftest.py"}

// ran applies a command that the agent ran: files that its redirections write and that the
// words of an editing program name count as changed, also where git ignores them.
func (p *Policy) ran(line string) {
	cmds, err := command.Parse(line, "/")
	if line == "" || err != nil {
		return
	}
	for _, c := range cmds {
		var words []shellsyntax.Word
		if command.Edits(c) {
			words = slices.Clone(c.Words[1:])
		}
		for _, r := range c.Redirects {
			if r.Writes() {
				words = append(words, r.Target)
			}
		}
		for _, w := range words {
			p.changed[fold(path.Base(w.Text))] = true
		}
	}
}
