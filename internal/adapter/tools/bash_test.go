package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// procShell is a tool.Shell for these tests: Run runs sh in dir, or returns what
// is set.
type procShell struct {
	dir  string
	env  []string
	ran  *tool.Ran
	err  error
	runs []tool.Run
	wait time.Duration
}

func (s *procShell) Run(ctx context.Context, c tool.Run) (tool.Ran, error) {
	s.runs = append(s.runs, c)
	if s.ran != nil || s.err != nil {
		if s.ran == nil {
			s.ran = &tool.Ran{}
		}
		return *s.ran, s.err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Command)
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), s.env...), c.Env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return tool.Ran{}, err
	}
	code := cmd.ProcessState.ExitCode()
	return tool.Ran{Output: string(out), Bytes: int64(len(out)), Exit: &code}, nil
}

func (s *procShell) Start(_ context.Context, c tool.Run) (string, error) {
	s.runs = append(s.runs, c)
	return "bg7", s.err
}

func (s *procShell) Output(_ context.Context, id string, wait time.Duration) (tool.Ran, error) {
	s.wait = wait
	if id != "bg7" {
		return tool.Ran{}, errors.New("no such background command: " + id)
	}
	return *s.ran, s.err
}

func (s *procShell) Kill(ctx context.Context, id string) (tool.Ran, error) {
	return s.Output(ctx, id, 0)
}

func procCall(t *testing.T, tl tool.Tool, env tool.Env, args string) tool.Result {
	t.Helper()
	if env.Out == nil {
		env.Out = func(string) {}
	}
	in := json.RawMessage(args)
	if err := tl.Check(in); err != nil {
		t.Fatalf("%s %s: %v", tl.Spec.Name, args, err)
	}
	r, err := tl.Run(t.Context(), env, in)
	if err != nil {
		t.Fatalf("%s %s: %v", tl.Spec.Name, args, err)
	}
	return r
}

func procCode(n int) *int { return &n }

// Every tool's example passes its own check, and its schema is one.
func TestProcExamples(t *testing.T) {
	t.Parallel()
	for _, tl := range []tool.Tool{
		Bash(), BashOutput(), BashKill(), GitStatus(), GitLog(), GitDiff(), WebFetch(), WebSearch(), Todo(), AskUser(), Remember(),
	} {
		if err := tl.Check(json.RawMessage(tl.Example)); err != nil || !json.Valid(tl.Spec.Schema) || tl.Spec.Doc == "" {
			t.Errorf("%s: %v", tl.Spec.Name, err)
		}
		if err := tl.Check(json.RawMessage(`{"no_such_argument":1}`)); err == nil {
			t.Errorf("%s takes what it does not know", tl.Spec.Name)
		}
		if _, err := tl.Run(t.Context(), tool.Env{}, json.RawMessage(tl.Example)); err != nil {
			t.Errorf("%s without abilities: %v", tl.Spec.Name, err)
		}
	}
}

