package command

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Destruction is what a command removes, or takes the rights of, with all below.
type Destruction struct {
	Targets []shellsyntax.Word
	Root    bool // it is told not to spare the root
	Narrow  bool // only some files below the targets
	Rights  bool // it changes rights and removes nothing
}

// Destroys returns what a command destroys whole. Name is its program's base
// name; ok is false where it removes nothing, or single files.
func Destroys(name string, c shellsyntax.Command) (d Destruction, ok bool) {
	switch name {
	case "rm", "chmod", "chown", "chgrp":
		d.Rights = name != "rm"
		for i, w := range c.Words[1:] {
			t := w.Text
			switch {
			case t == "--no-preserve-root":
				d.Root = true
				return d, true
			case w.Known && strings.HasPrefix(t, "--"):
				ok = ok || len(t) > 3 && strings.HasPrefix("--recursive", t)
			case w.Known && len(t) > 1 && t[0] == '-':
				ok = ok || strings.ContainsAny(t, "rR")
			case !w.Known && i == 0:
				ok = true // it may be -rf
				d.Targets = append(d.Targets, w)
			default:
				d.Targets = append(d.Targets, w)
			}
		}
	case "find":
		ok = hasWord(c.Words, "-delete", "rm", "shred", "unlink")
		for _, w := range c.Words[1:] {
			if w.Known && strings.HasPrefix(w.Text, "-") {
				break
			}
			d.Targets = append(d.Targets, w)
		}
		d.Narrow = hasWord(c.Words, "-name", "-iname", "-path", "-ipath", "-regex", "-newer", "-mtime", "-mmin", "-size", "-empty")
	case "mv":
		if ok = len(c.Words) > 2; ok {
			d.Targets = c.Words[1 : len(c.Words)-1]
		}
	case "rsync":
		// Options may stand behind the operands.
		var operands []shellsyntax.Word
		source := false
		for _, w := range c.Words[1:] {
			switch {
			case w.Known && strings.HasPrefix(w.Text, "--del"):
				ok = true
			case w.Known && strings.HasPrefix(w.Text, "--remove-s"):
				source = true
			case !w.Known || !strings.HasPrefix(w.Text, "-"):
				operands = append(operands, w)
			}
		}
		if n := len(operands); n > 0 && ok {
			d.Targets = append(d.Targets, operands[n-1])
		}
		if n := len(operands); n > 1 && source {
			d.Targets, ok = append(d.Targets, operands[:n-1]...), true
		}
	}
	return d, ok
}

func hasWord(words []shellsyntax.Word, texts ...string) bool {
	return slices.ContainsFunc(words, func(w shellsyntax.Word) bool { return slices.Contains(texts, w.Text) })
}

// Deletes returns the words that name what a command removes or empties, whatever
// its other words are.
func Deletes(name string, c shellsyntax.Command) []shellsyntax.Word {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "truncate":
		return c.Words[1:]
	case "find":
		if !slices.ContainsFunc(c.Words, func(w shellsyntax.Word) bool { return w.Text == "-delete" }) {
			return nil
		}
		return c.Words[1:2]
	}
	return Effects(c).Removes
}

// Reader reports whether a program writes no file it names, whatever its options.
func Reader(name string) bool {
	switch name {
	case "cat", "ls", "grep", "head", "tail", "wc", "stat", "file", "rg", "less", "diff":
		return true
	}
	return false
}

