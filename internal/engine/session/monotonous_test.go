package session_test

import (
	"fmt"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// replies returns a model that asks for width calls in each of count replies, and then is done.
func replies(count, width int, call func(i int) (name, args string)) *llmtest.Model {
	m := llmtest.New()
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		if n >= count {
			return llmtest.Say("done")
		}
		var all []string
		for k := range width {
			name, args := call(n*width + k)
			all = append(all, name, args)
		}
		return llmtest.Use(all...)
	}
	return m
}

func lines(format string) func(i int) (string, string) {
	return func(i int) (string, string) {
		return "bash", fmt.Sprintf(`{"command":%q}`, fmt.Sprintf(format, i))
	}
}

// SPEC 6.1, 6.3: live, a loop over a list is not even warned, whatever it finds and
// however many calls a reply has. The shapes are a sample of bench/progress.
func TestListsAreNotStuck(t *testing.T) {
	for name, call := range map[string]func(i int) (string, string){
		"which":             lines("which nosuchprogram%dx"),
		"test -f":           lines("test -f pkg%dx.go"),
		"grep -q":           lines("grep -q word%dx a.txt"),
		"a search, nothing": lines("grep -c word%dx a.txt || true"),
		"reads of missing files": func(i int) (string, string) {
			return "read", fmt.Sprintf(`{"files":[{"path":"lib%d/setup.py"}]}`, i)
		},
	} {
		for _, width := range []int{1, 7} {
			t.Run(fmt.Sprint(name, " ", width), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "yolo", replies(28/min(width, 2), width, call), judged)
				r.Put("a.txt", "one\n")
				es := r.Run("go", nil)
				if end := find[event.Ended](es)[0]; end.End != event.EndDone {
					t.Errorf("%+v", end)
				}
				if s := find[event.Stuck](es); len(s) > 0 {
					t.Errorf("%d notes: %s by %s: %s", len(s), s[0].Level, s[0].Rule, s[0].Text)
				}
			})
		}
	}
}

// SPEC 6.1, 6.2: live, a run is halted although something meaningless is new in each
// of its rounds, and what it is told stays short.
func TestNoiseHidesNoLoop(t *testing.T) {
	failing := func(i int) (string, string) { return "bash", `{"command":"echo assertion failed >&2; exit 1"}` }
	for name, noise := range map[string]func(i int) (string, string){
		"a log of attempts": lines("echo attempt %d failed >> attempts.log"),
		"debug notes": func(i int) (string, string) {
			return "write", fmt.Sprintf(`{"path":"notes.md","content":"attempt %d: still failing, it may be %x\n"}`, i, i*7919)
		},
		"a comment": func(i int) (string, string) {
			return "edit", fmt.Sprintf(`{"path":"a.py","old":"x = 1  # try %d","new":"x = 1  # try %d"}`, i/2, i/2+1)
		},
		"the todo list": func(i int) (string, string) {
			return "todo", fmt.Sprintf(`{"items":[{"text":"try %d","status":"in_progress"}]}`, i)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "yolo", replies(120, 1, func(i int) (string, string) {
				if i%2 == 0 {
					return failing(i)
				}
				return noise(i - 1)
			}), judged)
			r.Put("a.py", "x = 1  # try 0\n")
			es := r.Run("go", nil)
			if end := find[event.Ended](es)[0]; end.End != event.EndStuck {
				t.Errorf("%+v after %d calls; %+v", end, len(find[event.CallDone](es)), find[event.Stuck](es))
			}
			told := 0
			for _, s := range find[event.Stuck](es) {
				told += len(s.Text)
			}
			if told > 6000 {
				t.Errorf("%d bytes of notes", told)
			}
			t.Logf("%d calls, %d notes, %d bytes", len(find[event.CallDone](es)), len(find[event.Stuck](es)), told)
		})
	}
}