// SPEC 4.11: the last line always tells how it ended.
func TestBashResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ran      tool.Ran
		text     string
		bad, out bool
	}{
		{ran: tool.Ran{Output: "hi\n", Exit: procCode(0)}, text: "hi\nexit code 0"},
		{ran: tool.Ran{Output: "hi", Exit: procCode(0)}, text: "hi\nexit code 0"},
		{ran: tool.Ran{Exit: procCode(0)}, text: "exit code 0"},
		{ran: tool.Ran{Exit: procCode(0), Failed: []tool.Ended{{Command: "make test", Exit: 2}, {Command: "ls " + strings.Repeat("x", 80), Exit: 1}}}, text: "exit code 0; make test: exit code 2; ls " + strings.Repeat("x", 57) + "…: exit code 1"},
		{ran: tool.Ran{Exit: procCode(0), Failed: make([]tool.Ended, 9)}, text: "exit code 0" + strings.Repeat("; : exit code 0", 4) + "; and 5 more failed"},
		{ran: tool.Ran{Output: "FAIL\n", Exit: procCode(1), Pipe: tool.Pipe{Codes: []int{1, 0}, Names: []string{"go", "tail"}}}, text: "FAIL\nexit code 0; go: exit code 1", bad: true},
		{ran: tool.Ran{Exit: procCode(0), Pipe: tool.Pipe{Codes: []int{2, 141, 1, 0}, Names: []string{"make", "yes", "grep", "tail"}}}, text: "exit code 0; make: exit code 2; yes was cut off; grep: exit code 1"},
		{ran: tool.Ran{Exit: procCode(0), Pipe: tool.Pipe{Codes: []int{2, 0}}}, text: "exit code 0; its last pipe: exit codes 2, 0"},
		{ran: tool.Ran{Exit: procCode(1), Pipe: tool.Pipe{Codes: []int{0, 1}, Names: []string{"cat", "grep"}}}, text: "exit code 1", bad: true},
		{ran: tool.Ran{Output: "exit code 0\n", Exit: procCode(2)}, text: "exit code 0\nexit code 2", bad: true},
		{ran: tool.Ran{Output: "x", Signal: "SIGKILL"}, text: "x\nkilled by SIGKILL", bad: true},
		{
			ran:  tool.Ran{Output: "x\n", Signal: "SIGTERM", TimedOut: true, Duration: 120*time.Second + 90*time.Millisecond},
			text: "x\nstopped after 2m; give it more time, narrow it, or run it in the background", bad: true, out: true,
		},
		{
			ran:  tool.Ran{Output: "x\n", Waited: &process.Refusal{Act: process.ActHost, What: "a.example"}, Duration: 70 * time.Second},
			text: "x\nstopped after 1m10s; it only waited for a.example, which the sandbox refused: what waited was ended", bad: true,
		},
		{
			ran:  tool.Ran{Output: "x\n", Exit: procCode(0), Waited: &process.Refusal{Act: process.ActHost, What: "a.example"}, Duration: 70 * time.Second},
			text: "x\nexit code 0; it only waited for a.example, which the sandbox refused: what waited was ended", bad: true,
		},
		{
			ran:  tool.Ran{TimedOut: true, Duration: 400 * time.Second, Running: []tool.Running{{Name: "vertexai.test"}, {Name: "vertexai.test"}}},
			text: "stopped after 6m40s; still running: vertexai.test (0 % CPU): it waited for something, and more time is not likely to help", bad: true, out: true,
		},
		{
			ran:  tool.Ran{TimedOut: true, Duration: time.Second, Running: []tool.Running{{Name: "cc1", CPU: 99}, {Name: "make"}}},
			text: "stopped after 1s; still running: cc1 (99 % CPU), make (0 % CPU); give it more time, narrow it, or run it in the background", bad: true, out: true,
		},
		{
			ran:  tool.Ran{TimedOut: true, Duration: 10 * time.Minute, Running: []tool.Running{{Name: "cc1", CPU: 99}}},
			text: "stopped after 10m; still running: cc1 (99 % CPU); narrow it, or run it in the background: there is no more time for one call", bad: true, out: true,
		},
		{
			ran:  tool.Ran{TimedOut: true, Duration: time.Second, Running: []tool.Running{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}, {Name: "f\n"}}},
			text: "stopped after 1s; still running: a (0 % CPU), b (0 % CPU), c (0 % CPU), d (0 % CPU), e (0 % CPU), 1 more: it waited for something, and more time is not likely to help", bad: true, out: true,
		},
		{ran: tool.Ran{Output: "a\n[… left out; the whole is in /s/f …]\nb\n", Spill: "/s/f", Exit: procCode(0)}, text: "a\n[… left out; the whole is in /s/f …]\nb\nexit code 0"},
		{ran: tool.Ran{Output: "b\n", Spill: "/s/f", Exit: procCode(0)}, text: "b\n[all output: /s/f]\nexit code 0"},
	} {
		sh := &procShell{ran: &c.ran}
		r := procCall(t, Bash(), tool.Env{Shell: sh}, `{"command":"x","timeout":5000}`)
		if r.Text != c.text || r.Error != c.bad || r.Timeout != c.out || r.Command != "x" || r.Exit != c.ran.Exit || r.Note == "" {
			t.Errorf("%+v\n got %+v", c, r)
		}
		if sh.runs[0].Timeout != 600*time.Second || sh.runs[0].Out == nil {
			t.Errorf("%+v", sh.runs[0])
		}
	}
}

// SPEC 4.11, 9.2: an output whose middle is missing is handed on with all that
// is known of it: how much it lacks, and where the whole is.
func TestBashGap(t *testing.T) {
	t.Parallel()
	g := &tool.Gap{Head: "a\n", Tail: "z\n", Bytes: 7000, Lines: 12, Where: "the whole is in /s/f", File: "/s/f"}
	ran := &tool.Ran{Output: g.Text(), Gap: g, Spill: "/s/f", Exit: procCode(1)}
	r := procCall(t, Bash(), tool.Env{Shell: &procShell{ran: ran}, Limit: 200}, `{"command":"x"}`)
	if !reflect.DeepEqual(r.Gap, g) || r.Text != "a\n[… 12 lines, 7000 bytes left out; the whole is in /s/f …]\nz\nexit code 1" || !strings.HasSuffix(r.Note, ", 14 lines") {
		t.Errorf("%+v", r)
	}
}

