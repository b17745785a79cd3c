package permission

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// The refusals apply in every mode and against every rule: to commands that destroy a
// machine or give away control of it, which no person means to allow.

func refusal(reason string) (Decision, bool) {
	return Decision{Verdict: Deny, By: "refusal", Reason: reason + "; pawl refuses this in every mode"}, true
}

func refusedSyntax(err error) bool { return errors.Is(err, shellsyntax.ErrForkBomb) }

// refuse looks for refused commands in a whole call.
func (p *Policy) refuse(c Call, cmds []shellsyntax.Command) (Decision, bool) {
	for _, s := range c.Footprint.Reads {
		if abs := p.abs(s.Path); p.keyFile(abs) {
			return refusal("it reads " + p.shown(abs) + ", a file of keys")
		}
	}
	for _, s := range c.Footprint.Writes {
		abs := p.abs(s.Path)
		switch {
		case p.gitControl(abs):
			return refusal("it writes " + p.shown(abs) + ", which decides what git runs")
		case p.keyFile(abs) && !p.inside(abs):
			return refusal("it writes " + p.shown(abs) + ", a file of keys")
		}
	}
	held := p.confinedReading(c)
	for _, l := range c.Footprint.Resolved {
		switch {
		case l.Path == "" || l.Name, held && (l.Write || p.neverReadable(l.Path)):
		case l.Write && p.gitControl(l.Path):
			return refusal("it writes " + p.landsAt(l) + ", which decides what git runs")
		case p.keyFile(l.Path) && !(l.Write && p.inside(l.Path)):
			return refusal("it reads or writes " + p.landsAt(l) + ", a file of keys")
		}
	}
	for i, cmd := range cmds {
		why := cmp.Or(p.refuseRemoval(cmd), breaksMachine(cmd), p.refuseKeys(cmd, held))
		if why == "" && !held { // a held command writes nothing at all
			why = p.refuseGit(cmd)
		}
		if why != "" {
			return refusal(why)
		}
		if command.EatsCode(base(cmd), cmd) && readsDownload(cmds, i) {
			return refusal("it runs what it downloads, unseen: download to a file, read it, then ask to run it")
		}
	}
	return Decision{}, false
}

// forms returns every absolute path that a word may be, also if unknown
// variables in it are empty.
func forms(c shellsyntax.Command, w shellsyntax.Word) []string {
	t := w.Text
	if !w.Known {
		if t = w.Blank; t == "" || strings.Contains(t, "\x00") {
			return nil
		}
	}
	if strings.HasPrefix(t, "~") || path.IsAbs(t) {
		return []string{path.Clean(t)}
	}
	if !c.Dir.Known {
		return nil
	}
	out := []string{path.Join(c.Dir.Text, t)}
	for _, d := range c.Alt {
		out = append(out, path.Join(d, t))
	}
	return out
}

// precious reports whether removing a folder, or everything in it, would remove
// the system, a home or the workspace.
func (p *Policy) precious(abs string) bool {
	if strings.HasPrefix(abs, "~") {
		rest := strings.TrimLeft(strings.TrimPrefix(abs, "~"), "/")
		return !strings.Contains(abs, "/") || strings.Trim(rest, "*.") == ""
	}
	for strings.HasSuffix(abs, "/*") || strings.HasSuffix(abs, "/.*") || strings.HasSuffix(abs, "/**") {
		abs = path.Dir(abs)
		if abs == p.cfg.Root {
			return false // everything in the workspace: a question, not a refusal
		}
	}
	abs = path.Clean(abs)
	if abs == "/" || p.cfg.Root != "" && under(p.cfg.Root, abs) || p.cfg.Home != "" && under(p.cfg.Home, abs) {
		return true
	}
	f := strings.ToLower(abs)
	parts := strings.Split(strings.Trim(f, "/"), "/")
	switch parts[0] {
	case "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "opt", "proc", "root", "run", "sbin", "srv", "sys", "usr", "var", "users", "system", "library", "applications", "private", "volumes", "mnt", "media", "tmp":
		switch {
		case len(parts) == 1:
			return true
		case len(parts) == 2:
			return parts[0] == "usr" || parts[0] == "home" || parts[0] == "users" || parts[0] == "var" && parts[1] != "tmp" || parts[0] == "private" && parts[1] != "tmp" || parts[0] == "etc" || parts[0] == "system" || parts[0] == "library"
		}
	}
	return false
}

// refuseRemoval refuses rm -rf / and similar commands.
func (p *Policy) refuseRemoval(c shellsyntax.Command) string {
	name := base(c)
	d, ok := command.Destroys(name, c)
	switch {
	case !ok:
		return ""
	case d.Root:
		return "it removes the root of the system"
	case d.Narrow && !slices.ContainsFunc(d.Targets, func(w shellsyntax.Word) bool { return slices.Contains(forms(c, w), "/") }):
		return "" // some files below the workspace: a question
	}
	for _, w := range d.Targets {
		for _, abs := range forms(c, w) {
			if abs == p.cfg.Root && d.Rights {
				continue // permissions of the workspace: a question
			}
			if p.precious(abs) {
				verb := "removes "
				if d.Rights {
					verb = "changes the rights of "
				}
				if !w.Known {
					return "it " + verb + shorten(w.Text) + ", which is " + abs + " where the variable is empty"
				}
				return "it " + verb + abs + " with everything in it"
			}
		}
	}
	return ""
}

