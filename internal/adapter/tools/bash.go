package tools

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

type bashArgs struct {
	Command     string   `json:"command" doc:"the command line"`
	Timeout     int      `json:"timeout,omitempty" doc:"seconds after which it is stopped; default 120, at most 600"`
	Background  bool     `json:"background,omitempty" doc:"return at once; for servers, watchers and what takes minutes"`
	Needs       []string `json:"needs,omitempty" doc:"what the sandbox refused before: write PATH, read PATH, host NAME or unconfined; the person is asked"`
	Description string   `json:"description,omitempty" doc:"what it does, in a few words"`
}

const (
	bashTimeout = 600 * time.Second
	// shellLimit is longer than the longest time limit of a command, so that
	// the command's own limit comes first.
	shellLimit = 11 * time.Minute
	// maxCommand is far more than a person would read before allowing it, in bytes.
	maxCommand = 100_000
)

// bashAlone is bashArgs where nobody watches, or could be asked for what a command needs.
type bashAlone struct {
	Command    string `json:"command" doc:"the command line"`
	Timeout    int    `json:"timeout,omitempty" doc:"seconds after which it is stopped; default 120, at most 600"`
	Background bool   `json:"background,omitempty" doc:"return at once; for servers, watchers and what takes minutes"`
}

// BashAlone returns Bash for a run without a person.
func BashAlone() tool.Tool {
	t := Bash()
	t.Spec.Schema = tool.Schema[bashAlone](t.Spec.Name)
	t.Example = `{"command":"go test ./...","timeout":300}`
	return t
}

// Bash returns the tool that runs a command line.
func Bash() tool.Tool {
	t := tool.New("bash",
		"Run a command line in bash, in the workspace folder. Each call starts afresh: cd and variables do not carry over. "+
			"There is no terminal and no input, so use flags that need no answer. The last line of the result gives the exit code, and those of commands that failed before the last one; "+
			"long output is cut for you. Prefer read, grep, glob and edit for files. Processes left running are ended with it; for those, use background.",
		bashFootprint, runBash)
	t.Facts = tool.Facts{Kind: tool.Exec, Aliases: []string{"exec", "execcommand", "executecommand", "localshell", "runcommand", "runshellcommand", "runterminalcmd", "sh", "shell", "shellcommand", "terminal"}, Family: tool.CommandFamily, Hooks: []string{"Bash"}}
	t.Timeout = tool.OwnLimit // that of the command, for which it may be held longer
	t.Example = `{"command":"go test ./...","timeout":300,"description":"run the tests"}`
	return t
}

// bashFootprint returns the footprint of a command line: its simple commands. A line that
// only reads conflicts only with writers; any other line may touch anything.
func bashFootprint(env tool.Env, in bashArgs) (tool.Footprint, error) {
	if err := checkCommand(in); err != nil {
		return tool.Footprint{}, err
	}
	f := tool.Footprint{Shell: in.Command, Says: in.Description, Unknown: true}
	if err := addNeeds(env, &f, in.Needs); err != nil {
		return tool.Footprint{}, err
	}
	cmds, err := parseLine(env, in.Command)
	if err != nil {
		return f, nil // a line that cannot be parsed stays unknown
	}
	f.Commands = cmds
	if command.ReadOnly(cmds...) && !in.Background && len(in.Needs) == 0 {
		f.Unknown = false
		f.Reads = []tool.Span{{Path: ".", Dir: true}}
	}
	if env.Files != nil {
		f.Resolved = append(f.Resolved, namedFiles(env.Files, cmds)...)
	}
	return f, nil
}

// maxNamed is how many names of a command line are looked up on the disk.
const maxNamed = 200

