package session_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// SPEC 9.5: the model lets go of results by their handles; it is told what
// does not exist; what it cleaned is gone once room is made, with its words in
// the place, and a session taken up again asks the same.
func TestModelCleansUp(t *testing.T) {
	m := llmtest.New()
	n := 0
	m.Next = func(_ int, r *llm.Request) llmtest.Turn {
		switch n++; {
		case isSummary(r):
			return llmtest.Say("Learned: nothing yet, but all of the pages up to here were looked at for a door.")
		case n <= 12:
			return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+100))
		case n == 13:
			return llmtest.Use("cleanup_tool_call", `{"tool_call_ids":["r99"],"summary":"x"}`, "cleanup_tool_call", `{"tool_call_ids":["r11","[r12]"],"summary":"dull pages with hunter2hunter2","reason":"not needed"}`)
		case n == 14:
			return llmtest.Use("cleanup_tool_call", `{"tool_call_ids":["r12"],"summary":"again"}`, "cleanup_tool_call", `{"tool_call_ids":[],"summary":"x"}`)
		}
		return llmtest.Say("done")
	}
	r := windowed(t, 200_000, m, func(c *session.Config) { c.Tools = append(c.Tools, tools.CleanupToolCall()) })
	events := r.Run("look", nil)
	done := find[event.CallDone](events)[12:]
	for i, want := range []string{"no result has the handle r99: nothing was marked; the newest handles are r1, ", "marked r11, r12: about ", "r12: cleaned up before, or left out already", "tool_call_ids is empty"} {
		if text := done[i].Result.Text; !strings.HasPrefix(text, want) || done[i].Result.Error != (i == 0 || i == 3) {
			t.Errorf("call %d: %q, want %q", i, text, want)
		}
	}
	if cs := find[event.Cleaned](events); len(cs) != 1 || fmt.Sprint(cs[0].Results) != "[r11 r12]" || strings.Contains(cs[0].Summary, "hunter2hunter2") {
		t.Errorf("%+v", cs)
	}
	last := m.Requests()[len(m.Requests())-1]
	if text := fmt.Sprint(last.Messages[2].Parts[0].Result.Text); !strings.HasSuffix(text, "\n[r1]") {
		t.Errorf("%q has no handle", text[len(text)-30:])
	}
	if w := r.View().Window(); w.Cleaned != 2 {
		t.Errorf("%d wait", w.Cleaned)
	}
	must.Done(t)(r.do(session.Compact{}))
	n = 20
	r.Run("and now?", nil)
	text := ""
	for _, q := range m.Requests()[len(m.Requests())-1].Messages {
		for _, p := range q.Parts {
			if p.Result != nil {
				text += p.Result.Text + "\n"
			}
		}
	}
	if strings.Contains(text, "page 112 ") || !strings.Contains(text, "[Cleaned up - not needed]: dull pages with [masked:held]") || r.View().Window().Cleaned != 0 {
		t.Errorf("%.600s", text)
	}
	checkFold(t, stored(t, r.Cfg.Store, r.Cfg.ID))
}

// SPEC 4.13, 9.3: hints and status messages are notes behind a step, so that
// the next request begins with the one before; with compaction off the model is
// told of each tier once.
func TestAdvice(t *testing.T) {
	m := llmtest.New()
	n := 0
	m.Next = func(_ int, r *llm.Request) llmtest.Turn {
		if n++; n > 60 {
			return llmtest.Say("done")
		}
		for _, p := range r.Messages[len(r.Messages)-1].Parts {
			if p.Result != nil && strings.Contains(p.Result.Text, "CRITICAL") {
				return llmtest.Say("blocked")
			}
		}
		return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+100))
	}
	r := windowed(t, 16384, m, func(c *session.Config) { c.Window = window.Config{Compact: "off"} })
	var why []string
	events := r.Run("look", nil)
	for _, b := range find[event.Noted](events) {
		why = append(why, string(b.Why))
	}
	if fmt.Sprint(why) != "[window.moderate window.aggressive window.critical]" || len(find[event.Compacted](events)) > 0 {
		t.Errorf("%v", why)
	}
	if u, p := r.View().Urgency(); p < 95 || u != "high" && u != "critical" {
		t.Errorf("urgency %s at %.1f %%", u, p)
	}
}

