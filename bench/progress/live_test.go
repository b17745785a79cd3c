package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// These tests play the shapes live: a scripted model asks for their calls, and a whole
// session answers, as in pawl run. Only the tools are stand-ins, which answer what the
// shape says and write the files that it says. So no process is started.

// plainWords is how the scripted model writes its calls: results as they are.
func plainWords() vocabulary {
	v := vocabularies()[0]
	v.name = "live"
	v.read = func(p string, a, b int) (string, string) { return "read", object("path", p, "from", a, "to", b) }
	v.run = func(l string) (string, string) { return "bash", object("command", l) }
	v.wrap = func(text string, _, _ int) string { return text }
	return v
}

// world answers the calls of the last reply.
type world struct {
	mu      sync.Mutex
	answers map[string][]trajectory.Call // by tool and arguments
}

func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers = map[string][]trajectory.Call{}
}

func (w *world) expect(c trajectory.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := callKey(c.Tool, json.RawMessage(c.Args))
	w.answers[key] = append(w.answers[key], c)
}

// next returns the answer to a call that comes next, and takes it if taken.
func (w *world) next(tool string, args json.RawMessage, taken bool) (trajectory.Call, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := callKey(tool, args)
	cs := w.answers[key]
	if len(cs) == 0 {
		return trajectory.Call{}, false
	}
	if taken {
		w.answers[key] = cs[1:]
	}
	return cs[0], true
}

// callKey names a call, however its arguments are written.
func callKey(tool string, args json.RawMessage) string {
	var in any
	_ = json.Unmarshal(args, &in) // the model of this test writes JSON
	return tool + fmt.Sprint(in)
}

// files are those that a call writes.
func files(c trajectory.Call) []progress.File {
	out := c.Files
	if c.State != "" {
		out = append(out, progress.File{Path: c.Target, Hash: c.State})
	}
	for i := range out {
		out[i].Path = strings.TrimPrefix(out[i].Path, "/")
	}
	return out
}

// standIn is a tool of a name and a kind that answers from the world.
func (w *world) standIn(name string, kind tool.Kind) tool.Tool {
	spec := llm.ToolSpec{Name: name, Doc: name, Schema: json.RawMessage(`{"type":"object"}`)}
	t := tool.Raw(spec,
		func(_ tool.Env, args json.RawMessage) (fp tool.Footprint, err error) {
			c, _ := w.next(name, args, false)
			fp.Unknown = kind == tool.Exec // what a command does is not known, so they run in order
			for _, f := range files(c) {
				fp.Writes = append(fp.Writes, tool.Span{Path: f.Path})
			}
			return fp, nil
		},
		func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
			c, ok := w.next(name, args, true)
			if !ok {
				return tool.Errorf("the test has no answer to %s %s", name, args), nil
			}
			for _, f := range files(c) {
				if err := put(ctx, env.Files, f.Path, f.Hash); err != nil {
					return tool.Result{}, err
				}
			}
			r := tool.Result{Text: c.Result, Error: !c.OK}
			if kind == tool.Exec {
				exit := 0
				if !c.OK {
					exit = 1
				}
				r.Exit, r.Command = &exit, commandOf(args)
				r.Last = fmt.Sprint("exit code ", exit)
				if r.Text != "" {
					r.Text += "\n"
				}
				r.Text += r.Last
			}
			return r, nil
		})
	t.Facts = tool.Facts{Kind: kind, Whole: kind == tool.Edit}
	return t
}

func commandOf(args json.RawMessage) string {
	var in struct{ Command string }
	_ = json.Unmarshal(args, &in)
	return in.Command
}

// put gives a file a content.
func put(ctx context.Context, files tool.Files, path, content string) error {
	was, _, err := files.Stat(path)
	if err != nil {
		return err
	}
	_, err = files.Write(ctx, path, []byte(content+"\n"), was)
	return err
}

// played is how a live run went.
type played struct {
	exit, calls int
	stuck       []event.Stuck
	blocked     bool
	told        int // bytes of notes to the model
}