// namedFiles returns the files that the words of a line name, and where they lead: links are
// followed, patterns are matched. What a program finds by itself is not among them.
func namedFiles(files tool.Files, cmds []shellsyntax.Command) []tool.ResolvedPath {
	var out []tool.ResolvedPath
	add := func(c shellsyntax.Command, w shellsyntax.Word, write bool) {
		for _, s := range w.Parts() {
			for _, name := range c.Forms(shellsyntax.Word{Text: s, Known: true}) {
				if c.Dir.Known && !path.IsAbs(s) && strings.Contains(s, "..") {
					name = c.Dir.Text + "/" + s // the kernel follows a link before ".."
				}
				found := []string{name}
				if w.Glob {
					found, _ = filepath.Glob(name) // of a bad pattern nothing is found
				}
				for _, name := range found {
					if st, err := os.Stat(name); len(out) == maxNamed || command.SafeDevice(name) || !write && (err != nil || st.IsDir()) {
						continue
					}
					clean, inside, err := files.Resolve(name)
					if err != nil {
						continue
					}
					if inside {
						clean = path.Join(files.Root(), clean)
					}
					out = append(out, tool.ResolvedPath{Path: clean, Named: name, Write: write, Maybe: true})
				}
			}
		}
	}
	for _, c := range cmds {
		for _, w := range slices.Concat(c.Words[min(1, len(c.Words)):], c.Via) {
			add(c, w, false)
		}
		for _, r := range c.Redirects {
			if !r.Target.Proc && !command.SafeDevice(r.Target.Text) {
				add(c, r.Target, r.Writes())
			}
		}
	}
	return out
}

// parseLine parses a command line as the shell of env will parse it.
func parseLine(env tool.Env, line string) ([]shellsyntax.Command, error) {
	o := shellsyntax.Options{Home: os.Getenv("HOME")}
	if env.Files != nil {
		o.Dir = env.Files.Root()
	}
	// A plain sh parses some lines differently from bash.
	if p, ok := env.Shell.(interface{ POSIX() bool }); ok {
		o.POSIX = p.POSIX()
	}
	return command.ParseWith(line, o)
}

func checkCommand(in bashArgs) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return failf("the command is empty")
	case len(in.Command) > maxCommand:
		return failf("the command is %d bytes long, at most %d are run: write it to a file first", len(in.Command), maxCommand)
	case in.Timeout < 0:
		return failf("timeout is %d: it is seconds, 1 to 600", in.Timeout)
	}
	return nil
}

func runBash(ctx context.Context, env tool.Env, in bashArgs) (tool.Result, error) {
	if env.Shell == nil {
		return tool.Errorf("this session cannot run commands"), nil
	}
	if err := checkCommand(in); err != nil {
		return failed(err)
	}
	c := tool.Run{Command: in.Command, Out: env.Out}
	cmds, err := parseLine(env, in.Command)
	if err == nil {
		vars, bad, err := closedEnv(ctx, env, cmds)
		switch {
		case err != nil:
			return shellFailed(ctx, err)
		case bad != nil:
			return *bad, nil
		}
		c.Env = vars
	}
	if in.Timeout > 0 {
		c.Timeout = min(time.Duration(in.Timeout)*time.Second, bashTimeout)
	}
	if in.Background {
		c.Out, c.Timeout = nil, time.Duration(in.Timeout)*time.Second
		id, err := env.Shell.Start(ctx, c)
		if err != nil {
			return failed(err)
		}
		return tool.Result{
			Text: fmt.Sprintf("running in the background as %s; bash_output {\"id\":%q} shows what it prints, bash_kill {\"id\":%q} ends it", id, id, id),
			Note: "started " + id, Command: in.Command,
		}, nil
	}
	c.Idle = tool.IdleLimit
	ran, err := env.Shell.Run(ctx, c)
	if err != nil && ctx.Err() == nil {
		r, err := failed(err)
		r.Command = in.Command
		return r, err
	}
	r := ranResult(ran, in.Command, "interrupted")
	r.Seen = numberedLines(context.WithoutCancel(ctx), env, cmds, ran.Readable().Output)
	return withRefused(env, r, ran, cmds), err // if it was cancelled: with the output so far
}

