//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// isolated is a repository with an agent that works in a tree of its own, on which a model
// plays two parts.
type isolated struct {
	t                 *testing.T
	dir, work, home   string // work is the folder of the session, in the repository dir
	env               []string
	agent             func(step int) llmtest.Turn // what the agent does
	told              string                      // the result of the agent
	results           []string                    // of the agent's calls
	asked             string                      // the last request of the session
	prompted          string                      // what the person asks
	prompt            string                      // the system prompt of the agent
	started           chan *os.Process
	mu                sync.Mutex
	sessions, parents []event.Event // of the agent, and of the session
}

func newIsolated(t *testing.T) *isolated {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	i := &isolated{t: t, dir: dir, work: dir, home: t.TempDir(), prompted: "go"}
	web := httptest.NewServer(&llmtest.Server{Reply: i.reply})
	t.Cleanup(web.Close)
	i.env = []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}
	i.write(".claude/agents/apart.md", "---\nname: apart\ndescription: d\nisolation: worktree\n---\nWork apart.")
	i.write("a.txt", "one\n")
	i.write("secret.txt", "hidden\n")
	i.write("sub/b.txt", "below\n")
	i.git("init", "-q")
	i.git("add", "-A")
	i.git("commit", "-q", "-m", "one")
	return i
}

func (i *isolated) write(name, text string) {
	i.t.Helper()
	must.Do(i.t, os.MkdirAll(filepath.Dir(filepath.Join(i.dir, name)), 0o700))
	must.Write(i.t, filepath.Join(i.dir, name), text)
}

func (i *isolated) git(args ...string) string {
	i.t.Helper()
	return processtest.RunGit(i.t, i.dir, args...)
}

func (i *isolated) reply(_ int, body []byte) llmtest.Turn {
	i.mu.Lock()
	defer i.mu.Unlock()
	var q struct {
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &q) // what cannot be read has no messages
	steps := 0
	var last string
	for _, m := range q.Messages {
		if m.Role == "assistant" {
			steps++
		}
		last = string(m.Content)
	}
	if strings.Contains(string(q.System), "You are the agent apart") {
		i.prompt = string(q.System)
		if steps > 0 {
			i.results = append(i.results, last)
		}
		return i.agent(steps)
	}
	i.asked = string(body)
	if steps > 0 {
		i.told = last
		return llmtest.Say("all done")
	}
	return llmtest.Use("agent", `{"description":"d","prompt":"do it","agent":"apart"}`)
}

// run runs a session whose model starts the agent, and reads what is stored of both.
func (i *isolated) run(args ...string) string {
	i.t.Helper()
	i.started = make(chan *os.Process, 1)
	args = append([]string{"run", "-m", "anthropic/claude-script"}, args...)
	c := pawl(i.t, i.work, i.home, i.env, append(args, i.prompted)...)
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	i.mu.Lock() // the model plays what is set until now
	err := c.Start()
	i.mu.Unlock()
	must.Do(i.t, err)
	guard := time.AfterFunc(patient, func() { _ = c.Process.Kill() }) // what hangs is a failure
	defer guard.Stop()
	i.started <- c.Process
	err = c.Wait()
	i.mu.Lock() // what the model saw is read now
	defer i.mu.Unlock()
	i.read()
	return fmt.Sprint(out.String(), err)
}

func (i *isolated) read() {
	i.t.Helper()
	st := must.Get(sqlite.Open(i.t.Context(), filepath.Join(i.home, ".local", "state", "pawl", "pawl.db"), sqlite.Options{}))(i.t)
	defer st.Close()
	i.sessions, i.parents = nil, nil
	for _, row := range must.Get(st.Sessions(i.t.Context(), ""))(i.t) {
		for e, err := range st.Read(context.Background(), row.ID, 0) {
			must.Do(i.t, err)
			if row.Parent != nil {
				i.sessions = append(i.sessions, e)
			} else {
				i.parents = append(i.parents, e)
			}
		}
	}
}

// trees are the working trees and branches of the agent.
func (i *isolated) trees() (dirs []string, branches string) {
	i.t.Helper()
	dirs = must.Get(filepath.Glob(filepath.Join(i.dir, ".claude/worktrees/agent-*")))(i.t)
	return dirs, strings.TrimSpace(i.git("branch", "--list", "worktree-*", "--format=%(refname:short)"))
}

