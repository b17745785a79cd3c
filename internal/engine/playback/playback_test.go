package playback_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/playback"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/engine/verify"
)

func scripted(turns ...llmtest.Turn) llmtest.Scripted {
	m := llmtest.New(turns...)
	m.CodecValue = anthropic.New(provider.Tuning{})
	return llmtest.Scripted{Model: m}
}

// record runs prompts in a new session, and returns its events.
func record(t *testing.T, m llm.Model, change func(*session.Config), opened **session.Session, prompts ...session.Prompt) []event.Event {
	t.Helper()
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "a.txt"), "one\ntwo\n")
	cfg := sessiontest.Config(t, dir, m, nil)
	cfg.System = "You are a coding agent."
	if change != nil {
		change(&cfg)
	}
	s := sessiontest.Open(t, cfg)
	if opened != nil {
		*opened = s
	}
	for _, p := range prompts {
		must.Done(t)(s.RunPrompt(t.Context(), p, session.Observer{}))
	}
	return events(t, cfg.Store)
}

func events(t *testing.T, st event.Store) (out []event.Event) {
	t.Helper()
	for e, err := range st.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		out = append(out, e)
	}
	return out
}

func seq(es []event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range es {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// play plays events in a session in another folder, where no file is as it was.
func play(t *testing.T, es []event.Event, change func(*session.Config)) playback.Result {
	t.Helper()
	rec := must.Get(playback.Read(seq(es)))(t)
	p := playback.New(rec)
	cfg := sessiontest.Config(t, t.TempDir(), scripted(), nil)
	cfg.System = "You are a coding agent."
	if change != nil {
		change(&cfg)
	}
	cfg.Store = memory.New(time.Now)
	p.Configure(&cfg)
	r := must.Get(p.Run(t.Context(), sessiontest.Open(t, cfg)))(t)
	return r
}

var work = []llmtest.Turn{
	llmtest.Use("read", `{"files":[{"path":"a.txt"}]}`, "bash", `{"command":"date +%N; cat nowhere"}`),
	llmtest.Use("read", `{"files":[{"path":"missing.txt"}]}`, "write", `{"path":"a.txt","content":"three\n"}`),
	llmtest.Use("Write", `{"file_path":"b.txt","content":"x\n"}`, "nosuch", `{}`, "write", `{"content":1}`),
	llmtest.Say("done"),
	llmtest.Use("bash", `{"command":"echo again"}`),
	llmtest.Say("yes"),
}

var prompts = []session.Prompt{{Text: "change a.txt"}, {Text: "and then?"}}

// again makes the turn go on twice, as the checks of a project do.
type again struct{ n int }

func (a *again) Next(ctx context.Context, t *verify.TurnEnd) (string, error) {
	if err := t.Log.Append(ctx, event.Draft{Body: event.Checked{Name: "go test", Command: "go test ./...", Exit: new(int)}}); err != nil {
		return "", err
	}
	if a.n++; a.n > 2 {
		return "", nil
	}
	return "The checks fail.", nil
}

// SPEC 20.5: this build makes the requests that it made, byte by byte, without a tool.
func TestSame(t *testing.T) {
	for name, c := range map[string]struct {
		m       llmtest.Scripted
		change  func(*session.Config)
		prompts []session.Prompt
		steer   bool
		has     event.Body // that the recording has
	}{
		"two turns":                   {m: scripted(work...), prompts: prompts},
		"goes on twice":               {m: scripted(work...), prompts: []session.Prompt{{Text: "fix it", Until: &again{}}}, has: event.Prompted{}},
		"notes of files":              {m: scripted(work...), change: withRules, prompts: prompts, has: event.Noted{}},
		"a small window":              {m: small(scripted(work...)), prompts: append(prompts, long("a"), long("b"), long("c"), long("d"), long("e"), long("f")), has: event.Compacted{}},
		"checks, then a small window": {m: small(scripted(work...)), prompts: []session.Prompt{{Text: "fix it", Until: &again{}}, long("a"), long("b"), long("c"), long("d"), long("e"), long("f")}, has: event.Compacted{}},
		"a person":                    {m: scripted(work...), change: func(c *session.Config) { c.Person = true }, prompts: prompts},
		"steered":                     {m: scripted(work...), prompts: prompts, steer: true},
	} {
		t.Run(name, func(t *testing.T) {
			var s *session.Session
			if c.steer {
				turns := append([]llmtest.Turn(nil), work...)
				turns[1].Before = func(*llm.Request) {
					if _, err := s.Submit(t.Context(), session.Prompt{Text: "and write b.txt"}); err != nil {
						t.Error(err)
					}
				}
				c.m = scripted(turns...)
			}
			es := record(t, c.m, c.change, &s, c.prompts...)
			if c.has != nil && !slices.ContainsFunc(es, func(e event.Event) bool { return reflect.TypeOf(e.Body) == reflect.TypeOf(c.has) }) {
				t.Errorf("the recording has no %T", c.has)
			}
			r := play(t, es, func(p *session.Config) {
				p.Model.(llmtest.Scripted).InfoValue = c.m.Info()
				if c.change != nil {
					c.change(p)
				}
			})
			if r.Differs() || r.Same != r.Recorded || r.Recorded < 3 || r.Cut != "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func long(s string) session.Prompt {
	return session.Prompt{Text: s + strings.Repeat(" more words", 500)}
}

func small(m llmtest.Scripted) llmtest.Scripted {
	m.InfoValue.Window, m.InfoValue.MaxOutput = 6000, 500
	m.Next = func(_ int, r *llm.Request) llmtest.Turn {
		return llmtest.Turn{Text: strings.Repeat("what was done ", 60), Usage: llm.Usage{Known: true, Input: int64(len(bytes.Join(r.Body, nil)) / 4), Output: 200}}
	}
	return m
}

func withRules(c *session.Config) {
	n := 0
	c.Rules = func(context.Context, session.Guidance) []string {
		if n++; n == 2 {
			return []string{"The rules of a/AGENTS.md: write haiku."}
		}
		return nil
	}
}

// SPEC 20.5: what this build makes differently is said in words: what, where, both sides.
func TestDiffers(t *testing.T) {
	es := record(t, scripted(work...), nil, nil, prompts...)
	for name, c := range map[string]struct {
		events func([]event.Event)
		build  func(*session.Config)
		want   []string
		all    bool // the conversation is compared to its end
	}{
		"the system prompt": {nil, func(c *session.Config) { c.System = "You are a poet." }, []string{"the system prompt differs at byte 11:", `"You are a poet."`}, true},
		"a description":     {nil, func(c *session.Config) { c.Tools[1].Spec.Doc += " Gently." }, []string{"the description of the tool write differs at byte"}, true},
		"a missing tool":    {nil, func(c *session.Config) { c.Tools = c.Tools[:2] }, []string{"the list of tools differs", "request 2, message 3 (result of read), part 2"}, false},
		"a schema": {nil, func(c *session.Config) {
			c.Tools[2].Spec.Schema = json.RawMessage(`{"type":"object"}`)
		}, []string{"the arguments of the tool bash"}, true},
		"a refusal's words": {func(es []event.Event) {
			change(es, func(d *event.CallDone) bool {
				if d.Tool != "nosuch" {
					return false
				}
				d.Result.Text = "There is no such tool. " + d.Result.Text
				return true
			})
		}, nil, []string{"request 4 was sent with", "request 4, message 7 (result of Write), part 2 differs at byte 13:", "There is no such tool."}, false},
		"another size": {func(es []event.Event) {
			for i, e := range es {
				if b, ok := e.Body.(event.Requested); ok {
					b.Bytes++
					es[i].Body = b
					return
				}
			}
		}, nil, []string{"request 1 was sent with"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			copied := append([]event.Event(nil), es...)
			if c.events != nil {
				c.events(copied)
			}
			r := play(t, copied, c.build)
			got := strings.Join([]string{r.Head, r.Size, r.Talk}, "\n")
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("no %q in\n%s", w, got)
				}
			}
			if (r.Compared == r.Recorded) != c.all || len(got) > 900 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func change(es []event.Event, f func(*event.CallDone) bool) {
	for i, e := range es {
		if d, ok := e.Body.(event.CallDone); ok && f(&d) {
			es[i].Body = d
			return
		}
	}
}

// SPEC 20.5: what a person did beside their prompts ends the playing, and is named; a
// session without an answer cannot be played.
func TestCut(t *testing.T) {
	es := record(t, scripted(work...), nil, nil, prompts...)
	last := 0
	for i, e := range es {
		if _, ok := e.Body.(event.Prompted); ok {
			last = i
		}
	}
	for want, body := range map[string]event.Body{
		"interrupted":         event.Interrupted{By: "person"},
		"changed the mode":    event.ModeSet{Mode: "plan"},
		"ran a command":       event.PersonRan{Command: "ls"},
		"without the model":   event.Recalled{Text: "kept"},
		"by the model: turns": event.Ended{End: event.EndTurns},
		"too long":            event.Compacted{Why: "length"},
		"phase":               event.Phased{Number: 1, By: "person"},
	} {
		with := append(append(append([]event.Event(nil), es[:last]...), event.Event{Seq: es[last].Seq, Body: body}), es[last:]...)
		r := play(t, with, nil)
		if !strings.Contains(r.Cut, want) || r.Differs() || r.Same != 4 || r.Recorded != 4 {
			t.Errorf("%T: %+v", body, r)
		}
	}
	if _, err := playback.Read(seq(es[:3])); err == nil {
		t.Error("a session without a reply is played")
	}
	child := append([]event.Event(nil), es...)
	child[0].Body = event.Opened{Parent: &event.ParentCall{}}
	if _, err := playback.Read(seq(child)); err == nil || !strings.Contains(err.Error(), "agent's session") {
		t.Errorf("an agent's session: %v", err)
	}
}
