package permission

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// The refusals apply in every mode and against every rule: to commands whose literal words
// destroy a machine or give away control of it, which no person means to allow, and to calls
// that name files of keys. They are a net for a slip. What holds a command that hides what it
// does is the sandbox.

func refusal(reason string) (Decision, bool) {
	return Decision{Verdict: Deny, By: event.ByRefusal, Reason: reason + "; pawl refuses this in every mode"}, true
}

// refuse looks for what is refused in a whole call.
func (p *Policy) refuse(c Call, cmds []shellsyntax.Command) (Decision, bool) {
	places := slices.Clone(c.Footprint.Resolved)
	for _, s := range c.Footprint.Reads {
		places = append(places, tool.ResolvedPath{Path: p.abs(s.Path)})
	}
	for _, s := range c.Footprint.Writes {
		places = append(places, tool.ResolvedPath{Path: p.abs(s.Path), Write: true})
	}
	for _, l := range places {
		does := "reads "
		if l.Write {
			does = "writes "
		}
		switch {
		case l.Maybe:
		case l.Write && gitControl(l.Path):
			return refusal("it writes " + p.shown(l.Path) + ", which decides what git runs")
		case p.keyFile(l.Path) && !(l.Write && p.inside(l.Path)):
			return refusal("it " + does + p.shown(l.Path) + ", a file of keys")
		}
	}
	held := p.held(c.Footprint)
	for i, cmd := range cmds {
		why := cmp.Or(p.refuseRemoval(cmd), breaksMachine(cmd))
		inner := command.Behind(cmd)
		for _, c := range inner {
			why = cmp.Or(why, p.refuseRemoval(c), breaksMachine(c))
		}
		if !held { // the kernel keeps these
			why = cmp.Or(why, p.refuseFiles(cmd))
		}
		if why == "" && (eatsCode(cmd) || slices.ContainsFunc(inner, eatsCode)) && readsDownload(cmds, i) {
			why = "it runs what it downloads, unseen: download to a file, read it, then ask to run it"
		}
		if why != "" {
			return refusal(why)
		}
	}
	return Decision{}, false
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
			return false // everything in the workspace is kept, and undo brings it back
		}
	}
	abs = path.Clean(abs)
	if abs == "/" || p.cfg.Root != "" && under(p.cfg.Root, abs) || p.cfg.Home != "" && under(p.cfg.Home, abs) {
		return true
	}
	parts := strings.Split(strings.Trim(strings.ToLower(abs), "/"), "/")
	switch parts[0] {
	case "home", "users", "usr", "etc", "system", "library", "var", "private":
		return len(parts) <= 2 && !(len(parts) == 2 && parts[1] == "tmp")
	case "bin", "boot", "dev", "lib", "lib32", "lib64", "opt", "proc", "root", "run", "sbin", "srv", "sys", "applications", "volumes", "mnt", "media", "tmp":
		return len(parts) == 1
	}
	return false
}

// refuseRemoval refuses rm -rf / and its like.
func (p *Policy) refuseRemoval(c shellsyntax.Command) string {
	verb, whole, words := "removes ", false, c.Words
	switch name := base(c); {
	case name == "rm":
	case name == "chmod", name == "chown", name == "chgrp":
		verb = "changes the rights of "
	case name == "mv" && len(words) > 2:
		whole, words = true, words[:len(words)-1]
	case name == "find" && slices.ContainsFunc(words, func(w shellsyntax.Word) bool { return w.Text == "-delete" || w.Text == "rm" }):
		whole = len(words) > 2 && strings.HasPrefix(words[2].Text, "-") && !slices.ContainsFunc(words, func(w shellsyntax.Word) bool {
			return strings.HasSuffix(w.Text, "name") || strings.HasSuffix(w.Text, "path") || strings.HasPrefix(w.Text, "-m") || strings.HasSuffix(w.Text, "regex")
		})
		words = words[:2]
	default:
		return ""
	}
	for _, w := range words[1:] {
		if strings.HasPrefix(w.Text, "--") {
			whole = whole || len(w.Text) > 3 && strings.HasPrefix("--recursive", w.Text)
		} else if strings.HasPrefix(w.Text, "-") {
			whole = whole || strings.ContainsAny(w.Text, "rR")
		}
	}
	if !whole {
		return ""
	}
	for _, w := range words[1:] {
		if strings.HasPrefix(w.Text, "-") {
			continue
		}
		for _, abs := range c.Forms(w) {
			switch {
			case abs == p.cfg.Root && (verb != "removes " || base(c) == "find"), !p.precious(abs): // what is in the workspace is kept
			case !w.Known:
				return "it " + verb + shorten(w.Text) + ", which is " + abs + " where the variable is empty"
			default:
				return "it " + verb + abs + " with everything in it"
			}
		}
	}
	return ""
}