// SPEC 4.13: three searches that find nothing bring a hint into the next
// request, once.
func TestHints(t *testing.T) {
	m := llmtest.New()
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		if n < 5 {
			return llmtest.Use("grep", fmt.Sprintf(`{"pattern":"nothing%d"}`, n))
		}
		return llmtest.Say("done")
	}
	r := newRig(t, "ask", m, func(c *session.Config) { c.Tools = tool.Set{tools.Grep()} })
	notes := find[event.Noted](r.Run("search", nil))
	if len(notes) != 1 || notes[0].Why != "hint.search" {
		t.Fatalf("%+v", notes)
	}
	q := m.Requests()[3].Messages
	if parts := q[len(q)-1].Parts; len(parts) != 2 || parts[0].Kind != llm.Output || parts[1].Text != notes[0].Text {
		t.Errorf("%+v", parts)
	}
}

// SPEC 9.1, 19.3: a better counter is asked for once, when a request of a
// conversation is out that is so long that counts matter, and takes over; one
// that fails is none.
func TestCounterIsLazy(t *testing.T) {
	for _, c := range []struct {
		calls int
		fails bool
		asked int32
	}{{1, false, 0}, {8, false, 1}, {8, true, 1}} {
		fails := c.fails
		var asked atomic.Int32
		m := llmtest.New()
		m.Next = func(n int, _ *llm.Request) llmtest.Turn {
			if n < c.calls {
				return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+100))
			}
			return llmtest.Turn{Text: "done", Usage: llm.Usage{}}
		}
		r := windowed(t, 16_384, m, func(c *session.Config) {
			c.Counter = func() (window.Counter, error) {
				asked.Add(1)
				if fails {
					return nil, errors.New("no vocabulary")
				}
				return bytesCounter{}, nil
			}
		})
		before := r.View().Window()
		if asked.Load() != 0 {
			t.Error("asked for before the first request")
		}
		r.Run("look", nil)
		r.Run("look again", nil)
		_ = r.Close() // waits for it
		if asked.Load() != c.asked {
			t.Errorf("%+v, %.0f %% full: asked for %d times", c, r.View().Window().Percent, asked.Load())
		}
		// What the system prompt and tools count, without the factor, says which
		// counter it is.
		w := r.View().Window()
		if got := float64(w.Parts[1].Tokens) / w.Factor; (fails || c.asked == 0) != (got < float64(before.Parts[1].Tokens)*2) {
			t.Errorf("fails %v: the tools count %.0f, were %d", fails, got, before.Parts[1].Tokens)
		}
	}
}

// bytesCounter counts bytes.
type bytesCounter struct{}

func (bytesCounter) Count(s string) int { return len(s) }

// SPEC 8.1, 10.4: a process that dies while a summary is asked for has spent
// what was set aside; a summary that ended, or was never asked for, is charged
// once.
func TestCrashDuringSummary(t *testing.T) {
	m := llmtest.New()
	m.Next = readOn(t, 40)
	r := windowed(t, 16384, m)
	r.Run("read", nil)
	log := stored(t, r.Cfg.Store, r.Cfg.ID)
	asides := 0
	for i, e := range log {
		a, ok := e.Body.(event.SideRequest)
		if !ok {
			continue
		}
		asides++
		reopen := func(n int) ([]event.Charged, session.Config) {
			cfg := r.Cfg
			cfg.Store = copied(t, log[:n])
			s := must.Get(session.Open(t.Context(), cfg))(t)
			_ = s.Close()
			return find[event.Charged](stored(t, cfg.Store, cfg.ID)[n:]), cfg
		}
		cs, cfg := reopen(i + 1)
		if len(cs) != 1 || cs[0].By != "compaction" || !cs[0].Guess || cs[0].USD == nil || *cs[0].USD != *a.Reserved || *a.Reserved <= 0 || cs[0].Usage.Input != a.Input {
			t.Errorf("died while it was asked for: %+v of %+v", cs, a)
		}
		s := must.Get(session.Open(t.Context(), cfg))(t)
		if more := find[event.Charged](stored(t, cfg.Store, cfg.ID)); len(more) != len(find[event.Charged](log[:i+1]))+1 {
			t.Error("charged again when it was taken up once more")
		}
		_ = s.Close()
		if cs, _ := reopen(i); len(cs) != 0 {
			t.Errorf("died before: %+v", cs)
		}
		if cs, _ := reopen(i + 2); len(cs) != 0 {
			t.Errorf("died after it was charged: %+v", cs)
		}
	}
	if asides == 0 {
		t.Error("no summary was asked for")
	}
}