// ranResult describes the result of a command for the model. running is the last line for
// a command that neither ended nor was stopped.
func ranResult(ran tool.Ran, command, running string) tool.Result {
	ran = ran.Readable()
	r := tool.Result{Exit: ran.Exit, Command: command, Checks: ran.Checks, Timeout: ran.TimedOut, Gap: ran.Gap}
	last, advice := running, "" // the second for the model only
	switch {
	case ran.Waited != nil && ran.Exit == nil:
		last = "stopped after " + took.Text(ran.Duration)
		r.Error = true
	case ran.TimedOut:
		last, advice = "stopped after "+took.Text(ran.Duration), "; "+stillRunning(ran)
		if end, ok := shellsyntax.EndOf(strings.TrimSpace(command)); ok && end.Filters != "" && ran.Output == "" {
			advice += "; what it printed is lost in the pipe, leave |" + oneLine(end.Filters) + " out"
		}
		r.Error = true
	case ran.Signal != "":
		last = "killed by " + ran.Signal
		r.Error = true
	case ran.Exit != nil:
		last, advice = exited(*ran.Exit, ran.Pipe)+failedBefore(ran.Failed), untold(ran)
		r.Error = failedRan(ran)
	}
	if ran.Waited != nil {
		advice += "; it only waited for " + ran.Waited.What + ", which the sandbox refused: what waited was ended"
		r.Error = true
	}
	out := shortForm(ran.Output)
	if ran.Gap != nil { // the model is shown its parts
		g := *ran.Gap
		g.Head, g.Tail = shortForm(g.Head), shortForm(g.Tail)
		r.Gap, out = &g, g.Text()
	}
	if ran.Spill != "" && !strings.Contains(out, ran.Spill) {
		out = strings.TrimSuffix(out, "\n") + "\n[all output: " + ran.Spill + "]\n"
	}
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	r.Text, r.Last, r.Note = out+last+advice, last+advice, last
	if !ran.TimedOut {
		r.Note += ", " + took.Text(ran.Duration)
		if n := lineCount(ran); n > 0 {
			r.Note += ", " + plural.Of(n, "line")
		}
	}
	return r
}

// failedRan reports whether a command did not end well, or a check in its line did not.
func failedRan(ran tool.Ran) bool {
	return ran.Exit == nil || *ran.Exit != 0 || slices.ContainsFunc(ran.Checks, func(c tool.Ended) bool { return c.Exit != 0 })
}

// exited says how a line ended: its exit code, and those of the commands of its last
// pipeline that it hides. exit may be that of a check before a pipe.
func exited(exit int, p tool.Pipe) string {
	n := len(p.Codes) - 1
	if n < 1 || !slices.ContainsFunc(p.Codes[:n], func(c int) bool { return c != 0 }) {
		return fmt.Sprintf("exit code %d", exit)
	}
	if p.Names == nil {
		codes := strings.Trim(strings.ReplaceAll(fmt.Sprint(p.Codes), " ", ", "), "[]")
		return fmt.Sprintf("exit code %d; its last pipe: exit codes %s", exit, codes)
	}
	s := fmt.Sprintf("exit code %d", p.Codes[n])
	for i, c := range p.Codes[:n] {
		switch c {
		case 0:
		case tool.CutOff:
			s += "; " + shortened(p.Names[i]) + " was cut off"
		default:
			s += fmt.Sprintf("; %s: exit code %d", shortened(p.Names[i]), c)
		}
	}
	return s
}

// failedShown is how many commands that failed earlier in a line are named.
const failedShown = 4

// failedBefore names the commands of a line that failed before its last one.
func failedBefore(failed []tool.Ended) (s string) {
	for i, f := range failed {
		if i == failedShown {
			return s + fmt.Sprintf("; and %d more failed", len(failed)-i)
		}
		s += fmt.Sprintf("; %s: exit code %d", shortened(f.Command), f.Exit)
	}
	return s
}

// shortened is the beginning of a command on one line.
func shortened(command string) string {
	what := []rune(oneLine(command))
	if len(what) > 60 {
		what = append(what[:60], '…')
	}
	return string(what)
}

