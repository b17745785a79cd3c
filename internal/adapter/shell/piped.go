package shell

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// A line such as make; echo done, or make | tail -5, ends with the exit code of its last
// command. bash knows the others, and tells them: the line begins with traps that write them
// to a pipe of pawl's, before each simple command and at the end.

// canTell: elsewhere a command cannot be given a descriptor.
const canTell = runtime.GOOS != "windows"

// Traps that stand before the line. They keep the numbers of its own lines, and the values
// that a command may ask for: $?, PIPESTATUS, and $_, which is printed with no letter of it.
// What they write fits into a pipe: after maxTold commands nothing more is told.
const (
	atEnd      = `trap 'printf "X%s %s\n%.0s" "$?" "${PIPESTATUS[*]}" "$_" >&3' EXIT; `
	beforeEach = `PAWL_N=0; trap 'printf "%s %s|%.40s\n%.0s" "$?" "${PIPESTATUS[*]}" "${BASH_COMMAND%%[!a-zA-Z0-9_ ]*}" "$_" >&3;((PAWL_N++<400))||trap - DEBUG' DEBUG; `
	maxTold    = 400
)

// disturbs matches a line that may use the descriptor of the traps, or their variables.
var disturbs = lazyregexp.New(`(^|[\s;|&(])3[<>]|[<>]&\s*["'$]*3|\}[<>]|PIPESTATUS=|IFS=`)

// telling is what stands before a line so that bash tells how its commands end, "" for
// nothing, and the line as a script if it is one.
func telling(line string) (traps string, script *shellsyntax.Script) {
	if !canTell || !strings.ContainsAny(line, "|;&\n") || disturbs().MatchString(line) {
		return "", nil
	}
	cmds, err := command.Parse(line, "/")
	if err != nil || slices.ContainsFunc(cmds, untellable) {
		return "", nil
	}
	if s, ok := shellsyntax.ScriptOf(line); ok {
		return atEnd + beforeEach, &s
	}
	if slices.ContainsFunc(cmds, func(c shellsyntax.Command) bool { return c.Piped }) {
		return atEnd, nil
	}
	return "", nil
}

// untellable reports whether a command disturbs the traps, or would show them.
func untellable(c shellsyntax.Command) bool {
	switch c.Name() {
	case "trap", "exec", "coproc", "eval", "shopt", "enable", "unset", "readonly", "hash":
		return true
	case "set":
		return slices.ContainsFunc(c.Words[1:], func(w shellsyntax.Word) bool {
			return !w.Known || w.Text == "xtrace" || w.Text == "verbose" || w.Text == "functrace" || w.Text == "allexport" || strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "xvTna")
		})
	}
	return false
}

// tells gives the command the descriptor that the traps write to, the first after the
// standard ones.
func (j *job) tells(cmd *exec.Cmd) (err error) {
	var w *os.File
	if j.told, w, err = os.Pipe(); err == nil {
		cmd.ExtraFiles = []*os.File{w}
	}
	return err
}

// hear reads how the commands ended: nothing where the line ended otherwise.
func (j *job) hear() {
	if j.told == nil {
		return
	}
	defer j.told.Close()
	var text []byte
	var buf [4096]byte
	for len(text) < 64<<10 {
		n := readNow(j.told, buf[:])
		if n <= 0 {
			break
		}
		text = append(text, buf[:n]...)
	}
	var told []shellsyntax.Told
	ended := false
	for l := range strings.Lines(string(text)) {
		l, ended = strings.CutPrefix(strings.TrimSuffix(l, "\n"), "X")
		l, next, _ := strings.Cut(l, "|")
		var codes []int
		for _, f := range strings.Fields(l) {
			code, err := strconv.Atoi(f)
			if err != nil {
				return
			}
			codes = append(codes, code)
		}
		if len(codes) < 2 {
			return
		}
		told = append(told, shellsyntax.Told{Exit: codes[0], Pipe: codes[1:], Next: next})
	}
	if j.script != nil && len(told) < maxTold {
		if n := len(told); ended && n > 0 { // the command of the trap at the end is told of too
			told = told[:n-1]
		}
		j.follow(told, ended)
	} else if n := len(told); n > 0 && len(told[n-1].Pipe) > 1 {
		j.lastPipe(told[n-1].Pipe)
	}
}

// lastPipe finds out what bash told at the end of a line that is no script: of its last
// pipeline, if nothing before it can have ended the line.
func (j *job) lastPipe(codes []int) {
	j.codes = tool.Pipe{Codes: codes}
	end, ok := shellsyntax.EndOf(strings.TrimSpace(j.command))
	before, err := command.Parse(end.Front, "/")
	if !ok || err != nil || len(end.Stages) != len(codes) || slices.ContainsFunc(before, mayEnd) {
		return
	}
	j.codes.Names = end.Stages
	if check, ok := command.Piped(j.command); ok && codes[0] != tool.CutOff {
		j.exit, j.checks = &codes[0], []tool.Ended{{Command: check, Exit: codes[0]}}
	}
}

// mayEnd reports whether a command may end the shell that runs it.
func mayEnd(c shellsyntax.Command) bool {
	return c.Func || c.Code || slices.Contains([]string{"exit", "return", "set", "kill", "source", "."}, c.Name())
}

// follow finds out what bash told of which command.
func (j *job) follow(told []shellsyntax.Told, ended bool) {
	parts, ok := j.script.Ran(told, ended)
	if !ok {
		return
	}
	j.checks = []tool.Ended{}
	for i, p := range parts {
		last := i == len(parts)-1 && ended
		if last && len(p.Codes) > 1 {
			j.codes = tool.Pipe{Codes: p.Codes, Names: p.Names}
		}
		for k, c := range p.Codes {
			failed := tool.Ended{Command: p.Names[k], Exit: c}
			if !last && c != 0 && !p.Handled && (c != tool.CutOff || len(p.Codes) == 1) && !slices.Contains(j.failed, failed) {
				j.failed = append(j.failed, failed) // of a loop once
			}
		}
		front := j.command[:p.To]
		if len(p.Codes) == 0 {
			continue
		}
		if len(p.Codes) > 1 {
			check, ok := command.Piped(front)
			if !ok || p.Codes[0] == tool.CutOff {
				continue
			}
			if front = check; last {
				j.exit = &p.Codes[0]
			}
		} else if !command.IsCheck(front) {
			continue
		}
		j.checks = append(j.checks, tool.Ended{Command: front, Exit: p.Codes[0]})
	}
}
