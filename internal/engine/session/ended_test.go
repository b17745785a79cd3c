package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

func told(ends []event.Ended) (out []string) {
	for _, e := range ends {
		var names []string
		for _, o := range e.Obeyed {
			names = append(names, o.Path+" "+o.By)
		}
		out = append(out, strings.Join(names, ","))
	}
	return out
}

// SPEC 16.16: the end of a turn names what it changed and somebody runs or obeys by itself,
// whoever of it wrote: a tool, a command, the writing of a swarm's result, a turn that died.
// What a task is often about is named only if what runs by itself is another.
func TestEndNamesWhatRunsNext(t *testing.T) {
	write := func(path, text string) llmtest.Turn {
		return llmtest.Use("write", args(map[string]string{"path": path, "content": text}))
	}
	m := llmtest.New(
		write("web/.npmrc", "registry=x\n"), write("a.go", "package a\n"), write("Makefile", "test:\n\tgo test\n"),
		llmtest.Use("bash", bash(`printf '{"scripts":{"prepare":"x"}}' > web/package.json; printf '{"scripts":{"test":"x"}}' > package.json; echo 3 > .python-version`)), llmtest.Say("done"),
		llmtest.Use("bash", bash(`rm .python-version; printf '{"scripts":{"test":"y"}}' > package.json; printf 'X != date\n' >> Makefile`)), llmtest.Say("done"),
	)
	r := newRig(t, "yolo", m, journaled(t, journal.Options{}), func(c *session.Config) {
		must.Do(t, os.Mkdir(filepath.Join(c.Dir, "web"), 0o700))
	})
	r.Run("make it", nil)
	r.Run("go on", nil)
	must.Done(t)(r.Coordination().Apply(t.Context(), "swarm", "a swarm", []tool.Write{{Path: "build.rs", Data: []byte("fn main(){}")}, {Path: "b.go", Data: []byte("package a")}}))
	hash := must.Get(r.Store.Put(t.Context(), []byte("layout x\n")))(t)
	err := r.Coordination().Append(t.Context(), event.Draft{Body: event.Prompted{Source: event.Person, Text: "x"}}, event.Draft{Body: event.FileChanged{Path: ".envrc", Tool: "write", After: tool.Hash(hash)}})
	must.Do(t, err)
	must.Do(t, r.Close())
	r.Open()
	want := []string{"web/.npmrc npm,.python-version pyenv,web/package.json npm install", "Makefile make -n", "build.rs Cargo", ".envrc direnv"}
	if got := told(find[event.Ended](r.Log())); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// SPEC 16.16: a command in the background goes on after the turn: what it leaves in git then
// is compared with what git held as that turn ended, not as the next begins.
func TestGitOfBackgroundCommands(t *testing.T) {
	behind := llmtest.Use("bash", `{"command":"sleep 1000","background":true}`)
	m := llmtest.New(behind, llmtest.Say("it runs"), llmtest.Say("two"), llmtest.Use("bash_kill", `{"id":"bg1"}`), llmtest.Say("three"), llmtest.Say("four"))
	looks, turn := 0, 0
	r := newRig(t, "yolo", m, journaled(t, journal.Options{}), func(c *session.Config) {
		c.InGit = func() func(context.Context) []event.GitFile {
			looks++
			began := "look " + strconv.Itoa(looks) + " in turn " + strconv.Itoa(turn)
			return func(context.Context) []event.GitFile { return []event.GitFile{{Path: began}} }
		}
	})
	for turn = 1; turn <= 4; turn++ {
		r.Run("go on", nil)
	}
	var got []string
	for _, e := range find[event.Ended](r.Log()) {
		got = append(got, e.Git[0].Path)
	}
	if want := []string{"look 1 in turn 1", "look 2 in turn 1", "look 3 in turn 2", "look 4 in turn 4"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// SPEC 13.3, 14.2: the checks that a swarm's result passed are the proof of the turn that
// writes it to the person's files.
func TestResultIsWrittenWithItsChecks(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(), journaled(t, journal.Options{}))
	zero := 0
	passed := event.TaskCheck{Command: "go test -v ./...", Exit: &zero, Output: "--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"}
	must.Done(t)(r.Coordination().Apply(t.Context(), "swarm", "a swarm", []tool.Write{{Path: "a.go", Data: []byte("package a")}}, passed))
	if got := r.View().Evidence(); got.Word() != evidence.Verified || got.Verified.Command != passed.Command {
		t.Errorf("%q", got.Lines())
	}
	must.Done(t)(r.Coordination().Apply(t.Context(), "swarm", "another", []tool.Write{{Path: "b.go", Data: []byte("package a")}}))
	if got := r.View().Evidence(); got.Word() != evidence.Unverified {
		t.Errorf("without a check: %q", got.Lines())
	}
}

// SPEC 4.11: the model is told once, before its next request, that a background command has
// ended by itself; the person sees it.
func TestJobThatEndsIsTold(t *testing.T) {
	m := llmtest.New()
	m.Next = func(n int, r *llm.Request) llmtest.Turn {
		switch {
		case n == 0:
			return llmtest.Use("bash", `{"command":"exit 3","background":true}`)
		case strings.Contains(fmt.Sprint(r.Messages), "[The background command bg1 has ended, exit code 3: exit 3]") || n > 1000:
			return llmtest.Say("so it has")
		}
		return llmtest.Use("bash", fmt.Sprintf(`{"command":"echo %d"}`, n))
	}
	r := newRig(t, "yolo", m, journaled(t, journal.Options{}))
	log := append(r.Run("start it", nil), r.Run("and now?", nil)...)
	notes := slices.DeleteFunc(find[event.Noted](log), func(n event.Noted) bool { return n.Why != event.NotedJob })
	if len(notes) != 1 {
		t.Errorf("%+v", notes)
	}
}