// untold names a check of a line that ended well whose own exit code nobody told.
func untold(ran tool.Ran) string {
	cmds, err := command.Parse(ran.Command, "/")
	if err != nil || *ran.Exit != 0 || len(ran.Checks) > 0 || command.IsCheck(ran.Command) || slices.Contains(ran.Pipe.Codes, tool.CutOff) {
		return ""
	}
	for _, c := range cmds {
		if k, ok := command.CheckOf(c); ok {
			if slices.ContainsFunc(ran.Pipe.Names, func(n string) bool { return n == k.Words[0] || strings.HasPrefix(n, k.Words[0]+" ") }) {
				return "" // told with the pipe
			}
			return fmt.Sprintf("; how %s ended is not known: run it outside of ( ) and loops", strings.Join(k.Words, " "))
		}
	}
	return ""
}

// shortForm is an output with what its lines share written once.
func shortForm(s string) string { return foldPaths(foldEqual(s)) }

// foldLeast is how many equal lines in a row are written as one.
const foldLeast = 4

// foldEqual writes equal lines in a row once, with their number: nothing is lost.
func foldEqual(s string) string {
	var b strings.Builder
	line, times := "", 0
	flush := func() {
		if times >= foldLeast && strings.TrimSpace(line) != "" {
			fmt.Fprintf(&b, "%s[the line above %d more times]\n", line, times-1)
			return
		}
		for range times {
			b.WriteString(line)
		}
	}
	for l := range strings.Lines(s) {
		if l != line {
			flush()
			line, times = l, 0
		}
		times++
	}
	flush()
	return b.String()
}

// foldPaths writes the path of lines such as grep -n prints once, above them: three of
// "a.go:12:text" become "a.go:" and "12:text" each. Messages with a column stay as they are:
// other programs read them.
func foldPaths(s string) string {
	var b, whole, short strings.Builder
	path, times := "", 0
	flush := func() {
		if times < 3 {
			b.WriteString(whole.String())
		} else {
			b.WriteString(path + ":\n" + short.String())
		}
		times = 0
		whole.Reset()
		short.Reset()
	}
	for l := range strings.Lines(s) {
		p, rest, _ := strings.Cut(l, ":")
		number, text, numbered := strings.Cut(rest, ":")
		column, _, more := strings.Cut(text, ":")
		if !numbered || !isNumber(number) || more && isNumber(column) || !strings.ContainsAny(p, "./") || strings.ContainsAny(p, " \t") {
			p = ""
		}
		if p != path {
			flush()
			path = p
		}
		if p == "" {
			b.WriteString(l)
			continue
		}
		times++
		whole.WriteString(l)
		short.WriteString(rest)
	}
	flush()
	return b.String()
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// stillRunning says what a command did when it was stopped: more time helps one that
// worked, and not one that waited.
func stillRunning(ran tool.Ran) string {
	const most = 5
	next := "give it more time, narrow it, or run it in the background"
	if ran.Duration >= bashTimeout {
		next = "narrow it, or run it in the background: there is no more time for one call"
	}
	var named []string
	busy := false
	for _, p := range ran.Running {
		busy = busy || p.CPU > 0
		if one := fmt.Sprintf("%s (%d %% CPU)", oneLine(p.Name), p.CPU); !slices.Contains(named, one) {
			named = append(named, one)
		}
	}
	if more := len(named) - most; more > 0 {
		named = append(named[:most], fmt.Sprintf("%d more", more))
	}
	switch what := "still running: " + strings.Join(named, ", "); {
	case len(named) == 0:
		return next
	case busy:
		return what + "; " + next
	default:
		return what + ": it waited for something, and more time is not likely to help"
	}
}

// lineCount returns how many lines a command printed.
func lineCount(ran tool.Ran) int {
	if g := ran.Gap; g != nil {
		return strings.Count(g.Head, "\n") + int(g.Lines) + strings.Count(g.Tail, "\n")
	}
	return strings.Count(ran.Output, "\n")
}

// wholeRunes returns s without a partial rune at its end.
func wholeRunes(s string) string {
	for s != "" {
		if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}

// shellFailed returns the result for a failure of the shell itself. If the context has
// ended, it returns the error.
func shellFailed(ctx context.Context, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, err
	}
	return failed(err)
}
