package session_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

var wholeIn = regexp.MustCompile(`the whole, (\d+) lines? and ([0-9.]+) MB, is in (\S+): read it in parts`)

// What a prompt brings along takes a quarter of the window that is left, however
// large it is and however it came: its beginning and end stay, and a file has the
// whole, which the model reads in parts. The person's own words stay.
//
// SPEC 9.3, 10.1
func TestPromptFitsTheWindow(t *testing.T) {
	var lines strings.Builder
	for i := 1; lines.Len() < 10_000_000; i++ {
		fmt.Fprintf(&lines, "%d: some text of a log\n", i)
	}
	large := lines.String()
	key := "sk-ant-" + "api03-" + strings.Repeat("Ab1", 30)
	for _, c := range []struct {
		name   string
		window int
		prompt session.Prompt
		files  []string // the wholes
		says   []string
		never  []string
	}{
		{name: "a paste", prompt: session.Prompt{Text: "explain " + large + " in a word", Pasted: []string{large}}, files: []string{large}, says: []string{"explain 1: some text", " in a word"}},
		{name: "two pastes with words between", prompt: session.Prompt{Text: "compare " + large + " with " + large[:5_000_000] + "x as to y", Pasted: []string{large, large[:5_000_000] + "x"}}, files: []string{large[:5_000_000] + "x", large}, says: []string{"compare 1:", " with 1:", " as to y"}},
		{name: "a small window", window: 8192, prompt: session.Prompt{Text: "explain " + large, Pasted: []string{large}}, files: []string{large}, says: []string{"explain 1:"}},
		{name: "a window of unknown size", window: -1, prompt: session.Prompt{Text: "explain " + large, Pasted: []string{large}}, files: []string{large}},
		{name: "piped", prompt: session.Prompt{Text: "explain", Piped: large}, files: []string{large}, says: []string{"explain\n\n1: some"}},
		{name: "piped, as the prompt itself", prompt: session.Prompt{Text: large + "\nwhat is it?"}, files: []string{large + "\nwhat is it?"}, says: []string{"what is it?"}},
		{name: "one line", prompt: session.Prompt{Text: "decode " + strings.Repeat("QUJD", 2_500_000), Pasted: []string{strings.Repeat("QUJD", 2_500_000)}}, files: []string{strings.Repeat("QUJD", 2_500_000)}, says: []string{"decode QUJD"}},
		{name: "a key in it", prompt: session.Prompt{Text: "explain " + large + key + "\n" + large, Pasted: []string{large + key + "\n" + large}}, files: []string{""}, never: []string{key}},
		{name: "a short paste beside it", prompt: session.Prompt{Text: "a " + strings.Repeat("short\n", 20) + " b " + large, Pasted: []string{strings.Repeat("short\n", 20), large}}, files: []string{large}, says: []string{strings.Repeat("short\n", 20)}},
		{name: "what fits", prompt: session.Prompt{Text: "explain " + large[:30_000], Pasted: []string{large[:30_000]}}, says: []string{"explain " + large[:30_000]}},
		{name: "mentions in a paste", prompt: session.Prompt{Text: "see ./x @gone.go\n" + large, Pasted: []string{" @gone.go\n" + large}}, files: []string{" @gone.go\n" + large}, never: []string{"there is no such file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := llmtest.New(llmtest.Say("all read"))
			switch {
			case c.window > 0:
				m.InfoValue.Window, m.InfoValue.MaxOutput = c.window, 1024
			case c.window < 0:
				m.InfoValue.Window = 0
			}
			s := sessiontest.Open(t, sessiontest.Config(t, t.TempDir(), m, nil))
			must.Done(t)(s.RunPrompt(t.Context(), c.prompt, session.Observer{}))
			got := ""
			for _, msg := range m.Requests()[0].Messages {
				got += msg.Text()
			}
			most := (200_000 - 8192) / 4
			switch {
			case c.window > 0:
				most = c.window / 4
			case c.window < 0:
				most = 16_000
			}
			if n := (window.Estimate{}).Count(got); n > most+500 {
				t.Errorf("the model got %d tokens, at most %d", n, most)
			}
			found := wholeIn.FindAllStringSubmatch(got, -1)
			if len(found) != len(c.files) {
				t.Fatalf("%d files, want %d; the model got %.3000q", len(found), len(c.files), got)
			}
			for i, want := range c.files {
				b := must.Get(os.ReadFile(found[i][3]))(t)
				ok := want == "" && len(b) > 10_000_000
				for _, w := range c.files { // a file may be of any of them
					ok = ok || w != "" && w == string(b)
				}
				if !ok {
					t.Errorf("file %d has %d bytes, %.80q", i, len(b), b)
				}
				for _, never := range c.never {
					if strings.Contains(string(b), never) {
						t.Errorf("the file has %q", never)
					}
				}
			}
			for _, want := range c.says {
				if !strings.Contains(got, want) {
					t.Errorf("the model misses %.80q; it got %.2000q", want, got)
				}
			}
			for _, never := range c.never {
				if strings.Contains(got, never) {
					t.Errorf("the model got %q", never)
				}
			}
			for e, err := range s.Events(t.Context(), 0) {
				must.Do(t, err)
				if p, ok := e.Body.(event.Prompted); ok {
					if len(p.Text) > 1_000_000 {
						t.Errorf("the log keeps %d bytes", len(p.Text))
					}
					break
				}
			}
		})
	}
}

// elsewhere is a store whose sessions another process has.
type elsewhere struct{ event.Store }

func (elsewhere) Hold(id string) (func(), error) { return nil, &event.HeldError{Session: id, PID: 7} }

// SPEC 10.4: who opens a session that another pawl has is told so once, and what to
// do.
func TestHeldSessionIsSaidOnce(t *testing.T) {
	cfg := sessiontest.Config(t, t.TempDir(), llmtest.New(), nil)
	cfg.Store = elsewhere{cfg.Store}
	_, err := session.Open(t.Context(), cfg)
	if err == nil || strings.Count(err.Error(), "another pawl") != 1 || !strings.Contains(err.Error(), "--fork-session") {
		t.Errorf("%v", err)
	}
}
