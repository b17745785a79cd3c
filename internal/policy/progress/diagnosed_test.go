package progress

import (
	"fmt"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func wrong(path string, line int, message string) tool.Diagnostic {
	return tool.Diagnostic{Path: path, Line: line, Severity: tool.SeverityError, Source: "compiler", Message: message}
}

// SPEC 6.2, 12.2: an outcome of the language servers that was never seen before
// is news; one that was seen is none, wherever and how often it stands. None of
// them is a test.
func TestDiagnosedIsNews(t *testing.T) {
	t.Parallel()
	one := event.Diagnosed{Found: []tool.Diagnostic{wrong("a.go", 1, "undefined: x")}, Errors: 1}
	for name, c := range map[string]struct {
		then event.Diagnosed
		news bool
	}{
		"another error":              {event.Diagnosed{Found: []tool.Diagnostic{wrong("a.go", 1, "missing return")}, Errors: 2}, true},
		"all is mended":              {event.Diagnosed{}, true},
		"some is mended":             {event.Diagnosed{Errors: 1}, true},
		"a warning of the same":      {event.Diagnosed{Found: []tool.Diagnostic{{Path: "a.go", Severity: tool.SeverityWarning, Source: "compiler", Message: "undefined: x"}}}, true},
		"the same":                   {one, false},
		"on another line":            {event.Diagnosed{Found: []tool.Diagnostic{wrong("a.go", 9, "undefined: x")}, Errors: 1}, false},
		"in another file":            {event.Diagnosed{Found: []tool.Diagnostic{wrong("try2.go", 1, "undefined: x")}, Errors: 2}, false},
		"twice":                      {event.Diagnosed{Found: []tool.Diagnostic{wrong("a.go", 1, "undefined: x"), wrong("b.go", 1, "undefined: x")}, Errors: 3}, false},
		"another number in its text": {event.Diagnosed{Found: []tool.Diagnostic{wrong("a.go", 1, "undefined: x")}, Errors: 7}, false},
	} {
		l := newLive(t)
		l.add(one)
		before := l.f.Steps()
		l.add(c.then)
		if got := l.f.Steps() > before; got != c.news {
			t.Errorf("%s: news %v", name, got)
		}
		if s := l.f.Stats(); s.TestsRun != 0 || s.FailStreak != 0 {
			t.Errorf("%s: counted as a test, or as a failure: %+v", name, s)
		}
	}
}

// SPEC 6.1: a run whose servers say something new each time is not stuck, and
// diagnostics that come again and again keep no loop alive.
func TestDiagnosedInARun(t *testing.T) {
	t.Parallel()
	play := func(message func(i int) string) []Decision {
		l := newLive(t)
		return l.until(60, func(i int) (string, []does) {
			at := fmt.Sprint("h", i%2)
			l.add(event.Diagnosed{Call: "elsewhere", Found: []tool.Diagnostic{wrong("a.go", 1, message(i))}, Errors: 1})
			return "", []does{{tool: "bash", args: `{"command":"./swap.sh"}`, result: "swapped", file: "a.go", before: fmt.Sprint("h", (i+1)%2), now: at}}
		})
	}
	if ds := play(func(int) string { return "undefined: x" }); len(ds) == 0 || ds[len(ds)-1].Action != Stop {
		t.Errorf("a loop with the same diagnostics: %s", names(ds))
	}
	words := []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	ds := play(func(i int) string { return "undefined: " + words[i%12] + words[i/12] })
	for _, d := range ds {
		if d.Action == Stop {
			t.Errorf("a run with new outcomes was ended: %s", names(ds))
		}
	}
}

// The outcome of a call comes after the call itself, and with its end only.
func TestDiagnosedComesAfterItsCall(t *testing.T) {
	t.Parallel()
	for outcome, steps := range map[event.Outcome]int{event.OK: 2, event.Cancelled: 0} {
		l := newLive(t)
		l.add(event.CallAsked{ID: "c", Tool: "edit", Args: []byte(`{"path":"a.go"}`), Does: tool.Edit})
		l.add(event.Diagnosed{Call: "c", Found: []tool.Diagnostic{wrong("a.go", 1, "undefined: x")}, Errors: 1})
		if n := l.f.Steps(); n != 0 {
			t.Errorf("%d steps while the call is open", n)
		}
		l.add(event.CallDone{ID: "c", Tool: "edit", Outcome: outcome})
		if n := l.f.Steps(); n != steps {
			t.Errorf("%s: %d steps, want %d", outcome, n, steps)
		}
	}
}