func (i *isolated) file(name string) string {
	b, err := os.ReadFile(filepath.Join(i.dir, name))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func ended(es []event.Event) (out event.AgentEnded) {
	for _, e := range es {
		if b, ok := e.Body.(event.AgentEnded); ok {
			out = b
		}
	}
	return out
}

func calls(turns ...[]string) func(int) llmtest.Turn {
	return func(step int) llmtest.Turn {
		if step >= len(turns) {
			return llmtest.Say("I am done")
		}
		return llmtest.Turn{Calls: []llm.Call{{Name: turns[step][0], Args: json.RawMessage(turns[step][1])}}}
	}
}

// SPEC 14.1: an agent with isolation works in a git worktree of its own. The files of its
// session stay as they were, nothing of its changes is in the session's log, and the result
// tells the tree, the branch, and what was not in it.
func TestIsolatedAgent(t *testing.T) {
	t.Parallel()
	i := newIsolated(t)
	i.write("a.txt", "not committed\n")
	i.write("new.txt", "not committed\n")
	i.agent = calls(
		[]string{"write", `{"path":"b.txt","content":"two\n"}`},
		[]string{"bash", `{"command":"echo three >c.txt; cat a.txt"}`},
	)
	out := i.run("--permission-mode", "auto")
	dirs, branch := i.trees()
	if len(dirs) != 1 || branch != "worktree-"+filepath.Base(dirs[0]) {
		t.Fatalf("%v, %q: %s\n%s", dirs, branch, out, i.told)
	}
	for _, want := range []string{"its files are in the worktree " + dirs[0] + ", branch " + branch, "not in it: 2", "it changed b.txt, c.txt", "I am done"} {
		if !strings.Contains(i.told, want) {
			t.Errorf("the result lacks %q: %s", want, i.told)
		}
	}
	if i.file("a.txt") != "not committed\n" || !strings.Contains(i.file("b.txt"), "no such file") || !strings.Contains(i.file("c.txt"), "no such file") {
		t.Error("the session's files changed")
	}
	if b, err := os.ReadFile(filepath.Join(dirs[0], "c.txt")); err != nil || string(b) != "three\n" || !strings.Contains(i.results[1], "one") {
		t.Errorf("%q %v %v", b, err, i.results)
	}
	if !strings.Contains(out, "2 files changed on the branch "+branch) {
		t.Error(out)
	}
	changed := 0
	for _, e := range i.parents {
		switch e.Body.(type) {
		case event.FileChanged, event.AgentCalled:
			t.Errorf("in the session's log: %+v", e.Body)
		}
	}
	for _, e := range i.sessions {
		if _, ok := e.Body.(event.FileChanged); ok {
			changed++
		}
	}
	if end := ended(i.parents); end.Tree == nil || end.Tree.Dir != dirs[0] || end.Tree.Branch != branch || end.Calls != 2 || changed != 2 {
		t.Errorf("%+v, %d changes", end, changed)
	}
	if !strings.Contains(i.prompt, dirs[0]) {
		t.Errorf("the agent is not told where it is: %s", i.prompt)
	}
}

// SPEC 14.1: the tree and the branch of an agent that changed nothing are removed.
func TestIsolatedAgentChangedNothing(t *testing.T) {
	t.Parallel()
	i := newIsolated(t)
	i.agent = calls([]string{"read", `{"files":[{"path":"a.txt"}]}`})
	out := i.run()
	if dirs, branch := i.trees(); len(dirs) > 0 || branch != "" || !strings.Contains(i.told, "which is removed") || !strings.Contains(i.results[0], "one") || ended(i.parents).Tree != nil {
		t.Errorf("%v %q: %s\n%s\n%v", dirs, branch, out, i.told, i.results)
	}
}

// SPEC 14.1, 16.17: what the session may not do, its agent may not do in its tree: also what
// a file says that git does not put there, and what a flag says, in a folder below the root
// and in a working tree of the person.
func TestIsolatedAgentIsGuarded(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(*isolated){
		"root": func(*isolated) {},
		"below": func(i *isolated) {
			i.work = filepath.Join(i.dir, "sub")
			i.write("sub/secret.txt", "hidden\n")
			i.write("sub/.claude/agents/apart.md", i.file(".claude/agents/apart.md"))
			i.git("add", "-A")
			i.git("commit", "-q", "-m", "two")
		},
		"linked": func(i *isolated) {
			i.work = filepath.Join(filepath.Dir(i.dir), filepath.Base(i.dir)+"-linked")
			i.git("worktree", "add", "-q", "-b", "theirs", i.work)
			i.t.Cleanup(func() { _ = os.RemoveAll(i.work) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIsolated(t)
			at(i)
			local := filepath.Join(i.work, ".claude", "settings.local.json")
			must.Do(t, os.MkdirAll(filepath.Dir(local), 0o700))
			must.Write(t, local, `{"permissions":{"deny":["Read(/secret.txt)","Edit(/a.txt)"]}}`)
			i.agent = calls(
				[]string{"read", `{"files":[{"path":"secret.txt"}]}`},
				[]string{"grep", `{"pattern":"hid"}`},
				[]string{"bash", `{"command":"x=secret; cat $x.txt"}`},
				[]string{"write", `{"path":"a.txt","content":"over it"}`},
				[]string{"write", `{"path":"flag.txt","content":"over it"}`},
				[]string{"write", `{"path":"` + filepath.Join(i.work, "elsewhere.txt") + `","content":"x"}`},
				[]string{"bash", `{"command":"echo x >ok.txt"}`},
			)
			out := i.run("--permission-mode", "auto", "--deny", "edit(flag.txt)")
			if len(i.results) != 7 {
				t.Fatalf("%s\n%s\n%v", out, i.told, i.results)
			}
			for n, r := range i.results[:6] {
				if strings.Contains(r, "hidden") || n != 1 && !strings.Contains(r, `"is_error":true`) {
					t.Errorf("call %d: %s", n, r)
				}
			}
			tree := ended(i.parents).Tree
			if tree == nil {
				t.Fatal(i.told)
			}
			if status, err := processtest.Git(tree.Dir, "status", "--porcelain").Output(); err != nil || !strings.HasSuffix(string(status), "ok.txt\n") || strings.Count(string(status), "\n") != 1 {
				t.Errorf("%s %v", status, err)
			}
			if _, err := os.Stat(filepath.Join(i.work, "elsewhere.txt")); err == nil {
				t.Error("it wrote into the folder of its session")
			}
		})
	}
}

// SPEC 14.1: no rights and no money that its session has not, and no hook is left out.
func TestIsolatedAgentIsBound(t *testing.T) {
	t.Parallel()
	write := []string{"write", `{"path":"b.txt","content":"two\n"}`}
	t.Run("mode", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		i.agent = calls(write)
		out := i.run("--permission-mode", "plan")
		if dirs, _ := i.trees(); len(dirs) > 0 || len(i.results) != 1 || !strings.Contains(i.results[0], `"is_error":true`) {
			t.Errorf("%v %v %s", dirs, i.results, out)
		}
	})
	t.Run("command", func(t *testing.T) { // the turn may only read, and start agents
		t.Parallel()
		i := newIsolated(t)
		i.write(".claude/commands/look.md", "---\nallowed-tools: Read, Task\n---\nlook")
		i.prompted = "/look"
		i.agent = calls(write)
		out := i.run("--permission-mode", "auto")
		if dirs, _ := i.trees(); len(dirs) > 0 || len(i.results) != 1 || !strings.Contains(i.results[0], `"is_error":true`) {
			t.Errorf("%v %v %s", dirs, i.results, out)
		}
	})
	t.Run("rules that are not committed", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		i.write(".pawl/config.json", `{"permissions":{"deny":["read(secret.txt)"]}}`)
		i.agent = calls([]string{"grep", `{"pattern":"hid"}`})
		if out := i.run("--permission-mode", "auto"); len(i.results) != 1 || strings.Contains(i.results[0], "hidden") {
			t.Errorf("%v %s", i.results, out)
		}
	})
	t.Run("money", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		i.agent = func(step int) llmtest.Turn {
			turn := calls(write, write, write)(step)
			turn.Usage = llm.Usage{Known: true, Input: 300_000}
			return turn
		}
		out := i.run("--permission-mode", "auto", "--max-tokens-total", "400000")
		if end := ended(i.parents); end.End != event.EndBudget || end.Tree == nil || len(i.results) > 2 {
			t.Errorf("%+v %s", end, out)
		}
	})
	t.Run("tools", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		i.agent = calls(write)
		out := i.run("--permission-mode", "auto", "--tools", "Read,Task")
		if dirs, _ := i.trees(); len(dirs) > 0 || len(i.results) != 1 {
			t.Errorf("%v %v %s", dirs, i.results, out)
		}
	})
	t.Run("tools of a kind", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		i.write(".claude/agents/lead.md", "---\nname: lead\ndescription: d\ntools: Read, Task\n---\nLead.")
		i.agent = calls(write)
		out := i.run("--permission-mode", "auto", "--agent", "lead")
		if dirs, _ := i.trees(); len(dirs) > 0 || len(i.results) != 1 {
			t.Errorf("%v %v %s", dirs, i.results, out)
		}
		if out := i.run("--agent", "apart"); !strings.Contains(out, "add --worktree") {
			t.Error(out)
		}
	})
	t.Run("hook", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		i.write(".claude/settings.local.json", `{"hooks":{"PreToolUse":[{"matcher":"Write","hooks":[{"type":"command","command":"exit 2"}]}]}}`)
		i.agent = calls(write)
		out := i.run("--permission-mode", "auto", "--trust")
		if dirs, branch := i.trees(); len(dirs) > 0 || branch != "" || len(i.results) > 0 || !strings.Contains(i.told, "would not hold in the worktree") {
			t.Errorf("%v %q %v %s\n%s", dirs, branch, i.results, out, i.told)
		}
	})
	t.Run("own hook", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		at := filepath.Join(i.home, ".config", "pawl")
		must.Do(t, os.MkdirAll(at, 0o700))
		must.Write(t, filepath.Join(at, "config.json"), `{"hooks":{"PreToolUse":[{"matcher":"Write","hooks":[{"type":"command","command":"echo never >&2; exit 2"}]}]}}`)
		i.agent = calls(write)
		out := i.run("--permission-mode", "auto")
		if dirs, _ := i.trees(); len(dirs) > 0 || len(i.results) != 1 || !strings.Contains(i.results[0], "never") {
			t.Errorf("%v %v %s\n%s", dirs, i.results, out, i.told)
		}
	})
	t.Run("no repository", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		must.Do(t, os.RemoveAll(filepath.Join(i.dir, ".git")))
		i.agent = calls(write)
		if out := i.run("--permission-mode", "auto"); len(i.results) > 0 || !strings.Contains(i.told, "needs a git repository") {
			t.Errorf("%v %s\n%s", i.results, out, i.told)
		}
	})
}

