package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Proof is what exit code 0 of a check proves about a project.
type Proof int

const (
	Styled Proof = iota // nothing is wrong with its style: a linter
	Builds              // it compiles
	Tests               // its tests pass, if it has any
	Wraps               // whatever the project's own files define
)

// Output is the program in whose format a check prints its tests.
type Output int

// The known outputs. Scripts is that of a package manager, which prints the project's
// script before it runs it.
const (
	NoOutput Output = iota
	GoOutput
	RustOutput
	ScriptsOutput
	JavaScriptOutput
	TAPOutput
	PytestOutput
	UnittestOutput
	JVMOutput
	DotnetOutput
	CTestOutput
	BazelOutput
	RubyOutput
	PHPOutput
	SwiftOutput
	ZigOutput
	lastOutput
)

// Outputs returns all outputs but NoOutput.
func Outputs() []Output {
	var out []Output
	for o := NoOutput + 1; o < lastOutput; o++ {
		out = append(out, o)
	}
	return out
}

// Check is a command whose exit code shows whether a project is sound.
type Check struct {
	Proof    Proof
	Compiles bool // of a check that tests: it has also compiled the project
	Output   Output
	Command  shellsyntax.Command
	Words    []string

	program *check
	line    *checkLine
	through string   // the runners before it that may turn it into another check
	rest    []string // the words after those that name the check
}

// CheckOf returns the check that a command is. ok is false if it is none, or if its
// exit code may be another command's.
func CheckOf(c shellsyntax.Command) (k Check, ok bool) {
	k.Command = c
	if c.Background || c.Piped || c.Func || c.Code || !Transparent(c) {
		return k, false
	}
	for _, w := range c.Words {
		if !w.Known {
			return k, false
		}
		k.Words = append(k.Words, w.Text)
	}
	for _, a := range c.Assigns {
		if name, _, _ := strings.Cut(a, "="); !SafeVariable(name) && name != "PYTHONPATH" {
			return k, false // it may turn it into another program
		}
	}
	line, through := spelled(strings.Join(k.Words, " "))
	for _, p := range checks() {
		for j := range p.lines {
			l := &p.lines[j]
			if rest, fits := afterWords(line, l.words); fits && (k.line == nil || len(l.words) > len(k.line.words)) {
				k.program, k.line, k.rest = p, l, strings.Fields(rest)
			}
		}
	}
	if k.line == nil {
		return k, false
	}
	k.Proof, k.Compiles, k.Output, k.through = k.line.proof, k.line.compiles, k.line.output, through
	for i, w := range k.Words {
		next := ""
		if i+1 < len(k.Words) {
			next = k.Words[i+1]
		}
		if k.program.hollow(w, next) {
			return k, false
		}
	}
	return k, true
}

// spelled returns a line in the form that the table of checks has, and the removed
// prefixes that may turn it into another check.
func spelled(line string) (_, through string) {
	for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/local/bin/"} { // the agent cannot write there
		if rest, ok := strings.CutPrefix(line, dir); ok {
			line, through = rest, dir+" "
			break
		}
	}
	for again := true; again; {
		again = false
		for _, s := range spellings {
			if rest, ok := afterWords(line, s.typed); ok {
				line, again = strings.TrimSpace(s.means+" "+rest), true
				if !s.same {
					through += s.typed + " "
				}
				break
			}
		}
	}
	return line, through
}

// afterWords returns the text after words at the start of a line.
func afterWords(line, words string) (string, bool) {
	rest, ok := strings.CutPrefix(line, words)
	return strings.TrimPrefix(rest, " "), ok && (rest == "" || rest[0] == ' ')
}

// hollow reports whether a word on a check's command line means that nothing is
// checked: a build of other contents than those on disk, a program that runs nothing,
// or something other than the tests, or whose exit code does not depend on them.
func (p *check) hollow(word, next string) bool {
	if !strings.HasPrefix(word, "-") {
		name, _, ok := strings.Cut(word, "=")
		return p.targets && ok && name != "V" && name != "VERBOSE" // any other variable may change what runs
	}
	name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if !has {
		value = next
	}
	if slices.Contains(hollowAnywhere, name) || slices.Contains(strings.Fields(p.hollowFlags), name) {
		return true
	}
	if p.noTests != "" && name == p.noTests && (value == "^$" || value == "$^") {
		return true
	}
	return p.hollowLetters != "" && !strings.HasPrefix(word, "--") && onlyLetters(name) && strings.ContainsAny(name, p.hollowLetters)
}