// play plays a shape for at most limit calls, width in a reply.
func play(t *testing.T, p pattern, width, limit int) played {
	t.Helper()
	w, tell := &world{}, &teller{v: plainWords()}
	var waiting []trajectory.Call
	round, asked := 0, 0
	m := llmtest.New()
	m.InfoValue.Window = 1 << 20
	m.Next = func(int, *llm.Request) llmtest.Turn {
		if asked >= limit {
			return llmtest.Say("done")
		}
		for len(waiting) < width {
			waiting = append(waiting, p.round(tell, round)...)
			round++
		}
		w.forget()
		var names []string
		text := ""
		for _, c := range waiting[:width] {
			w.expect(c)
			names = append(names, c.Tool, c.Args)
			text = c.Message
		}
		waiting, asked = waiting[width:], asked+width
		turn := llmtest.Use(names...)
		turn.Text = text
		return turn
	}
	cfg := sessiontest.Config(t, t.TempDir(), m, nil)
	cfg.Tools = tool.Set{
		w.standIn("read", tool.Read), w.standIn("edit", tool.Edit), w.standIn("write", tool.Edit), w.standIn("bash", tool.Exec), w.standIn("todo", tool.Note),
		w.standIn("send_mail", ""), w.standIn("browser_navigate", ""), w.standIn("execute_bash", tool.Exec), w.standIn("web_search", tool.Search), w.standIn("web_fetch", tool.Read), w.standIn("jira_lookup", tool.Search),
	}
	cfg.Permission = permission.New(permission.Config{Mode: "yolo", Root: cfg.Dir, Home: "/home/nobody"})
	cfg.Progress = progress.Default()
	cfg.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	s := sessiontest.Open(t, cfg)
	prompt := "go"
	if p.asked != "" {
		prompt = p.asked
	}
	var out, errs bytes.Buffer
	r := must.Get(headless.Run(t.Context(), s, prompt, headless.Options{Format: headless.JSON, Out: &out, Err: &errs, Now: time.Now}))(t)
	got := played{exit: r.ExitCode, calls: r.Calls}
	for e, err := range cfg.Store.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		if b, ok := e.Body.(event.Stuck); ok {
			got.stuck = append(got.stuck, b)
			got.blocked = got.blocked || b.Level == "block"
			if b.Level != "halt" {
				got.told += len(b.Text)
			}
		}
	}
	return got
}

// whole: PAWL_LIVE=all plays every shape for longer and with each number of calls.
func whole() bool { return os.Getenv("PAWL_LIVE") == "all" }

// widths returns the numbers of calls in a reply with which the i-th shape is played.
func widths(i int) []int {
	if all := []int{1, 3, 10}; whole() {
		return all
	} else {
		return all[i%3 : i%3+1]
	}
}

// SPEC 6.1, 6.4: live, no productive run is halted, however alike its steps are, and
// hardly one is warned.
func TestMonotonousRunsLive(t *testing.T) {
	t.Parallel()
	limit := 50
	if whole() {
		limit = 120
	}
	n, warned := 0, 0
	alike := monotonous()
	for i, p := range append(alike, innocents()...) {
		for _, width := range widths(i) {
			limit := limit
			if whole() && p.long {
				limit = 1000
			}
			got := play(t, p, width, limit)
			if got.exit != 0 || got.blocked {
				t.Errorf("%s, %d calls a reply: exit code %d after %d calls: %+v", p.name, width, got.exit, got.calls, got.stuck)
			}
			if i >= len(alike) {
				continue // of these, the rules that only warn may speak
			}
			if n++; len(got.stuck) > 0 {
				warned++
				t.Logf("%s, %d calls a reply: %s by %s: %s", p.name, width, got.stuck[0].Level, got.stuck[0].Rule, got.stuck[0].Text)
			}
		}
	}
	t.Logf("%d of %d monotonous runs were warned", warned, n)
	if warned*50 > n {
		t.Errorf("%d of %d monotonous runs were warned", warned, n)
	}
}

// SPEC 6.1, 6.5: live, what is stuck is halted, whatever noise is in between, and the
// model is told in few words, once of each loop.
func TestStuckRunsLive(t *testing.T) {
	t.Parallel()
	n, halted := 0, 0
	for i, p := range append(noisy(), loops()...) {
		if c := p.round(&teller{v: plainWords()}, 0)[0]; c.Kind == progress.None || c.Tool == "finish" {
			continue // a reply without a call ends a turn, and pawl has no tool to hand in with
		}
		for _, width := range widths(i) {
			limit := loopSteps * max(1, width/2)
			if p.slow {
				limit *= 4
			}
			got := play(t, p, width, limit)
			n++
			if got.exit == 5 {
				halted++
			} else {
				t.Logf("%s, %d calls a reply: exit code %d after %d calls, %d notes", p.name, width, got.exit, got.calls, len(got.stuck))
			}
			advised := map[string]bool{}
			for _, b := range got.stuck {
				if !strings.Contains(b.Text, "What shows it:") {
					continue // one line more on what the model was told before
				}
				if advised[b.Fingerprint] {
					t.Errorf("%s: advised twice about %s", p.name, b.Fingerprint)
				}
				advised[b.Fingerprint] = true
			}
			if got.told > 6000 {
				t.Errorf("%s: %d bytes of notes", p.name, got.told)
			}
		}
	}
	t.Logf("%d of %d stuck runs were halted", halted, n)
	if halted*100 < 95*n {
		t.Errorf("%d of %d stuck runs were halted", halted, n)
	}
}