func TestBashRefuses(t *testing.T) {
	t.Parallel()
	sh := &procShell{ran: &tool.Ran{Exit: procCode(0)}}
	for _, args := range []string{`{"command":"  "}`, `{"command":"x","timeout":-1}`, `{"command":"` + strings.Repeat("x", 200_000) + `"}`} {
		if r := procCall(t, Bash(), tool.Env{Shell: sh}, args); !r.Error || len(sh.runs) != 0 {
			t.Errorf("%.40s: %+v", args, r)
		}
		if _, err := Bash().Footprint(tool.Env{}, json.RawMessage(args)); err == nil {
			t.Errorf("%.40s: it has a footprint", args)
		}
	}
	sh = &procShell{err: errors.New("no shell was found")}
	if r := procCall(t, Bash(), tool.Env{Shell: sh}, `{"command":"x"}`); !r.Error || !strings.Contains(r.Text, "no shell") {
		t.Errorf("%+v", r)
	}
}

// SPEC 10.3: a cancelled command still tells what it had printed.
func TestBashCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sh := &procShell{ran: &tool.Ran{Output: "half\n", Signal: "SIGTERM"}, err: context.Canceled}
	r, err := Bash().Run(ctx, tool.Env{Shell: sh, Out: func(string) {}}, json.RawMessage(`{"command":"x"}`))
	if !errors.Is(err, context.Canceled) || r.Text != "half\nkilled by SIGTERM" {
		t.Errorf("%+v %v", r, err)
	}
}

// SPEC 4.1, 4.15: what only reads is known to; all else may touch anything.
func TestBashFootprint(t *testing.T) {
	t.Parallel()
	for command, reads := range map[string]bool{
		"ls -la": true, "cat a | grep b": true, "git status": true,
		"touch a": false, "ls > a": false, "ls; rm a": false, "echo $(rm a)": false, "$X": false, "if then (": false, "go test ./...": false,
	} {
		f, err := Bash().Footprint(tool.Env{}, json.RawMessage(fmt.Sprintf(`{"command":%q}`, command)))
		if err != nil || f.Shell != command || f.Unknown == reads || reads != (len(f.Reads) == 1) || reads && len(f.Commands) == 0 {
			t.Errorf("%s: %+v %v", command, f, err)
		}
		f, err = Bash().Footprint(tool.Env{}, json.RawMessage(fmt.Sprintf(`{"command":%q,"background":true}`, command)))
		if err != nil || !f.Unknown {
			t.Errorf("%s in the background: %+v %v", command, f, err)
		}
	}
	// A plain sh sees three commands here, bash one.
	line := `echo $'a\'; rm x; echo '`
	args := json.RawMessage(fmt.Sprintf(`{"command":%q}`, line))
	f, err := Bash().Footprint(tool.Env{Shell: &procPOSIX{}}, args)
	if err != nil || !f.Unknown {
		t.Errorf("in sh: %+v %v", f, err)
	}
}

type procPOSIX struct{ procShell }

func (*procPOSIX) POSIX() bool { return true }

func TestBashBackground(t *testing.T) {
	t.Parallel()
	sh := &procShell{}
	env := tool.Env{Shell: sh}
	r := procCall(t, Bash(), env, `{"command":"serve","background":true}`)
	if r.Error || !strings.Contains(r.Text, "bg7") || !strings.Contains(r.Text, "bash_output") || r.Command != "serve" || sh.runs[0].Timeout != 0 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		ran  tool.Ran
		text string
		bad  bool
	}{
		{tool.Ran{Output: "up\n"}, "up\nstill running", false},
		{tool.Ran{}, "still running, nothing new", false},
		{tool.Ran{Output: "down\n", Exit: procCode(0)}, "down\nexit code 0", false},
		{tool.Ran{Exit: procCode(3)}, "exit code 3", true},
		{tool.Ran{Signal: "SIGSEGV"}, "killed by SIGSEGV", true},
	} {
		sh.ran = &c.ran
		if r := procCall(t, BashOutput(), env, `{"id":"bg7","wait":9999}`); r.Text != c.text || r.Error != c.bad || sh.wait != 600*time.Second {
			t.Errorf("%+v", r)
		}
	}
	sh.ran = &tool.Ran{Output: "bye\n", Signal: "SIGTERM"}
	if r := procCall(t, BashKill(), env, `{"id":"bg7"}`); r.Text != "bye\nkilled by SIGTERM" || r.Error {
		t.Errorf("%+v", r)
	}
	for _, tl := range []tool.Tool{BashOutput(), BashKill()} {
		if r := procCall(t, tl, env, `{"id":"bg8"}`); !r.Error || !strings.Contains(r.Text, "bg8") {
			t.Errorf("%+v", r)
		}
	}
}

