package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/why"
)

// These tests drive scripted models that go in circles, and others that only
// seem to, through the whole agent: real tools on a real folder, the real loop,
// the frontend. SPEC 6.3, 6.4, 6.5, 6.7.

// agent is an agent with all its tools on a folder of its own.
type agent struct {
	*session.Session
	t     *testing.T
	dir   string
	store event.Store
	cfg   session.Config
}

func newAgent(t *testing.T, m llm.Model, files map[string]string, change ...func(*session.Config)) *agent {
	t.Helper()
	dir := must.Dir(t)
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	a := &agent{t: t, dir: dir, cfg: sessiontest.Config(t, dir, m, nil)}
	a.store, a.cfg.System, a.cfg.Progress = a.cfg.Store, "be good", progress.Default()
	a.cfg.Tools = tool.Set{
		tools.Read(), tools.Grep(), tools.Glob(), tools.Ls(), tools.Edit(), tools.MultiEdit(), tools.Write(),
		tools.Bash(), tools.BashOutput(), tools.BashKill(), tools.Todo(), tools.AskUser(),
	}
	a.cfg.Permission = permission.New(permission.Config{Mode: "yolo", Root: dir, Home: "/home/nobody"})
	for _, c := range change {
		c(&a.cfg)
	}
	a.open()
	return a
}

func (a *agent) open() {
	a.t.Helper()
	a.Session = sessiontest.Open(a.t, a.cfg)
}

// stucks are the steps of the ladder that the log holds.
func (a *agent) stucks() (out []event.Stuck) {
	for e, err := range a.store.Read(a.t.Context(), "s1", 0) {
		must.Do(a.t, err)
		if b, ok := e.Body.(event.Stuck); ok {
			out = append(out, b)
		}
	}
	return out
}

// every gives a script that goes on for ever.
func every(next func(n int) llmtest.Turn) func() *llmtest.Model {
	return func() *llmtest.Model {
		m := llmtest.New()
		m.Next = func(n int, _ *llm.Request) llmtest.Turn {
			if n > 2000 {
				return llmtest.Say("nobody saw it")
			}
			return next(n)
		}
		return m
	}
}

// doneAfter is every, which says that it is done after n replies.
func doneAfter(end int, next func(n int) llmtest.Turn) func() *llmtest.Model {
	return every(func(n int) llmtest.Turn {
		if n >= end {
			return llmtest.Say("it is done")
		}
		return next(n)
	})
}

func bash(command string) llmtest.Turn { return llmtest.Use("bash", object("command", command)) }