// SPEC 14.1: an interrupt ends such an agent, and removes a tree in which nothing changed.
// After a crash the tree is left as it is, and the next start says where to find it.
func TestIsolatedAgentCutShort(t *testing.T) {
	t.Parallel()
	cut := func(i *isolated, by syscall.Signal) func(int) llmtest.Turn {
		return func(int) llmtest.Turn {
			if p := <-i.started; p.Signal(by) != nil {
				i.t.Error("not signalled")
			}
			return llmtest.Turn{Text: "half of an", Wait: make(chan struct{})}
		}
	}
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		i.agent = cut(i, syscall.SIGINT)
		out := i.run()
		if dirs, branch := i.trees(); len(dirs) > 0 || branch != "" || ended(i.parents).End != event.EndInterrupted {
			t.Errorf("%v %q %s", dirs, branch, out)
		}
	})
	t.Run("crash", func(t *testing.T) {
		t.Parallel()
		i := newIsolated(t)
		kill := cut(i, syscall.SIGKILL)
		write := calls([]string{"write", `{"path":"b.txt","content":"two\n"}`})
		i.agent = func(step int) llmtest.Turn {
			if step == 0 {
				return write(0)
			}
			return kill(step)
		}
		i.run("--permission-mode", "auto")
		out := i.run("-c")
		dirs, branch := i.trees()
		if len(dirs) != 1 || !strings.Contains(i.git("worktree", "list"), dirs[0]) || ended(i.parents).End != event.EndInterrupted {
			t.Fatalf("%v %s", dirs, out)
		}
		if b, err := os.ReadFile(filepath.Join(dirs[0], "b.txt")); err != nil || string(b) != "two\n" || !strings.Contains(i.asked, "git worktree list shows it, with the branch "+branch) {
			t.Errorf("%q %v %s", b, err, i.asked)
		}
		for _, e := range i.parents {
			if _, changed := e.Body.(event.FileChanged); changed {
				t.Errorf("%+v", e.Body)
			}
		}
	})
}
