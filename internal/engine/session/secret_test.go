package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// SPEC 9.4, 16.7: a call runs with what it was given, and the file gets it; the
// log, and so what the model is sent back of its own words, has the mask. A
// session that is taken up again goes on with the very same messages. A
// person's answer is masked as well.
func TestCallsRunWithWhatTheLogMasks(t *testing.T) {
	const key = "hunter2hunter2"
	m := llmtest.New(
		llmtest.Use("write", `{"path":"key.txt","content":"`+key+`\n"}`),
		llmtest.Use("ask_user", `{"question":"which?"}`),
		llmtest.Say("I wrote "+key), llmtest.Say("again"),
	)
	r := newRig(t, "yolo", m, func(c *session.Config) { c.Person = true })
	r.Run("go", func(e event.Event) {
		if q, ok := e.Body.(event.Asked); ok {
			if _, err := r.Submit(t.Context(), session.Answer{ID: q.ID, Text: "it is " + key}); err != nil {
				t.Error(err)
			}
		}
	})
	if got := r.File("key.txt"); got != key+"\n" {
		t.Errorf("the file has %q", got)
	}
	answered := false
	for _, e := range r.Log() {
		if strings.Contains(args(e.Body), key) {
			t.Errorf("%s: %s", e.Body.Kind(), args(e.Body))
		}
		a, ok := e.Body.(event.Answered)
		answered = answered || ok && a.Text == "it is [masked:held]"
	}
	if !answered {
		t.Error("the answer is not in the log")
	}
	live := lastSent(t, m)
	if strings.Contains(live, key) || !strings.Contains(live, `[masked:held]\\n`) && !strings.Contains(live, `[masked:held]`) {
		t.Errorf("the model was sent %s", live)
	}
	must.Do(t, r.Close())
	r.Open()
	r.Run("and on", nil)
	if again := lastSent(t, m); !strings.HasPrefix(again, strings.TrimSuffix(live, "]")) {
		t.Errorf("taken up again, the model is sent\n%s\nand not\n%s", again, live)
	}
}

// SPEC 16.7: whatever text of its result a tool puts a key into, and wherever the
// result is cut for the model, no piece of the key is in the log or in what is kept
// beside it. A new field of a result is tried without anybody adding it.
func TestNoPieceOfAKeyIsKept(t *testing.T) {
	const key = "correct-horse-7-battery"
	long := func(i int) string { // keys wherever it is cut
		return strings.Repeat("x", i) + strings.Repeat(" "+key, 2000) + "\n" + strings.Repeat(key+"\n", 2000)
	}
	results := map[string]func(text string) tool.Result{
		"an error": func(text string) tool.Result { return tool.Errorf("%s", text) },
		"a gap": func(text string) tool.Result {
			g := &tool.Gap{Head: text, Tail: text, Bytes: 9, Where: "elsewhere"}
			return tool.Result{Text: g.Text() + "exit 1 " + key, Gap: g, Last: "exit 1"}
		},
	}
	for i := range reflect.TypeFor[tool.Result]().NumField() {
		f := reflect.TypeFor[tool.Result]().Field(i)
		if f.Type.Kind() == reflect.String {
			results[f.Name] = func(text string) tool.Result {
				var r tool.Result
				reflect.ValueOf(&r).Elem().Field(i).SetString(text)
				return r
			}
		}
	}
	if len(results) < 6 {
		t.Fatalf("only %d texts of a result", len(results))
	}
	n := 0
	for name, made := range results {
		t.Run(name, func(t *testing.T) {
			leaks := tool.Raw(llm.ToolSpec{Name: "leak", Doc: "d", Schema: json.RawMessage(`{"type":"object"}`)}, nil,
				func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
					n++
					r := made(long(n % 24))
					if name == "an error" {
						return tool.Result{}, errors.New(r.Text)
					}
					return r, nil
				})
			r := newRig(t, "yolo", llmtest.New(llmtest.Use("leak", `{}`), llmtest.Use("leak", `{"a":1}`), llmtest.Use("leak", `{"a":2}`), llmtest.Say("done")), func(c *session.Config) {
				c.Tools, c.Mask = append(c.Tools, leaks), secrets.New(key)
			})
			r.Run("go", nil)
			kept := map[string]string{}
			for _, e := range r.Log() {
				kept[e.Body.Kind()] += args(e.Body)
			}
			err := filepath.WalkDir(r.Cfg.SpillDir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				kept[filepath.Base(path)] = string(b)
				return err
			})
			must.Do(t, err)
			for where, text := range kept {
				for from := range len(key) - 8 {
					if at := strings.Index(text, key[from:from+8]); at >= 0 {
						t.Fatalf("%s: …%s…", where, text[max(0, at-40):min(len(text), at+40)])
					}
				}
			}
		})
	}
}

// SPEC 16.7: a title names the call by the beginning of its argument: wherever that
// ends, no piece of a key in it is kept.
func TestNoPieceOfAKeyIsInATitle(t *testing.T) {
	const key = "correct-horse-7-battery"
	var steps []llmtest.Turn
	for n := 130; n < 165; n += 2 {
		steps = append(steps, llmtest.Use("bash", args(map[string]any{"command": "true " + strings.Repeat("x", n) + key + " and more"})))
		steps = append(steps, llmtest.Use("bash_"+strings.Repeat("x", n-80)+key, `{}`))
	}
	r := newRig(t, "ask", llmtest.New(append(steps, llmtest.Say("done"))...), func(c *session.Config) {
		c.Mask, c.Progress.Off = secrets.New(key), []string{"*"}
	})
	r.Run("go", nil)
	asked := 0
	for _, e := range r.Log() {
		if _, ok := e.Body.(event.CallAsked); ok {
			asked++
		}
		for from := range len(key) - 8 {
			if text := args(e.Body); strings.Contains(text, key[from:from+8]) {
				t.Fatalf("%s: %s", e.Body.Kind(), text)
			}
		}
	}
	if asked < 20 {
		t.Errorf("only %d calls were asked", asked)
	}
}

// lastSent is the messages of the last request.
func lastSent(t *testing.T, m *llmtest.Model) string {
	t.Helper()
	rs := m.Requests()
	ms := rs[len(rs)-1].Messages
	raw := must.Get(json.Marshal(ms))(t)
	return string(raw)
}

// SPEC 16.7: a file of secrets that a command's words name is held before it runs, also
// if nothing is known of the program.
func TestNamedEnvFilesAreHeld(t *testing.T) {
	for _, command := range []string{"cat .env", "dd if=.env", "shuf .env", "bash -c 'cat \"$0\"' .env", "sh -ec 'fold $1' x ./.env", "fold .env", "pr -t ./.env", "expand --tabs=2 -- .env", "mkdir sub && cd sub && fold ../.env", "while read x; do echo $x; done < .env"} {
		r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", args(map[string]string{"command": command})), llmtest.Say("done")))
		r.Put(".env", "COLOUR=marmalade-sandwich-77\n")
		r.Run("go", nil)
		done := 0
		for _, e := range r.Log() {
			if _, ok := e.Body.(event.CallDone); ok {
				done++
			}
			if strings.Contains(args(e.Body), "marmalade") {
				t.Errorf("%s: %s", command, args(e.Body))
			}
		}
		if done != 1 {
			t.Errorf("%s: it did not run", command)
		}
	}
}