func object(kv ...string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func read(path string) llmtest.Turn {
	return llmtest.Use("read", `{"files":[{"path":"`+path+`"}]}`)
}

func edit(path, old, now string) llmtest.Turn {
	return llmtest.Use("edit", object("path", path, "old", old, "new", now))
}

// off switches rules off, so that another one is heard.
func off(rules ...string) func(*session.Config) {
	return func(c *session.Config) { c.Progress.Off = rules }
}

// way is a way to go in circles.
type way struct {
	model  func() *llmtest.Model
	files  map[string]string
	change func(*session.Config)
	first  string // the rule that speaks first
	says   string // in its evidence
	calls  int    // that run at most
}

const passage = "Let me look at the file again and see what is wrong with it. "

// ways are those of SPEC 6.3 that end a run.
func ways() map[string]way {
	one := map[string]string{"a.txt": "one\n"}
	w := map[string]way{
		"the same error about one target": {
			first: "same_error", says: "edit a.txt", calls: 14, files: one,
			model: every(func(n int) llmtest.Turn { return edit("a.txt", "no such text "+string(rune('a'+n%26)), "x") }),
		},
		"the same failing command": {
			first: "same_error", says: "bash echo no >&2; exit 3", calls: 8,
			model: every(func(int) llmtest.Turn { return bash("echo no >&2; exit 3") }),
		},
		"the same call": {
			first: "repeated", says: "bash expr 3 + 4 → 7", calls: 8,
			model: every(func(int) llmtest.Turn { return bash("expr 3 + 4") }),
		},
		"five of the same call": {
			first: "identical", says: "bash expr 3 + 4 → 7", calls: 8, change: off("repeated", "staleness"),
			model: every(func(int) llmtest.Turn { return bash("expr 3 + 4") }),
		},
		"five of the same words by echo": {
			first: "identical", says: "bash echo done → done", calls: 10, change: off("repeated", "staleness"),
			model: every(func(int) llmtest.Turn { return bash("echo done") }),
		},
		"back and forth by edits": {
			first: "oscillation", says: "edit a.txt", calls: 16, files: one,
			model: every(func(n int) llmtest.Turn {
				if n%2 == 0 {
					return edit("a.txt", "one", "two")
				}
				return edit("a.txt", "two", "one")
			}),
		},
		"one tool, one error": {
			first: "varied_error", says: "bash ./deploy --attempt 0 → error: cannot reach the registry", calls: 13, change: off("same_error"),
			files: map[string]string{"deploy": "#!/bin/sh\necho 'error: cannot reach the registry' >&2\nexit 1\n"},
			model: every(func(n int) llmtest.Turn { return bash(fmt.Sprintf("./deploy --attempt %d", n)) }),
		},
		"the same words": {
			first: "message", says: "todo", calls: 10, change: off("repeated"),
			model: every(func(int) llmtest.Turn {
				return llmtest.Turn{Text: "I will now fix it.", Calls: llmtest.Use("todo", `{"items":[{"text":"fix it","status":"pending"}]}`).Calls}
			}),
		},
		"the same edit again": {
			first: "reapplied", says: "edit a.txt", calls: 16, files: one,
			model: every(func(n int) llmtest.Turn {
				if n%2 == 0 {
					return edit("a.txt", "one", "two")
				}
				return bash("echo one > a.txt")
			}),
		},
		"nothing new": {
			first: "staleness", says: "read", calls: 16,
			files: map[string]string{"a": "1\n", "b": "2\n", "c": "3\n", "d": "4\n", "e": "5\n"},
			model: every(func(n int) llmtest.Turn { return read([]string{"a", "b", "c", "d", "e"}[n*n*7%11%5]) }),
		},
		"few results, many calls": {
			first: "sterile", says: "read", calls: 20, change: off("staleness", "repeated", "cycle", "identical"),
			files: map[string]string{"a": "1\n", "b": "2\n"},
			model: every(func(n int) llmtest.Turn { return read([]string{"a", "b", "a", "a", "b"}[n*n*7%11%5]) }),
		},
		"one passage in a reply": {
			first: "stream", says: "look at the file", calls: 0,
			model: every(func(int) llmtest.Turn { return llmtest.Turn{Text: strings.Repeat(passage, 7000), Piece: 20} }),
		},
		"one passage in the reasoning": {
			first: "stream", says: "look at the file", calls: 0,
			model: every(func(int) llmtest.Turn {
				return llmtest.Turn{Reasoning: strings.Repeat(passage, 7000), Piece: 20, Text: "x"}
			}),
		},
		"other passages each time": {
			first: "stream", says: "over and over", calls: 0,
			model: every(func(n int) llmtest.Turn {
				return llmtest.Turn{Text: strings.Repeat(fmt.Sprintf("the %dth attempt goes another way than it did. ", n), 7000), Piece: 100}
			}),
		},
	}
	for p := 2; p <= 8; p++ {
		files := map[string]string{}
		for i := range p {
			files[fmt.Sprint("f", i)] = fmt.Sprint("text ", i, "\n")
		}
		w[fmt.Sprint("a cycle of ", p)] = way{
			first: "cycle", says: "read f", calls: 3*p + 8, files: files, change: off("staleness", "repeated", "sterile"),
			model: every(func(n int) llmtest.Turn { return read(fmt.Sprint("f", n%p)) }),
		}
	}
	return w
}

// SPEC 6.3, 6.5, 15.2: each way to go in circles is told to the model with its
// evidence, then blocked, then ended with exit code 5, in every format, and
// `pawl why` names it.
func TestEveryWayToGoInCircles(t *testing.T) {
	for name, w := range ways() {
		t.Run(name, func(t *testing.T) {
			for _, f := range []Format{Text, JSON, Stream} {
				m := w.model()
				a := newAgent(t, m, w.files, func(c *session.Config) {
					if w.change != nil {
						w.change(c)
					}
				})
				var out, errs bytes.Buffer
				r := must.Get(Run(t.Context(), a.Session, "fix it", opts(f, &out, &errs)))(t)
				if r.ExitCode != 5 || r.Outcome != "stuck" || r.Error == nil || r.Calls > w.calls {
					t.Errorf("%s: exit code %d, %s, %d calls, %+v", f, r.ExitCode, r.Outcome, r.Calls, r.Error)
				}
				a.ladder(w, m)
				shown(t, f, w, out.String(), errs.String())
			}
		})
	}
}

// ladder checks the steps that the log holds: recovery, unless the rule halts
// by itself, then block, then one halt, each with its evidence.
func (a *agent) ladder(w way, m *llmtest.Model) {
	a.t.Helper()
	var steps []string
	told := 0
	for i, s := range a.stucks() {
		steps = append(steps, s.Level)
		if s.Rule == "" || s.Fingerprint == "" || s.Text == "" || len(s.Evidence) == 0 {
			a.t.Errorf("without evidence: %+v", s)
		}
		if i == 0 && (s.Rule != w.first || !strings.Contains(strings.Join(s.Evidence, "\n"), w.says) || s.Level == "halt") {
			a.t.Errorf("first: %+v", s)
		}
		if s.Level != "halt" {
			told++
			if last := m.Requests()[len(m.Requests())-1]; !strings.Contains(fmt.Sprint(last.Messages), s.Text) {
				a.t.Errorf("the model was not told: %s", s.Text)
			}
		}
	}
	n := slices.Index(steps, "halt")
	if n != len(steps)-1 || !slices.Contains(steps, "block") || told < 1 || slices.Contains(steps[slices.Index(steps, "block"):], "recovery") && len(steps) > 8 {
		a.t.Errorf("the ladder went %v", steps)
	}
	fold := why.Fold{}
	for e, err := range a.store.Read(a.t.Context(), "s1", 0) {
		must.Do(a.t, err)
		fold.Apply(e)
	}
	if halt := fold.Findings()[0]; halt.Kind != why.Halt || !strings.Contains(halt.Text, "stuck") || !strings.Contains(strings.Join(halt.Evidence, "\n"), "rule: ") {
		a.t.Errorf("why says %+v", halt)
	}
	if bad := a.View().States().Violations; len(bad) > 0 {
		a.t.Errorf("illegal transitions: %+v", bad)
	}
}

// shown checks that a format tells of it.
func shown(t *testing.T, f Format, w way, out, errs string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	switch f {
	case Text:
		for _, want := range []string{"pawl: the model repeats itself: ", "pawl: stuck: Stopped: "} {
			if !strings.Contains(errs, want) {
				t.Errorf("stderr has no %q:\n%s", want, errs)
			}
		}
		// The letter to the model is not the person's (SPEC 18.2).
		if strings.Contains(errs, "You are going") || strings.Contains(errs, "What shows it") || strings.Count(errs, "Stopped: ") != 1 {
			t.Errorf("stderr has more than a sentence:\n%s", errs)
		}
		return
	case Stream:
		v := newValidator(t)
		seen := 0
		for _, l := range lines {
			if err := v.check([]byte(l)); err != nil {
				t.Fatalf("%v\n%s", err, l)
			}
			if strings.HasPrefix(l, `{"type":"stuck"`) {
				seen++
			}
		}
		if seen < 2 {
			t.Errorf("%d steps of the ladder in the stream", seen)
		}
	}
	var r struct {
		Type, Outcome string
		Exit          int `json:"exit_code"`
		Error         struct{ Category, Message string }
	}
	must.Do(t, json.Unmarshal([]byte(lines[len(lines)-1]), &r))
	if r.Type != "result" || r.Outcome != "stuck" || r.Exit != 5 || !strings.HasPrefix(r.Error.Message, "Stopped: ") || f == JSON && len(lines) != 1 {
		t.Errorf("%s ends in %+v, %d lines", f, r, len(lines))
	}
}

// SPEC 6.5: what a person sees of a run that goes in circles.
func TestLadderAsItIsSeen(t *testing.T) {
	a := newAgent(t, ways()["the same call"].model(), nil)
	var out, errs bytes.Buffer
	must.Done(t)(Run(t.Context(), a.Session, "fix it", opts(Text, &out, &errs)))
	got := regexp.MustCompile(`exit code 0, [^,]+,`).ReplaceAllString(out.String()+errs.String(), "exit code 0, SOON,")
	got = regexp.MustCompile(`calls, [0-9. ms]+\n$`).ReplaceAllString(got, "calls, SOON\n")
	golden.File(t, filepath.Join("testdata", "ladder.golden"), got)
}

// SPEC 6.3, 8.1: a model that says one passage for 100,000 tokens costs a few
// thousand, which are counted; nothing of it is kept, and it is charged.
func TestRunawayReplyCostsLittle(t *testing.T) {
	n := 0
	m := llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn {
		if n++; n == 1 {
			return llmtest.Turn{Text: "I begin. " + strings.Repeat(passage, 7000), Piece: 16}
		}
		return llmtest.Say("done it otherwise")
	}
	a := newAgent(t, m, nil)
	var out, errs bytes.Buffer
	r, err := Run(t.Context(), a.Session, "fix it", opts(JSON, &out, &errs))
	if err != nil || r.ExitCode != 0 || r.Text != "done it otherwise" {
		t.Fatalf("%+v, %v", r, err)
	}
	var charged []event.Charged
	for e, err := range a.store.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		switch b := e.Body.(type) {
		case event.Charged:
			charged = append(charged, b)
		case event.Retried:
			if !b.Shown || !strings.Contains(b.Loop+b.Loop, strings.TrimSpace(passage)) || b.Wait != 0 {
				t.Errorf("%+v", b)
			}
		}
	}
	if len(charged) != 1 || charged[0].By != "broken_reply" || charged[0].USD == nil || charged[0].Usage.Output > 4000 || charged[0].Usage.Output < 1000 {
		t.Errorf("charged %+v", charged)
	}
	if text := fmt.Sprint(m.Requests()[1].Messages); strings.Contains(text, strings.Repeat(passage, 3)) || !strings.Contains(text, "over and over") {
		t.Errorf("the next request has %d bytes", len(text))
	}
}

// SPEC 6.4, 6.5: what the person asked to be repeated is not cut off, nor where
// the rule is switched off.
func TestRepeatsThatAreWanted(t *testing.T) {
	for prompt, change := range map[string]func(*session.Config){
		"write that I must not talk, 300 times": func(*session.Config) {},
		"write lines":                           off("stream"),
	} {
		text := strings.Repeat("I must not talk in class, never. ", 300)
		a := newAgent(t, llmtest.New(llmtest.Turn{Text: text, Piece: 50}), nil, change)
		var out, errs bytes.Buffer
		r, err := Run(t.Context(), a.Session, prompt, opts(JSON, &out, &errs))
		if err != nil || r.ExitCode != 0 || r.Text != text {
			t.Errorf("%s: exit code %d, %d bytes, %v, %+v", prompt, r.ExitCode, len(r.Text), err, a.stucks())
		}
	}
}