// SPEC 20.3: the path of lines with a number is written once; a column, a time of day and few
// lines stay as they are.
func TestPathsAreFolded(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                      "",
		"a.go:1:x\na.go:2:y\n":                  "a.go:1:x\na.go:2:y\n",
		"a.go:1:x\na.go:2:y\na.go:3:z\n":        "a.go:\n1:x\n2:y\n3:z\n",
		"b\na.go:1:\na.go:2:y\na.go:3:z: q\nc":  "b\na.go:\n1:\n2:y\n3:z: q\nc",
		"a/b:1:x\na/b:2:y\na/b:9:\na.go:1:x\n":  "a/b:\n1:x\n2:y\n9:\na.go:1:x\n",
		"a.go:1:x\nb.go:2:y\na.go:3:z\n":        "a.go:1:x\nb.go:2:y\na.go:3:z\n",
		"a.go:1:2: x\na.go:2:7: y\na.go:3:1: z": "a.go:1:2: x\na.go:2:7: y\na.go:3:1: z",
		"10:05:01 a\n10:05:02 b\n10:05:03 c\n":  "10:05:01 a\n10:05:02 b\n10:05:03 c\n",
		"  a.go:1:x\n  a.go:2:y\n  a.go:3:z\n":  "  a.go:1:x\n  a.go:2:y\n  a.go:3:z\n",
		"a.go: 1\na.go: 2\na.go: 3\n\n":         "a.go: 1\na.go: 2\na.go: 3\n\n",
		"a.go:1:x\na.go:2:x\na.go:3:x":          "a.go:\n1:x\n2:x\n3:x",
		"a.go:1:é\r\na.go:2:\r\na.go:3:\r\n":    "a.go:\n1:é\r\n2:\r\n3:\r\n",
	} {
		if got := foldPaths(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	r := ranResult(tool.Ran{Output: "a.go:1:x\na.go:2:y\na.go:3:z\n", Exit: new(0)}, "grep -rn . .", "")
	if r.Text != "a.go:\n1:x\n2:y\n3:z\nexit code 0" {
		t.Errorf("%q", r.Text)
	}
}

// SPEC 20.3: equal lines of an output are written once, and counted; what differs, few
// lines, and blank ones stay as they are.
func TestEqualLinesAreFolded(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                         "",
		"a\n":                      "a\n",
		"a\na\na\n":                "a\na\na\n",
		"a\na\na\na\n":             "a\n[the line above 3 more times]\n",
		"x\na\na\na\na\na\ny":      "x\na\n[the line above 4 more times]\ny",
		"a\na\na\na":               "a\na\na\na",
		"a1\na2\na3\na4\n":         "a1\na2\na3\na4\n",
		"\n\n\n\n\n":               "\n\n\n\n\n",
		"a\r\na\r\na\r\na\r\n":     "a\r\n[the line above 3 more times]\n",
		"a\na\na\na\nb\nb\nb\nb\n": "a\n[the line above 3 more times]\nb\n[the line above 3 more times]\n",
	} {
		if got := foldEqual(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	exit := 0
	r := ranResult(tool.Ran{Output: strings.Repeat("warning: again\n", 300), Exit: &exit}, "make", "")
	if r.Text != "warning: again\n[the line above 299 more times]\nexit code 0" {
		t.Errorf("%q", r.Text)
	}
}

// SPEC 4.11: where the exit code of a check is not known, the result says how to get it; of
// one whose output nobody read to its end no code would tell more.
func TestUntoldCheck(t *testing.T) {
	t.Parallel()
	const how = "; how go test . ended is not known: run it outside of ( ) and loops"
	for _, c := range []struct {
		line, want string
		pipe       tool.Pipe
	}{
		{"(cd a && go test .); ls", how, tool.Pipe{}},
		{"for d in a b; do go test .; done", how, tool.Pipe{}},
		{"mkdir -p x && cd x && go test . | head -8", "", tool.Pipe{Codes: []int{tool.CutOff, 0}, Names: []string{"go", "head"}}},
		{"cd x && go test . | cut -c1-9 | grep F | head", "", tool.Pipe{Codes: []int{0, 0, 0, 0}, Names: []string{"go test .", "cut -c1-9", "grep F", "head"}}},
		{"go test . ", "", tool.Pipe{}},
		{"ls", "", tool.Pipe{}},
	} {
		if got := untold(tool.Ran{Command: c.line, Exit: procCode(0), Pipe: c.pipe}); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}