// breaksMachine refuses writes to a disk itself, new file systems and switching off.
func breaksMachine(c shellsyntax.Command) string {
	for _, r := range c.Redirects {
		if r.Writes() && disk(r.Target.Text) {
			return "it writes to the disk " + r.Target.Text + " itself"
		}
	}
	name := base(c)
	switch {
	case slices.Contains([]string{"shutdown", "reboot", "halt", "poweroff"}, name),
		name == "systemctl" && slices.ContainsFunc(c.Words, func(w shellsyntax.Word) bool {
			return slices.Contains([]string{"poweroff", "reboot", "halt", "kexec"}, w.Text)
		}):
		return "it switches the machine off"
	case strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs"):
		return "it makes a new file system over what is there"
	case slices.Contains([]string{"dd", "tee", "cp", "shred", "wipefs", "fdisk", "parted", "truncate"}, name):
		for i, w := range c.Words[1:] {
			if t := strings.TrimPrefix(w.Text, "of="); disk(t) && (name != "cp" || i == len(c.Words)-2) {
				return "it writes to the disk " + t + " itself"
			}
		}
	}
	return ""
}

func disk(s string) bool {
	rest, ok := strings.CutPrefix(path.Clean(s), "/dev/")
	return ok && slices.ContainsFunc([]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "loop", "dm-", "mem", "kmem", "port"}, func(p string) bool {
		return strings.HasPrefix(rest, p)
	})
}

// refuseFiles refuses files of keys among the words of a command that no kernel holds, and
// changes of git's hooks and configuration.
func (p *Policy) refuseFiles(c shellsyntax.Command) string {
	if base(c) == "git" {
		if g := command.ParseGit(c.Words[1:]); g.Sub == "config" && command.ConfigWrites(g.Args) {
			return "it changes git's configuration, which decides what git runs"
		}
	}
	reads := len(c.Words) > 1 && p.commandPart(c).readOnly
	file := func(w shellsyntax.Word, writes bool) string {
		for _, abs := range c.Candidates(w) {
			if p.cfg.Home == "" && strings.HasPrefix(abs, "~") {
				abs = "/home/someone" + strings.TrimPrefix(abs, "~")
			}
			switch {
			case p.keyFile(abs) || p.keyFile(path.Dir(abs)) && path.Base(abs) == "*":
				return "it reads " + shorten(w.Text) + ", a file of keys"
			case writes && gitControl(abs):
				return "it writes " + p.shown(abs) + ", which decides what git runs"
			}
		}
		return ""
	}
	why := ""
	for i, w := range c.Words[min(1, len(c.Words)):] {
		if c.Words[i].Text == "-i" && strings.HasPrefix(base(c), "s") {
			continue // ssh, scp and sftp use the key and do not show it
		}
		why = cmp.Or(why, file(w, !reads))
	}
	for _, r := range c.Redirects {
		why = cmp.Or(why, file(r.Target, r.Writes()))
	}
	return why
}

// eatsCode reports whether a command runs its input as code.
func eatsCode(c shellsyntax.Command) bool {
	switch name := base(c); {
	case c.Code, len(c.Words) > 0 && !c.Words[0].Known:
		return true
	case shellsyntax.Shell(name), name == "source", name == ".", strings.HasPrefix(name, "python"), name == "node", name == "ruby", name == "perl", name == "php":
		return !slices.ContainsFunc(c.Words[1:], func(w shellsyntax.Word) bool {
			return w.Known && !strings.HasPrefix(w.Text, "-") && w.Text != "/dev/stdin"
		})
	}
	return false
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
			if name := base(cmds[f]); name == "curl" || name == "wget" || walk(f) {
				return true
			}
		}
		return false
	}
	return walk(i)
}
