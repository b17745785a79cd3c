package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// BuildFile is a kind of file that defines the commands that a program runs.
type BuildFile int

// The kinds of build files.
const (
	NoBuildFile BuildFile = iota
	Makefile
	Justfile
	PackageJSON
	ToxINI
)

// Files returns the names that programs look for in a folder, in their order.
func (b BuildFile) Files() []string {
	switch b {
	case Makefile:
		return []string{"GNUmakefile", "makefile", "Makefile"}
	case Justfile:
		return []string{"justfile", "Justfile", ".justfile"}
	case PackageJSON:
		return []string{"package.json"}
	case ToxINI:
		return []string{"tox.ini"}
	}
	return nil
}

// BuildFileOf returns the kind of build file that a program uses.
func BuildFileOf(name string) BuildFile {
	if p := known(name); p != nil {
		return p.builds
	}
	return NoBuildFile
}

// ExecutingFlag reports whether an argument of a program is a flag, perhaps with its
// value, that makes the program run something.
func ExecutingFlag(name, arg string) bool {
	for flag := range strings.FieldsSeq(executingFlags(name)) {
		if isFlag(arg, flag) {
			return true
		}
	}
	return false
}

// ThroughRunner reports whether a program's arguments make it run its commands through
// another program.
func ThroughRunner(name string, args []shellsyntax.Word) bool {
	p := known(name)
	return p != nil && slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
		flag, _, _ := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		return slices.Contains(strings.Fields(p.runner), flag)
	})
}

// SharesFolder reports whether a program runs a container that may get access to the
// folder.
func SharesFolder(name string, args []shellsyntax.Word) bool {
	return known(name).has(containers) && len(args) > 0 && args[0].Text != "build" && slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
		return !w.Known || w.Text == "compose" || w.Text == "bake" || strings.HasPrefix(w.Text, "-v") || strings.HasPrefix(w.Text, "--volume") || strings.HasPrefix(w.Text, "--mount")
	})
}
