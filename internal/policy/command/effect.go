package command

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Kind is what a command does, as far as its words show.
type Kind int

// The kinds of commands.
const (
	Other  Kind = iota // unknown, or it runs, sends or changes what its words do not name
	Reads              // it only reads
	Writes             // it changes the files that it names, and nothing else
)

// Effect is what a command does to which paths. Paths are written as in the words:
// relative ones are relative to the command's Dir. Redirections are not included.
type Effect struct {
	Kind    Kind
	Reads   []shellsyntax.Word
	Writes  []shellsyntax.Word
	Removes []shellsyntax.Word
	// Recursive: what is removed is removed with everything below it.
	Recursive bool
	// Why is the reason for Other, in a few words.
	Why string
}

func other(why string) Effect { return Effect{Why: why} }

// SafeDevice reports whether a path is a device to which a write destroys nothing:
// /dev/null and what is already open.
func SafeDevice(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return true
	}
	for _, dir := range [...]string{"/dev/fd/", "/proc/self/fd/"} {
		if n, ok := strings.CutPrefix(p, dir); ok {
			return n != "" && strings.Trim(n, "0123456789") == ""
		}
	}
	return false
}

// SafeSource reports whether a path is a device that anyone may read.
func SafeSource(p string) bool {
	switch p {
	case "/dev/stdin", "/dev/zero", "/dev/random", "/dev/urandom":
		return true
	}
	return SafeDevice(p)
}

// Effects returns the effect of a command.
func Effects(c shellsyntax.Command) Effect {
	e := effects(c)
	if why := fedUnknown(c, e); why != "" {
		return other(why)
	}
	if e.Kind == Writes && slices.ContainsFunc(c.Wrappers, func(w string) bool { return known(w).has(feeds) }) {
		return other(c.Wrappers[len(c.Wrappers)-1] + " changes files that its words do not name")
	}
	return e
}

func effects(c shellsyntax.Command) Effect {
	for _, a := range c.Assigns {
		if name, _, _ := strings.Cut(a, "="); len(c.Words) > 0 && !SafeVariable(name) || len(c.Words) == 0 && LoadedVariable(name) {
			return other("it sets " + name + ", which programs obey")
		}
	}
	if why := wrapped(c); why != "" {
		return other(why)
	}
	if len(c.Words) == 0 {
		return Effect{Kind: Reads}
	}
	if c.Func {
		return Effect{Kind: Reads} // its body is listed separately
	}
	if c.Code {
		return other("it runs code that cannot be known before")
	}
	name, plain := c.Program()
	switch {
	case !c.Words[0].Known:
		return other("which program it runs cannot be known before")
	case !plain:
		return other(c.Words[0].Text + " may be any program")
	}
	args, row := c.Words[1:], known(name)
	if len(args) == 1 && isOneOf(args[0], "--version", "--help", "-V", "-version") && row.has(tellsVersion) ||
		len(args) == 1 && isOneOf(args[0], "-v") && row.has(vTells) {
		return Effect{Kind: Reads}
	}
	if shellsyntax.Shell(name) && told(args) {
		return Effect{Kind: Reads} // its commands are listed separately
	}
	switch {
	case row.has(listsVariables) && len(args) == 0 && len(c.Assigns) == 0:
		return other(name + " prints every variable")
	case row.has(tells):
		return Effect{Kind: Reads}
	case row != nil && row.effect != nil:
		return row.effect(name, args)
	case row != nil && row.usage != nil:
		return row.usage.effect(name, args)
	}
	return other(name + " is not known to be harmless")
}

// told reports whether a shell runs nothing but the text of its -c or of its standard
// input, which Parse parsed.
func told(args []shellsyntax.Word) bool {
	inv := shellsyntax.ShellArgs(args)
	if inv.Script != nil || inv.Unknown || inv.Code == nil && !inv.Stdin {
		return false
	}
	for i, a := range args {
		if a.Text == "" || a.Text[0] != '-' || a.Text == "-" {
			return true
		}
		if strings.Trim(a.Text[1:], "ceuxlsv") != "" && !(strings.Trim(a.Text[1:], "ceuxlsvo") == "" && i+1 < len(args) && args[i+1].Text == "pipefail") {
			return false
		}
		if strings.HasSuffix(a.Text, "o") {
			break
		}
	}
	return true
}

// wrapped returns why a wrapper may change what the command is, or has an option that
// is not known to be harmless; "" if neither.
func wrapped(c shellsyntax.Command) string {
	via := c.Via
	for k, n := range c.Wrappers {
		// A wrapper's words end where the name of the next one begins.
		end := len(via)
		if k+1 < len(c.Wrappers) {
			for end = 1; end < len(via) && path.Base(via[end].Text) != c.Wrappers[k+1]; end++ {
			}
		}
		if len(via) == 0 {
			return n + " with words that are not known"
		}
		if d, _ := path.Split(via[0].Text); d != "" && !strings.HasPrefix(d, "/usr/bin/") && d != "/bin/" {
			return via[0].Text + " may be any program"
		}
		args := via[1:end]
		via = via[end:]
		row := known(n)
		switch {
		case row.inner != "":
			continue // its words belong to its own command
		case row == nil || row.has(alters):
			return n + " runs it with other rights or in another program"
		case row.has(assigns):
			// Options remove or move what Closed sets.
			if slices.ContainsFunc(args, func(w shellsyntax.Word) bool { return !Assignment(w.Text) }) {
				return n + " with options changes what later programs are given"
			}
			continue
		}
		r := row.wraps.usage
		r.operands, r.exact = text, true
		opts, _, why := r.read(args)
		if why != "" {
			return n + " " + why
		}
		for _, o := range opts {
			if strings.Contains(o.marks, "!") {
				return n + " " + o.name + " is not known to be harmless"
			}
		}
	}
	return ""
}

// Touched returns the absolute paths that commands are known to read and to change, in
// their words and redirections. Paths that cannot be known are missing. It is for
// callers that can follow links: a path that leads out of the workspace belongs in the
// footprint as the path that it leads to.
func Touched(cmds []shellsyntax.Command) (reads, writes []string) {
	add := func(list *[]string, c shellsyntax.Command, words []shellsyntax.Word) {
		for _, w := range words {
			paths, ok := c.Paths(w)
			for _, p := range paths {
				if ok && !slices.Contains(*list, p) {
					*list = append(*list, p)
				}
			}
		}
	}
	for _, c := range cmds {
		e := Effects(c)
		add(&reads, c, e.Reads)
		add(&writes, c, e.Writes)
		add(&writes, c, e.Removes)
		for _, r := range c.Redirects {
			if r.Writes() {
				add(&writes, c, []shellsyntax.Word{r.Target})
			} else {
				add(&reads, c, []shellsyntax.Word{r.Target})
			}
		}
	}
	return reads, writes
}
