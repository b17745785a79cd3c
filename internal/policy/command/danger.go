package command

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Destruction is what a command removes, or whose rights it changes, with everything
// below.
type Destruction struct {
	Targets []shellsyntax.Word
	Root    bool // the option that protects the root is off
	Narrow  bool // only some files below the targets
	Rights  bool // it changes rights and removes nothing
}

// Destroys returns what a command destroys as a whole. name is the base name of its
// program; ok is false if it removes nothing, or only single files.
func Destroys(name string, c shellsyntax.Command) (d Destruction, ok bool) {
	if p := known(name); p != nil && p.destroys != nil {
		return p.destroys(c)
	}
	return d, false
}

// destroysAll implements Destroys for a program that removes everything that it names.
func destroysAll(c shellsyntax.Command) (d Destruction, ok bool) {
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
	return d, ok
}

// destroysRights implements Destroys for a program that changes rights.
func destroysRights(c shellsyntax.Command) (Destruction, bool) {
	d, ok := destroysAll(c)
	d.Rights = true
	return d, ok
}

func destroysFound(c shellsyntax.Command) (d Destruction, ok bool) {
	for _, w := range c.Words[1:] {
		if w.Known && strings.HasPrefix(w.Text, "-") {
			break
		}
		d.Targets = append(d.Targets, w)
	}
	d.Narrow = hasWord(c.Words, "-name", "-iname", "-path", "-ipath", "-regex", "-newer", "-mtime", "-mmin", "-size", "-empty")
	return d, hasWord(c.Words, "-delete", "rm", "shred", "unlink")
}

func destroysMoved(c shellsyntax.Command) (d Destruction, ok bool) {
	if ok = len(c.Words) > 2; ok {
		d.Targets = c.Words[1 : len(c.Words)-1]
	}
	return d, ok
}

func destroysSynced(c shellsyntax.Command) (d Destruction, ok bool) {
	// Options may follow the operands.
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
	return d, ok
}

func hasWord(words []shellsyntax.Word, texts ...string) bool {
	return slices.ContainsFunc(words, func(w shellsyntax.Word) bool { return slices.Contains(texts, w.Text) })
}

// Deletes returns the words that name what a command removes or empties. For programs
// with the trait deletes, these are all arguments.
func Deletes(name string, c shellsyntax.Command) []shellsyntax.Word {
	switch p := known(name); {
	case p.has(deletes):
		return c.Words[1:]
	case p != nil && p.removes != nil:
		return p.removes(c)
	}
	return Effects(c).Removes
}

// removesFound returns the folder in which find -delete removes files.
func removesFound(c shellsyntax.Command) []shellsyntax.Word {
	if !hasWord(c.Words, "-delete") {
		return nil
	}
	return c.Words[1:2]
}

// Breaks returns why a command would break the machine (disks, power), "" if it would
// not.
func Breaks(name string, c shellsyntax.Command) string {
	for _, r := range c.Redirects {
		if r.Writes() && r.Target.Known && disk(r.Target.Text) {
			return writesDisk(r.Target.Text)
		}
	}
	if p := known(name); p != nil && p.breaks != nil {
		return p.breaks(name, c)
	}
	if strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "newfs") {
		return makesFileSystem
	}
	return ""
}

const (
	switchesOff     = "it switches the machine off"
	changesDisk     = "it changes a disk itself"
	endsAll         = "it ends every process"
	makesFileSystem = "it makes a new file system over what is there"
)

func writesDisk(path string) string { return "it writes to the disk " + path + " itself" }

// breaks returns a function that returns why for any arguments.
func breaks(why string) func(string, shellsyntax.Command) string {
	return func(string, shellsyntax.Command) string { return why }
}

// breaksWith returns a function that returns why if one of the given words is among the
// arguments.
func breaksWith(why string, words ...string) func(string, shellsyntax.Command) string {
	return func(_ string, c shellsyntax.Command) string {
		if hasWord(c.Words[1:], words...) {
			return why
		}
		return ""
	}
}

// breaksDisk implements Breaks for a program that writes to files that it names.
func breaksDisk(_ string, c shellsyntax.Command) string { return namesDisk(c.Words[1:]) }

// breaksOutput implements Breaks for dd, which names its output after of=.
func breaksOutput(_ string, c shellsyntax.Command) string {
	return namesDisk(slices.DeleteFunc(slices.Clone(c.Words[1:]), func(w shellsyntax.Word) bool { return !strings.HasPrefix(w.Text, "of=") }))
}

// breaksTarget implements Breaks for a program that writes to the last file that it
// names.
func breaksTarget(_ string, c shellsyntax.Command) string {
	return namesDisk(c.Words[max(1, len(c.Words)-1):])
}

func namesDisk(words []shellsyntax.Word) string {
	for _, w := range words {
		if t := strings.TrimPrefix(w.Text, "of="); disk(t) {
			return writesDisk(t)
		}
	}
	return ""
}

// breaksAll implements Breaks for kill: -1 means every process.
func breaksAll(_ string, c shellsyntax.Command) string {
	args := c.Words[1:]
	options := 0
	for _, w := range args {
		if strings.HasPrefix(w.Text, "-") {
			options++
		}
	}
	if options > 1 && args[len(args)-1].Text == "-1" {
		return endsAll
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

// EatsCode reports whether a command runs its input as code.
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
	case Interpreter(name) && !Filters(name):
		// Code comes from standard input, or from a file that is another command's
		// output. With a script or -c, the input is data.
		need := Executing(shellsyntax.Command{Words: c.Words})
		if (len(need) == 0 || need[0] == "\x00") && !hasOperand(args) {
			return true
		}
		return slices.ContainsFunc(args, func(w shellsyntax.Word) bool { return !w.Known })
	}
	return false
}

// Final reports whether a command permanently deletes data of which no copy exists,
// wherever they are. name is the base name of its program.
func Final(name string, c shellsyntax.Command) bool {
	p := known(name)
	return p != nil && p.final != nil && len(c.Words) > 0 && p.final(c.Words[1:])
}

func always([]shellsyntax.Word) bool { return true }

// finalWith returns a function that reports whether one of the given words or options
// is, or may be, among the arguments.
func finalWith(texts ...string) func([]shellsyntax.Word) bool {
	return func(words []shellsyntax.Word) bool {
		return slices.ContainsFunc(words, func(w shellsyntax.Word) bool {
			return !w.Known && !w.Glob || slices.ContainsFunc(texts, func(s string) bool {
				return w.Text == s || strings.HasPrefix(w.Text, s+"=") || len(s) == 2 && s[0] == '-' && len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, s[1:])
			})
		})
	}
}

// finalStart returns a function that reports whether an argument begins, or may begin,
// with one of the given texts.
func finalStart(texts ...string) func([]shellsyntax.Word) bool {
	return func(words []shellsyntax.Word) bool {
		return slices.ContainsFunc(words, func(w shellsyntax.Word) bool {
			return !w.Known || slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(w.Text, s) })
		})
	}
}

func finalGit(args []shellsyntax.Word) bool {
	g := ParseGit(args)
	switch g.Sub {
	case "stash":
		return finalWith("drop", "clear")(g.Args)
	case "branch":
		return finalWith("-D", "-d", "--delete")(g.Args)
	case "tag":
		return finalWith("-d", "--delete")(g.Args)
	case "clean", "gc", "prune", "filter-branch":
		return true
	case "reflog":
		return finalWith("expire", "delete")(g.Args)
	}
	return false
}
