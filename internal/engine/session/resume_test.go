package session_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// failing asks once to mend something.
type failing struct{ asked bool }

func (f *failing) Next(context.Context, *verify.TurnEnd) (string, error) {
	if f.asked {
		return "", nil
	}
	f.asked = true
	return "[The check failed: mend it.]", nil
}

// everything is a session whose log has a note of each kind that pawl adds to a
// conversation: routes, hints, handles, cleaned results, rules, phases, prompts
// of autofix, recoveries, undo notes and a compaction.
func everything(t *testing.T) (*rig, *llmtest.Model) {
	t.Helper()
	m := llmtest.New()
	m.CodecValue = plainCodec{}
	m.InfoValue.Window, m.InfoValue.MaxOutput = 16384, 2048
	empty := func(p string) llmtest.Turn { return llmtest.Use("grep", `{"pattern":"`+p+`"}`) }
	script := []llmtest.Turn{
		// "first": a question that turns into an edit, with hints and a check.
		empty("nowhere"), empty("never"), empty("no one"),
		llmtest.Use("read", `{"files":[{"path":"sub/a.txt"}]}`, "look", `{"n":101}`),
		llmtest.Use("todo", `{"items":[{"text":"fix it","status":"in_progress"},{"text":"say so","status":"pending"}]}`),
		llmtest.Use("edit", args(map[string]string{"path": "sub/a.txt", "old": "one", "new": "two"})),
		llmtest.Say("done"),
		llmtest.Say("mended"),
		// "second": results are let go of, and the same command runs in circles.
		llmtest.Use("look", `{"n":102}`),
		llmtest.Use("cleanup_tool_call", `{"tool_call_ids":["r5"],"summary":"a page","reason":"read"}`),
		llmtest.Use("bash", `{"command":"echo same; false"}`), llmtest.Use("bash", `{"command":"echo same; false"}`), llmtest.Use("bash", `{"command":"echo same; false"}`),
		llmtest.Say("stopped"),
	}
	n := 0
	m.Next = func(_ int, r *llm.Request) llmtest.Turn {
		if isSummary(r) {
			return llmtest.Say("Learned: the pages are dull, all of them, and no door is behind any of the walls.")
		}
		n++
		switch last := r.Messages[len(r.Messages)-1].Text(); {
		case n <= len(script):
			return script[n-1]
		case strings.Contains(last, "third") || n < len(script)+16:
			return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+200))
		}
		return llmtest.Say("read")
	}
	told := "[The rules of this folder: be nice.]"
	r := newRig(t, "yolo", m, func(c *session.Config) {
		c.Model = llmtest.Scripted{Model: m}
		c.Tools = append(c.Tools, tools.Grep(), tools.CleanupToolCall(), looker(page))
		c.Route, c.Person = route.Config{Mode: route.Auto}, true
		c.Progress = progress.Default()
		c.Rules = func(_ context.Context, g session.Guidance) []string {
			if slices.Contains(g.Notes, told) || len(g.Seen) == 0 {
				return nil
			}
			return []string{told}
		}
		c.Autofix = func() verify.Verifier { return &failing{} }
	})
	must.Do(t, os.Mkdir(filepath.Join(r.Dir, "sub"), 0o700))
	r.Put("sub/a.txt", "one\n")
	return r, m
}

// SPEC 9.4, 10.4: with every kind of note in the log, a session that is taken
// up again between two turns asks the bytes that the living one asks, and one
// that dies anywhere goes on from what it had asked, byte for byte.
func TestResumeWithEverything(t *testing.T) {
	r, m := everything(t)
	type point struct {
		events int    // of the log, when the prompt came
		prompt string // the next one
		first  int    // its first request
	}
	var points []point
	turn := func(prompt string) {
		points = append(points, point{len(stored(t, r.Cfg.Store, r.Cfg.ID)), prompt, len(m.Requests())})
		r.Run(prompt, replying(t, r, event.Once))
	}
	must.Done(t)(r.Submit(t.Context(), session.Phase{Text: "begin"}))
	turn("what is in sub/a.txt?")
	must.Done(t)(session.DoPlan(t.Context(), r.Session, r.plan(undo.Selector{}), undo.Consent{}))
	turn("second")
	turn("third")
	turn("and now?")
	log := stored(t, r.Cfg.Store, r.Cfg.ID)

	notes := map[string]bool{}
	for _, n := range find[event.Noted](log) {
		notes[string(n.Why)] = true
	}
	for kind, n := range map[string]int{
		"route": len(find[event.Routed](log)), "cleaned": len(find[event.Cleaned](log)), "compacted": len(find[event.Compacted](log)),
		"phase": len(find[event.Phased](log)), "undone": len(find[event.Undone](log)), "stuck": len(find[event.Stuck](log)),
	} {
		if n == 0 {
			t.Errorf("there is no %s in the log", kind)
		}
	}
	fixed := slices.ContainsFunc(find[event.Prompted](log), func(p event.Prompted) bool { return p.Source != event.Person })
	if !fixed || !notes["rules"] || !notes["route"] || len(notes) < 4 {
		t.Errorf("autofix %v, notes %v", fixed, notes)
	}

	requests := m.Requests()
	// ask takes the log's first n events up with a prompt, and gives the request.
	ask := func(n int, prompt string) [][]byte {
		m := llmtest.New()
		m.CodecValue, m.InfoValue = plainCodec{}, r.Model.InfoValue
		cfg := r.Cfg
		cfg.Model, cfg.Store, cfg.Permission = llmtest.Scripted{Model: m}, copied(t, log[:n]), policy(t, "yolo", r.Dir)
		s := over(t, cfg)
		defer s.Close()
		s.Run(prompt, nil)
		got := m.Requests()[0]
		if isSummary(got) {
			return nil // the conversation is made shorter first
		}
		checkPairs(t, n, got.Messages)
		return got.Body
	}
	for _, p := range points[1:] {
		live, resumed := bytes.Join(requests[p.first].Body, nil), bytes.Join(ask(p.events, p.prompt), nil)
		if !bytes.Equal(live, resumed) {
			t.Errorf("%s: resumed\n%s\nlive\n%s", p.prompt, resumed, live)
		}
	}
	var before []byte // of the newest request before the cut
	asked, compared := 0, 0
	for n, e := range log {
		switch e.Body.(type) {
		case event.Requested:
			for isSummary(requests[asked]) {
				asked++
			}
			before = bytes.Join(requests[asked].Body[:2], nil)
			asked++
		case event.Compacted, event.Rebased:
			before = nil
		}
		if n == 0 {
			continue
		}
		body := ask(n+1, "go on")
		if body == nil {
			continue
		}
		compared++
		if got := bytes.Join(body[:2], nil); !bytes.HasPrefix(got, before) {
			t.Fatalf("died after event %d of %d (%s): asked\n%s\nwhich does not begin with\n%s", n+1, len(log), e.Body.Kind(), got, before)
		}
	}
	if compared < len(log)*3/4 {
		t.Errorf("%d of %d places compared", compared, len(log))
	}
}