func breaksMachine(c shellsyntax.Command) string { return command.Breaks(base(c), c) }

func base(c shellsyntax.Command) string {
	if n := c.Name(); n != "" {
		return fold(path.Base(n))
	}
	return ""
}

// refuseGit refuses changes of git's hooks and configuration.
func (p *Policy) refuseGit(c shellsyntax.Command) string {
	for _, r := range c.Redirects {
		if r.Writes() {
			for _, abs := range forms(c, r.Target) {
				if p.gitControl(abs) {
					return "it writes " + p.shown(abs) + ", which decides what git runs"
				}
			}
		}
	}
	if base(c) == "git" {
		g := command.ParseGit(c.Words[1:])
		if g.Sub == "config" && command.ConfigWrites(g.Args) {
			return "it changes git's configuration, which decides what git runs"
		}
		return ""
	}
	eff := command.Effects(c)
	words := append(slices.Clone(eff.Writes), eff.Removes...)
	if eff.Kind == command.Other && len(c.Words) > 0 {
		for _, w := range c.Words[1:] {
			for _, s := range candidates(w) {
				words = append(words, shellsyntax.Word{Text: s, Known: true})
			}
		}
		if command.Reader(base(c)) {
			words = nil // a reader that Effects could not analyze writes none of the files that it names
		}
	}
	for _, w := range words {
		for _, abs := range forms(c, w) {
			if p.gitControl(abs) {
				return "it writes " + p.shown(abs) + ", which decides what git runs"
			}
		}
	}
	return ""
}

// candidates returns the parts of a word that may be paths, including relative ones.
func candidates(w shellsyntax.Word) []string {
	t := w.Text
	if !w.Known {
		if t = w.Blank; t == "" {
			return nil
		}
	}
	if strings.ContainsAny(t, " \n\t") || len(t) > 4096 {
		return nil
	}
	out := []string{t}
	for i := 0; i < len(t); i++ {
		if c := t[i]; c == '=' || c == '@' || c == ':' || c == ',' {
			out = append(out, t[i+1:])
		}
	}
	if len(t) > 2 && t[0] == '-' && t[1] != '-' {
		out = append(out, t[2:])
	}
	return out
}

// refuseKeys refuses files of keys, in any word of any command. held: except those that
// the kernel denies the command anyway.
func (p *Policy) refuseKeys(c shellsyntax.Command, held bool) string {
	name := base(c)
	check := func(w shellsyntax.Word) string {
		for _, s := range candidates(w) {
			for _, abs := range forms(c, shellsyntax.Word{Text: s, Known: true}) {
				if h := p.cfg.Home; h == "" && strings.HasPrefix(abs, "~") {
					abs = "/home/someone" + strings.TrimPrefix(abs, "~")
				}
				if held && p.neverReadable(abs) {
					continue
				}
				if p.keyFile(abs) || p.keyFile(strings.TrimSuffix(abs, "/*")) && strings.HasSuffix(abs, "/*") || keyGlob(abs) {
					return "it reads " + shorten(w.Text) + ", a file of keys"
				}
			}
		}
		return ""
	}
	for _, r := range c.Redirects {
		if why := check(r.Target); why != "" {
			return why
		}
	}
	if command.OnlyPrints(name, c) {
		return ""
	}
	for i := 1; i < len(c.Words); i++ {
		w := c.Words[i]
		if command.TakesKey(name) && (c.Words[i-1].Text == "-i" || strings.HasPrefix(w.Text, "-i")) {
			continue // the key is used, not shown
		}
		if why := check(w); why != "" {
			if command.OnlyTells(name) {
				continue
			}
			return why
		}
		if command.Interpreter(name) && strings.ContainsAny(w.Text, " (\"'") {
			for _, k := range [...]string{".ssh/id_", ".aws/credentials", "/etc/shadow", ".git-credentials", ".netrc", ".gnupg/", "/environ"} {
				if strings.Contains(w.Text, k) {
					return "its code reads " + k + ", a file of keys"
				}
			}
		}
	}
	return ""
}

// keyGlob reports whether a pattern is in a folder of keys, such as ~/.ssh/*.
func keyGlob(abs string) bool {
	if !strings.ContainsAny(abs, "*?[") {
		return false
	}
	f := strings.ToLower(abs)
	for _, d := range [...]string{"/.ssh/", "/.gnupg/", "/.aws/", "/.config/gcloud/"} {
		if strings.Contains(f, d) {
			return !strings.HasSuffix(f, ".pub")
		}
	}
	return strings.HasPrefix(f, "/proc/") && strings.HasSuffix(f, "/environ") || strings.HasPrefix(f, "/etc/shad")
}

// readsDownload reports whether a command gets, directly or through other commands,
// the output of a download.
func readsDownload(cmds []shellsyntax.Command, i int) bool {
	seen := make([]bool, len(cmds))
	var walk func(i int) bool
	walk = func(i int) bool {
		for _, f := range cmds[i].From {
			if f < 0 || f >= len(cmds) || seen[f] {
				continue
			}
			seen[f] = true
			if command.Downloads(base(cmds[f])) || walk(f) {
				return true
			}
		}
		return false
	}
	return walk(i)
}