// Breaks returns why a command would break the machine: disks and power; ""
// where it would not.
func Breaks(name string, c shellsyntax.Command) string {
	for _, r := range c.Redirects {
		if r.Writes() && r.Target.Known && disk(r.Target.Text) {
			return "it writes to the disk " + r.Target.Text + " itself"
		}
	}
	args := ""
	for _, w := range c.Words[min(1, len(c.Words)):] {
		args += " " + w.Text
	}
	switch name {
	case "shutdown", "reboot", "halt", "poweroff", "telinit":
		return "it switches the machine off"
	case "init":
		if args == " 0" || args == " 6" {
			return "it switches the machine off"
		}
	case "systemctl", "loginctl":
		for _, v := range [...]string{" poweroff", " reboot", " halt", " kexec", " suspend", " hibernate", " emergency", " rescue"} {
			if strings.Contains(args+" ", v+" ") {
				return "it switches the machine off"
			}
		}
	case "wipefs", "fdisk", "sfdisk", "gdisk", "parted", "mkswap", "blkdiscard", "diskpart":
		return "it changes a disk itself"
	case "dd", "shred", "cp", "tee", "truncate":
		for _, w := range c.Words[1:] {
			t := strings.TrimPrefix(w.Text, "of=")
			if disk(t) && (name != "dd" || strings.HasPrefix(w.Text, "of=")) && (name != "cp" || w == c.Words[len(c.Words)-1]) {
				return "it writes to the disk " + t + " itself"
			}
		}
	case "kill":
		if strings.HasSuffix(args, " -1") && strings.Count(args, " -") > 1 {
			return "it ends every process"
		}
	case "killall5":
		return "it ends every process"
	}
	if name == "mkfs" || strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "newfs") || name == "mke2fs" {
		return "it makes a new file system over what is there"
	}
	return ""
}

func disk(s string) bool {
	rest, ok := strings.CutPrefix(path.Clean(s), "/dev/")
	if !ok {
		return false
	}
	for _, p := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "loop", "dm-", "mem", "kmem", "port"} {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}

// EatsCode reports whether a command runs what it is given as code.
func EatsCode(name string, c shellsyntax.Command) bool {
	if c.Code || len(c.Words) > 0 && !c.Words[0].Known {
		return true
	}
	args := c.Words[min(1, len(c.Words)):]
	switch {
	case name == "source" || name == ".":
		return true
	case shellsyntax.Shell(name):
		inv := shellsyntax.ShellArgs(args)
		return inv.Code == nil || !inv.Code.Known
	case Interpreter(name) && !editorOrFilter(name):
		// Code on standard input, or in a file that is another's output; with
		// a script or -c of its own, what comes in is data.
		need := Executing(shellsyntax.Command{Words: c.Words})
		if (len(need) == 0 || need[0] == "\x00") && !hasOperand(args) {
			return true
		}
		return slices.ContainsFunc(args, func(w shellsyntax.Word) bool { return !w.Known })
	}
	return false
}

func editorOrFilter(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "awk", "gawk", "mawk", "nawk", "sed", "vim", "vi", "ex", "nvim", "emacs", "ed", "gdb", "lldb":
		return true
	}
	return false
}

// Downloads reports whether a command brings what others wrote.
func Downloads(name string) bool {
	switch name {
	case "curl", "wget", "fetch", "aria2c", "http", "https", "lynx", "w3m", "nc", "ncat", "socat", "ftp", "tftp", "scp", "gh":
		return true
	}
	return false
}

// Final reports whether a command throws away for good what no copy is kept
// of, wherever that is. Name is its program's base name.
func Final(name string, c shellsyntax.Command) bool {
	has := func(words []shellsyntax.Word, any ...string) bool {
		return slices.ContainsFunc(words, func(w shellsyntax.Word) bool {
			return !w.Known && !w.Glob || slices.ContainsFunc(any, func(s string) bool {
				return w.Text == s || strings.HasPrefix(w.Text, s+"=") || len(s) == 2 && s[0] == '-' && len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, s[1:])
			})
		})
	}
	if len(c.Words) == 0 {
		return false
	}
	switch args := c.Words[1:]; name {
	case "shred", "mkfs", "wipefs", "blkdiscard":
		return true
	case "dd":
		return slices.ContainsFunc(args, func(w shellsyntax.Word) bool { return !w.Known || strings.HasPrefix(w.Text, "of=/") })
	case "rsync":
		return slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
			return !w.Known || strings.HasPrefix(w.Text, "--del") || strings.HasPrefix(w.Text, "--remove")
		})
	case "git":
		g := ParseGit(args)
		switch g.Sub {
		case "stash":
			return has(g.Args, "drop", "clear")
		case "branch":
			return has(g.Args, "-D", "-d", "--delete")
		case "tag":
			return has(g.Args, "-d", "--delete")
		case "clean", "gc", "prune", "filter-branch":
			return true
		case "reflog":
			return has(g.Args, "expire", "delete")
		}
	case "docker", "podman":
		return has(args, "prune", "rm", "rmi", "down")
	case "kubectl", "terraform", "helm":
		return has(args, "delete", "destroy", "uninstall")
	}
	return false
}
