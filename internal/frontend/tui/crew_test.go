package tui

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// swarmRig is a screen on which a swarm of two tasks runs. Its interrupts come to by.
func swarmRig(t *testing.T) (r *testScreen, by chan string, tell func(...event.Body)) {
	r = newTestScreen(t, llmtest.New())
	by = make(chan string, 10)
	r.swarm = func(who string) { by <- who }
	r.start("")
	r.see("a swarm runs")
	tell = func(bs ...event.Body) {
		t.Helper()
		for _, b := range bs {
			must.Do(t, r.session.Coordination().Append(t.Context(), event.Draft{Body: b}))
		}
	}
	tell(event.SwarmPlanned{Goal: "mend both", Base: "b", Tasks: []event.Task{
		{ID: "parser", Goal: "mend the parser", Accept: []string{"true"}}, {ID: "printer", Goal: "mend the printer", After: []string{"parser"}, Accept: []string{"true"}},
	}}, event.TaskTaken{Task: "parser", Worker: "w1", Fence: 1, Base: "b"})
	return r, by, tell
}

// A swarm on the screen: its tasks are a tree with what each worker does, nothing can be
// entered, what was typed stays, and at its end the screen ends with its result.
//
// SPEC 14.2, 18.1
func TestSwarmOnTheScreen(t *testing.T) {
	r, by, tell := swarmRig(t)
	r.see("▸ parser  taken by w1")
	r.see("0 of 2 tasks")
	r.see("esc interrupts")
	r.session.Coordination().Show(event.TaskCalled{Worker: "w1", What: "bash go test ./parser"})
	r.see("taken by w1: bash go test ./parser")
	r.session.Coordination().Show(event.TaskCalled{Worker: "w9", What: "of nobody"})

	r.enter("do more")
	r.see("a swarm runs here")
	r.until("the text is still there", func(string) bool { return strings.Contains(r.screen(), "› do more") })
	for range len("do more") {
		r.press("backspace")
	}
	r.say("/compact")
	r.press("esc", "enter") // not the menu's
	r.until("a command that would wait is refused", func(text string) bool { return strings.Count(text, "a swarm runs here") == 2 })
	if got := <-by; got != "person" {
		t.Errorf("Esc interrupts as %q", got)
	}
	tell(event.TaskReturned{Task: "parser", Worker: "w1", Fence: 1, Outcome: event.TaskDone, Commit: "c"}, event.TaskMerged{Task: "parser", Commit: "m"},
		event.TaskTaken{Task: "printer", Worker: "w2", Fence: 2, Base: "m"})
	r.see("☑ parser")
	r.see("1 of 2 tasks")
	tell(event.TaskReturned{Task: "printer", Worker: "w2", Fence: 2, Outcome: event.TaskDone, Commit: "d"}, event.TaskMerged{Task: "printer", Commit: "n"},
		event.SwarmEnded{Outcome: event.SwarmVerified, Commit: "n"})
	r.talk.Tell("written to your files")
	r.talk.Leave("")
	if e := r.left(); e.By != "" {
		t.Errorf("it ended by %q", e.By)
	}
	for _, want := range []string{"2 of 2 tasks", "☑ printer", "verified", "written to your files", "Up brings it back"} {
		if !strings.Contains(r.text(), want) {
			t.Errorf("%q is not there at the end:\n%s", want, r.text())
		}
	}
	if strings.Contains(r.text(), "of nobody") || strings.Contains(r.text(), "pawl --resume") {
		t.Errorf("at the end:\n%s", r.text())
	}
}

// SPEC 10.3: the ladder of interrupts over a swarm.
func TestSwarmInterrupts(t *testing.T) {
	t.Run("the first interrupts, and the swarm ends the screen", func(t *testing.T) {
		r, by, _ := swarmRig(t)
		r.press("ctrl+c")
		if got := <-by; got != "person" {
			t.Errorf("interrupted as %q", got)
		}
		r.see("esc interrupts") // it still runs
		r.talk.Leave("pawl swarm resume s1")
		if e := r.left(); e.By != "" {
			t.Errorf("it ended by %q", e.By)
		}
		r.see("pawl swarm resume s1")
	})
	t.Run("three at once leave", func(t *testing.T) {
		r, by, _ := swarmRig(t)
		r.clock.stand()
		r.press("ctrl+c", "ctrl+c", "ctrl+c")
		if e := r.left(); e.By != "SIGINT" || len(by) != 2 {
			t.Errorf("it ended by %q after %d", e.By, len(by))
		}
	})
	t.Run("a signal leaves", func(t *testing.T) {
		r, by, _ := swarmRig(t)
		r.send(Signal{Name: "SIGTERM"})
		if e := r.left(); e.By != "SIGTERM" || <-by != "SIGTERM" {
			t.Errorf("it ended by %q", e.By)
		}
	})
	t.Run("Ctrl+D leaves", func(t *testing.T) {
		r, _, _ := swarmRig(t)
		r.press("ctrl+d")
		if e := r.left(); e.By != "" {
			t.Errorf("it ended by %q", e.By)
		}
		r.see("pawl --resume s1")
	})
}