func onlyLetters(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// IsCheck reports whether exit code 0 of a command line is that of a check: the last
// command is a check, it does not run in the background, and nothing can hide its
// failure (a pipe into another command, `|| true`, `; echo`).
func IsCheck(line string) bool {
	_, _, ok := LastCheck(line, "/")
	return ok
}

// LastCheck parses a line that runs in a folder and whose last command, a check,
// determines its exit code. before are the commands in front of the check.
func LastCheck(line, dir string) (before []shellsyntax.Command, last Check, ok bool) {
	line = strings.TrimSpace(line)
	cmds, err := Parse(line, dir)
	if err != nil || len(cmds) == 0 {
		return nil, last, false
	}
	before = cmds[:len(cmds)-1]
	if last, ok = CheckOf(cmds[len(cmds)-1]); !ok || slices.ContainsFunc(before, mayEnd) {
		return before, last, false
	}
	end, ok := shellsyntax.EndOf(line) // last: few lines end with a check
	return before, last, ok && end.Filters == ""
}

// mayEnd reports whether a command in front of others can end the line with exit code 0, or
// make another program of what follows.
func mayEnd(c shellsyntax.Command) bool {
	if len(c.Words) > 0 && !c.Words[0].Known || c.Background || slices.Contains(c.Wrappers, "exec") {
		return true
	}
	name, _ := c.Program()
	switch name {
	case "", "export", "declare", "typeset", "readonly": // for the commands behind it
		sets := slices.Clone(c.Assigns)
		for _, w := range c.Words[min(1, len(c.Words)):] {
			sets = append(sets, w.Text)
		}
		return slices.ContainsFunc(sets, func(a string) bool { v, _, _ := strings.Cut(a, "="); return !SafeVariable(v) })
	case "exit", "exec", "return", "trap", "alias", "unalias", "shopt", "enable", "hash", "eval", "source", ".", "break", "continue", "kill":
		return true
	case "set":
		return !ReadOnly(c)
	}
	return false
}

// Decides returns the statement of a line whose exit code is the line's, as IsCheck reads it:
// "go test ./..." of "gofmt -l .; go test ./...".
func Decides(line string) string {
	line = strings.TrimSpace(line)
	if end, ok := shellsyntax.EndOf(line); ok {
		return line[end.From:]
	}
	return line
}

// OnlyAnd reports whether a line's only operators are && and redirections of file
// descriptors: the line's exit code is then that of the last command, or of an earlier
// one that failed.
func OnlyAnd(line string) bool {
	line = strings.ReplaceAll(line, "&&", "")
	line = strings.ReplaceAll(line, "2>&1", "")
	return !strings.ContainsAny(line, "|&;\n!") &&
		!strings.Contains(strings.ReplaceAll(line, " ", ""), "()") && !strings.Contains(line, "function ") // it defines no function
}

// Compiled reports whether exit code 0 of the check shows that the project
// compiles.
func (k Check) Compiled() bool {
	return k.Proof == Builds || k.Compiles ||
		k.program.targets && slices.ContainsFunc(k.rest, func(w string) bool { return w == "build" || w == "all" || w == "compile" })
}

// MayWrite reports whether it may do more than check: a target of make or just can be
// anything, unless its name tells.
func (k Check) MayWrite() bool {
	targets := slices.DeleteFunc(slices.Clone(k.rest), func(w string) bool { return strings.HasPrefix(w, "-") })
	return k.program.targets && (len(targets) == 0 || slices.ContainsFunc(targets, func(w string) bool {
		return !Listed(" test tests check lint vet typecheck ", w)
	}))
}

// Verbose reports whether the check is to name each test. env are variables
// (NAME=value) that it gets in addition to its words.
func (k Check) Verbose(env []string) bool {
	return k.Output == GoOutput && (slices.ContainsFunc(k.Words, func(w string) bool {
		return w == "-v" || w == "--v" || w == "-v=true" || w == "-test.v" || w == "-json" || w == "--json"
	}) || slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "GOFLAGS=") && strings.Contains(e, "-v") }))
}

// Looked returns the paths in the check's words that may lead out of its own folder: in
// are the values of flags that set a folder, such as -C; others are the words that
// begin with ".." or "/".
func (k Check) Looked() (in, others []string) {
	for i, w := range k.Words[1:] {
		if name, value, has := strings.Cut(w, "="); folderFlag(name) {
			if !has && i+2 < len(k.Words) {
				value = k.Words[i+2]
			}
			in = append(in, value)
			continue
		}
		if strings.HasPrefix(w, "..") || strings.HasPrefix(w, "/") {
			others = append(others, w)
		}
	}
	return in, others
}

// folderFlag reports whether a flag sets the folder of a check.
func folderFlag(name string) bool {
	switch name {
	case "-C", "--directory", "--prefix", "--cwd", "--dir", "--manifest-path", "--project", "--rootDir", "--root", "--rootdir":
		return true
	}
	return false
}
