package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// chmod returns the effect of chmod: a mode, which may begin with a dash, and files.
func chmod(_ string, args []shellsyntax.Word) Effect {
	e := Effect{Kind: Writes}
	mode := false
	for _, a := range args {
		t := a.Text
		switch {
		case !a.Known && !mode:
			return other("a mode of chmod that cannot be known before")
		case a.Known && (t == "-R" || t == "--recursive"):
			e.Recursive = true
		case a.Known && (t == "-c" || t == "-f" || t == "-v" || t == "--changes" || t == "--quiet" || t == "--silent" || t == "--verbose" || t == "--"):
		case a.Known && strings.HasPrefix(t, "-") && (mode || strings.Trim(t[1:], "rwxXst") != ""):
			return other("chmod " + t + " is not known to be harmless")
		case !mode:
			mode = true
		default:
			e.Writes = append(e.Writes, a)
		}
	}
	return e
}

// plainMode reports whether a mode only makes a file executable or readable, which an
// edit may need.
func plainMode(args []shellsyntax.Word) bool {
	return len(args) > 0 && isOneOf(args[0], "+x", "a+x", "u+x", "ug+x", "755", "0755", "644", "0644", "+r", "u+rw")
}

// copies returns the effect of cp, mv and ln: the last operand is the target.
func (r usage) copies(name string, args []shellsyntax.Word) Effect {
	opts, operands, why := r.scan(args)
	if why != "" {
		return other(name + " " + why)
	}
	e := Effect{Kind: Writes}
	var target []shellsyntax.Word
	symbolic := false
	for _, o := range opts {
		switch {
		case o.is("-t --target-directory"):
			target = append(target, o.value)
		case o.is("-s --symbolic"):
			symbolic = true
		case o.is("-r -R -a --recursive --archive"):
			e.Recursive = true
		case o.is("-S --suffix") && (!o.value.Known || strings.Contains(o.value.Text, "/")):
			return other(name + " with a backup somewhere else")
		case o.is("--exchange"):
			return other(name + " --exchange changes both files")
		}
	}
	if len(target) == 0 && len(operands) > 1 {
		target, operands = operands[len(operands)-1:], operands[:len(operands)-1]
	}
	e.Writes = target
	switch name {
	case "mv":
		e.Removes = operands
	case "ln":
		if symbolic && !linkInside(operands, target) {
			return other("a link to another folder makes paths mean something else")
		}
		e.Reads = operands
	default:
		e.Reads = operands
	}
	return e
}

// linkInside reports whether a new symbolic link stays inside: its text is relative to
// the link's own folder, so only plain names and downward paths are certain to.
func linkInside(operands, target []shellsyntax.Word) bool {
	for _, o := range append(operands[:len(operands):len(operands)], target...) {
		if !o.Known || strings.HasPrefix(o.Text, "/") || slices.Contains(strings.Split(o.Text, "/"), "..") || strings.HasPrefix(o.Text, "~") {
			return false
		}
	}
	return true
}
