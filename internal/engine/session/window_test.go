package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// clock is a time that moves ten seconds at each look.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(10 * time.Second)
	return c.now
}

// looker is a tool that gives the nth of many texts.
func looker(text func(n int) string) tool.Tool {
	type in struct {
		N int `json:"n"`
	}
	t := tool.New("look", "look at the nth", func(tool.Env, in) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(_ context.Context, _ tool.Env, i in) (tool.Result, error) {
			if i.N == 7 {
				return tool.Errorf("no such door: the cellar is walled up since 1911"), nil
			}
			return tool.Text(text(i.N)), nil
		})
	t.ReadOnly = true
	return t
}

func page(n int) string {
	return strings.Repeat(fmt.Sprintf("page %d has a line of words on it\n", n), 150)
}

// windowed is a rig with a small window and the look tool alone.
func windowed(t *testing.T, size int, m *llmtest.Model, change ...func(*session.Config)) *rig {
	t.Helper()
	m.InfoValue.Window, m.InfoValue.MaxOutput = size, 4096
	c := &clock{now: time.Unix(1_700_000_000, 0)}
	return newRig(t, "ask", m, append([]func(*session.Config){func(cfg *session.Config) {
		cfg.Store, cfg.Now = memory.New(c.Now), c.Now
		cfg.Tools = tool.Set{looker(page)}
	}}, change...)...)
}

// size counts a request as a provider would that counts a fifth more.
func size(r *llm.Request) int64 {
	n := window.Estimate{}.Count(r.Head.System)
	for _, t := range r.Head.Tools {
		n += window.Estimate{}.Count(t.Name + t.Doc + string(t.Schema))
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Result != nil:
				n += window.Estimate{}.Count(p.Result.Text)
			case p.Call != nil:
				n += window.Estimate{}.Count(string(p.Call.Args)) + 10
			default:
				n += window.Estimate{}.Count(p.Text)
			}
		}
	}
	return int64(n) * 6 / 5
}

func isSummary(r *llm.Request) bool { return len(r.Head.Tools) == 0 }

// SPEC 4.2, 6.1, 9.2, 9.6: a session of 1,000 calls in a window of 16,384
// tokens runs to its end; every request fits and is paired, and what failed at
// the start is still known.
func TestThousandCalls(t *testing.T) {
	const calls = 1000
	n := 0
	m := llmtest.New()
	m.Next = func(_ int, r *llm.Request) llmtest.Turn {
		u := llm.Usage{Known: true, Input: size(r), Output: 50}
		if u.Input+int64(r.Tail.MaxTokens) > 16384 {
			t.Errorf("call %d: %d tokens in, %d out", n, u.Input, r.Tail.MaxTokens)
		}
		if isSummary(r) {
			return llmtest.Turn{Text: fmt.Sprintf("Done: looked at %d pages, one by one from the first to the last, and found no door.", n), Usage: u}
		}
		if n++; n > calls {
			return llmtest.Turn{Text: "all read", Usage: u}
		}
		x := llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n))
		x.Calls[0].ID = fmt.Sprint("call", n%5) // ids repeat with some models
		x.Usage = u
		return x
	}
	r := windowed(t, 16384, m)
	events := r.Run("find the cellar door of <the old house>", nil)
	if end := find[event.Ended](events); len(end) != 1 || end[0].End != event.EndDone {
		t.Fatalf("%+v after %d calls", end, n)
	}
	done := find[event.CallDone](events)
	if len(done) != calls {
		t.Errorf("%d calls", len(done))
	}
	for i, d := range done {
		if c := (window.Estimate{}).Count(d.Result.Text); c > 1250 { // the provider counts otherwise
			t.Errorf("result %d has %d tokens", i, c)
		}
	}
	for i, q := range m.Requests() {
		pairs(t, i, q.Messages)
	}
	cs := find[event.Compacted](events)
	if len(cs) < 20 || len(cs) > calls/5 {
		t.Errorf("%d compactions", len(cs))
	}
	charged := find[event.Charged](events)
	for _, c := range cs {
		if c.By != event.ByModel || c.After*10 > c.Before*8 || c.Error != nil {
			t.Errorf("%s: %d → %d tokens, %v", c.By, c.Before, c.After, c.Error)
		}
	}
	if spent, _ := r.View().Spent(); len(charged) != len(cs) || spent.Requests != len(m.Requests()) {
		t.Errorf("%d compactions, %d charged; %d requests counted of %d", len(cs), len(charged), spent.Requests, len(m.Requests()))
	}
	checkFold(t, stored(t, r.Cfg.Store, r.Cfg.ID))
	last := m.Requests()[len(m.Requests())-1]
	text := last.Messages[0].Text()
	for _, want := range []string{"find the cellar door of <the old house>", "walled up since 1911"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not known any more in\n%s", want, text)
		}
	}
	_, newest, _ := strings.Cut(text, "Done: looked at ")
	if pages, _, _ := strings.Cut(newest, " "); len(pages) < 3 || pages < "900" && pages != "1000" {
		t.Errorf("the newest summary is of page %q", pages)
	}
}

// plainCodec encodes messages as they are.
type plainCodec struct{}

func (plainCodec) Head(h llm.Head) ([]byte, error) {
	b, err := json.Marshal(h)
	return append(b, '['), err
}

func (plainCodec) Step(ms []llm.Message, _ bool) ([]byte, error) {
	var out [][]byte
	for _, m := range ms {
		b, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return bytes.Join(out, []byte(",")), nil
}

func (plainCodec) Tail(t llm.Tail) []byte { return fmt.Appendf(nil, "]%d", t.MaxTokens) }

// readOn calls look n times and then says so.
func readOn(t *testing.T, calls int) func(int, *llm.Request) llmtest.Turn {
	n := 0
	return func(_ int, r *llm.Request) llmtest.Turn {
		if isSummary(r) {
			return llmtest.Say("Learned: the pages are dull, all of them, and no door is behind any of the walls.")
		}
		if n++; n > calls {
			return llmtest.Say("read")
		}
		return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+100))
	}
}

// SPEC 9.4, 9.6, 10.4: between two rebases the prefix holds, and a session that
// is taken up again after a compaction asks the same bytes.
func TestResumeAfterCompaction(t *testing.T) {
	m := llmtest.New()
	m.CodecValue, m.Next = plainCodec{}, readOn(t, 40)
	r := windowed(t, 16384, m, func(c *session.Config) { c.Model = llmtest.Scripted{Model: m} })
	events := r.Run("read", nil)
	if len(find[event.Compacted](events)) == 0 {
		t.Fatal("no compaction")
	}
	var before []byte
	for i, q := range m.Requests() {
		if isSummary(q) {
			if len(q.Body) == 0 {
				t.Error("the summary's request has no body")
			}
			before = nil
			continue
		}
		now := bytes.Join(q.Body[:2], nil)
		if !bytes.HasPrefix(now, before) {
			t.Errorf("request %d does not begin with the one before it", i)
		}
		before = now
	}
	log := stored(t, r.Cfg.Store, r.Cfg.ID)
	ask := func(again session.Config) []byte {
		m := llmtest.New()
		m.CodecValue, m.InfoValue = plainCodec{}, r.Model.InfoValue
		again.Model = llmtest.Scripted{Model: m}
		s := over(t, again)
		defer s.Close()
		s.Run("and now?", nil)
		return bytes.Join(m.Requests()[0].Body, nil)
	}
	n := len(m.Requests())
	r.Run("and now?", nil)
	live := bytes.Join(m.Requests()[n].Body, nil)
	again := r.Cfg
	again.Store = copied(t, log)
	if resumed := ask(again); !bytes.Equal(resumed, live) {
		t.Errorf("resumed\n%s\nlive\n%s", resumed, live)
	}
}

func tooLong() error {
	return &fault.Error{Category: fault.Provider, Kind: fault.ErrContextLength, Message: "prompt is too long"}
}

// SPEC 3.3: a request that a provider refuses as too long is compacted and
// tried again, once.
func TestContextLength(t *testing.T) {
	for _, twice := range []bool{false, true} {
		m := llmtest.New()
		n, refused := 0, 0
		m.Next = func(_ int, r *llm.Request) llmtest.Turn {
			switch n++; {
			case isSummary(r):
				return llmtest.Say("Learned: nothing yet, but all of the pages up to here were looked at for a door.")
			case n <= 20:
				return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+100))
			case refused == 0, twice:
				refused++
				return llmtest.Turn{Err: tooLong()}
			}
			return llmtest.Say("read")
		}
		r := windowed(t, 0, m)
		events := r.Run("read", nil)
		cs, end := find[event.Compacted](events), find[event.Ended](events)[0]
		if len(cs) != 1 || cs[0].Why != event.CompactedLength || cs[0].After >= cs[0].Before {
			t.Fatalf("%+v", cs)
		}
		if !twice && (end.End != event.EndDone || refused != 1) || twice && (end.End != event.EndProvider || refused != 2) {
			t.Errorf("twice %v: %+v, refused %d times", twice, end, refused)
		}
		checkFold(t, stored(t, r.Cfg.Store, r.Cfg.ID))
		if limit := r.View().Window().Limit; limit != int(cs[0].Before) {
			t.Errorf("limit %d", limit)
		}
	}
}

// SPEC 9.6: no model at hand, or a summary that fails: what the log says stands
// for it, and why is recorded.
func TestWithoutSummary(t *testing.T) {
	for _, c := range []struct {
		name  string
		api   string
		turn  llmtest.Turn
		fault string
	}{
		{"offline", "offline", llmtest.Say("never asked"), ""},
		{"fails", "scripted", llmtest.Turn{Err: errors.New("hunter2hunter2 is down")}, "[masked:held] is down"},
		{"breaks", "scripted", llmtest.Turn{Text: "Learned: half of", Err: errors.New("cut")}, "cut"},
		{"empty", "scripted", llmtest.Turn{Text: " "}, "no summary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := llmtest.New()
			on := readOn(t, 40)
			m.Next = func(n int, r *llm.Request) llmtest.Turn {
				if isSummary(r) {
					return c.turn
				}
				return on(n, r)
			}
			m.InfoValue.API = c.api
			r := windowed(t, 16384, m)
			events := r.Run("read the pages", nil)
			cs := find[event.Compacted](events)
			if end := find[event.Ended](events)[0]; end.End != event.EndDone || len(cs) == 0 {
				t.Fatalf("%+v, %d compactions", end, len(cs))
			}
			for _, e := range cs {
				if e.By != event.ByLedger || (e.Error == nil) != (c.fault == "") || e.Error != nil && !strings.Contains(e.Error.Message, c.fault) {
					t.Errorf("%s %+v", e.By, e.Error)
				}
			}
			asked := 0
			for _, got := range find[event.Charged](events) {
				asked += got.Requests
				// SPEC 8.1: a request that is refused costs nothing, and is one all the same.
				if free := got.USD != nil && *got.USD == 0 && !got.Guess && got.Usage == (llm.Usage{Known: true}); free != (c.name == "fails") {
					t.Errorf("charged %+v", got)
				}
			}
			if (asked > 0) != (c.name != "offline") {
				t.Errorf("%d requests are counted", asked)
			}
		})
	}
}

// SPEC 9.6, 9.7: /compact outside a turn, with a focus; prompts wait for it; an
// interrupt ends it and leaves all as it was.
func TestCompactByHand(t *testing.T) {
	m := llmtest.New()
	m.Next = readOn(t, 20)
	r := windowed(t, 200_000, m)
	if done, _ := r.do(session.Compact{}); done.Outcome != event.NothingDone {
		t.Errorf("an empty session: %+v", done)
	}
	r.Run("read", nil)
	before := r.View().Window()
	on := m.Next
	m.Next = func(n int, q *llm.Request) llmtest.Turn {
		x := on(n, q)
		x.Wait = make(chan struct{})
		x.Before = func(*llm.Request) { _, _ = r.Submit(context.Background(), session.Interrupt{By: "person"}) }
		return x
	}
	if done, err := r.do(session.Compact{}); done.Outcome != event.Cancelled || r.View().Window().Tokens != before.Tokens || r.Busy() {
		t.Errorf("interrupted: %v, %d → %d tokens, busy %v", err, before.Tokens, r.View().Window().Tokens, r.Busy())
	}
	m.Next = func(n int, q *llm.Request) llmtest.Turn {
		x := on(n, q)
		if isSummary(q) {
			if !strings.Contains(q.Messages[0].Text(), "the dull ones") {
				t.Error("the focus is not told")
			}
			x.Before = func(*llm.Request) {
				if _, err := r.Submit(context.Background(), session.Prompt{Text: "meanwhile"}); err != nil {
					t.Error(err)
				}
			}
		}
		return x
	}
	events := r.Events(t.Context(), r.View().Last())
	must.Done(t)(r.do(session.Compact{Focus: "the dull ones"}))
	var order []string
	for e, err := range events {
		must.Do(t, err)
		switch b := e.Body.(type) {
		case event.Compacted:
			if b.Why != event.CompactedPerson || b.Focus != "the dull ones" {
				t.Errorf("%+v", b)
			}
			order = append(order, "compacted")
		case event.Prompted:
			order = append(order, b.Text)
		case event.Ended:
			order = append(order, "ended")
		}
		if len(order) == 3 {
			break
		}
	}
	if fmt.Sprint(order) != "[compacted meanwhile ended]" {
		t.Error(order)
	}
	checkFold(t, stored(t, r.Cfg.Store, r.Cfg.ID))
	after := r.View().Window()
	if after.Tokens*2 > before.Tokens*3/2 || after.Compacts != 1 {
		t.Errorf("%d → %d tokens", before.Tokens, after.Tokens)
	}
}

// SPEC 6.7, 9.6: a window that nothing can make room in ends the turn with a
// clear error, and never by going round; calls are blocked first (4.2).
func TestHopelessWindow(t *testing.T) {
	m := llmtest.New()
	m.Next = func(n int, r *llm.Request) llmtest.Turn { return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n)) }
	r := windowed(t, 4096, m, func(c *session.Config) { c.System = strings.Repeat("too long a prompt ", 1200) })
	events := r.Run("read", nil)
	end := find[event.Ended](events)[0]
	if end.End != event.EndStuck || end.Error == nil || len(m.Requests()) > 10 {
		t.Errorf("%+v after %d requests", end, len(m.Requests()))
	}
	for _, d := range find[event.CallDone](events) {
		if d.Outcome != event.Denied || !strings.Contains(d.Result.Text, "CRITICAL") {
			t.Errorf("%+v", d)
		}
	}
}

// SPEC 9.2: results of no bytes, 50 MB, one line of 10 MB, nothing but line
// ends, emoji made of several runes, and of bytes that
// are no text: within the cap, the whole kept, and text.
func TestOddResults(t *testing.T) {
	texts := []string{"", strings.Repeat("fifty megabytes of lines\n", 2<<20), strings.Repeat("漢", 10<<20/3), strings.Repeat("\xff\xfe\x80 ok\n", 50_000), "\xff", strings.Repeat("\n", 10<<20), strings.Repeat("👩\u200d👩\u200d👧", 1<<16), strings.Repeat("\r\n\x00", 1<<20)}
	m := llmtest.New()
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		if n < len(texts) {
			return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+100))
		}
		return llmtest.Say("read")
	}
	r := windowed(t, 128_000, m, func(c *session.Config) {
		c.Tools = tool.Set{looker(func(n int) string { return texts[n-100] })}
	})
	for i, d := range find[event.CallDone](r.Run("read", nil)) {
		text := d.Result.Text
		if n := (window.Estimate{}).Count(text); n > 8000 || !utf8.ValidString(text) || d.Bytes != int64(len(texts[i])) {
			t.Errorf("result %d: %d tokens, %d bytes, valid %v", i, n, d.Bytes, utf8.ValidString(text))
		}
		if cut := len(texts[i]) > 1000; cut != (d.Spill != "") {
			t.Errorf("result %d: spill %q", i, d.Spill)
		}
		if d.Spill == "" {
			continue
		}
		if whole, err := os.ReadFile(d.Spill); err != nil || string(whole) != texts[i] || !strings.Contains(text, d.Spill) {
			t.Errorf("result %d: the whole is not in %q: %v", i, d.Spill, err)
		}
	}
}

// SPEC 4.6, 9.6: what a compaction left out is no longer seen: a write over it
// is refused; what it left is.
func TestSeenAfterCompaction(t *testing.T) {
	m := llmtest.New()
	n := 0
	next := func() llmtest.Turn {
		switch n++; {
		case n == 1:
			return llmtest.Use("read", `{"files":[{"path":"old.txt"}]}`)
		case n < 30:
			return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+100))
		case n == 30:
			return llmtest.Use("read", `{"files":[{"path":"new.txt"}]}`)
		case n == 31:
			return llmtest.Say("read")
		case n == 32:
			return llmtest.Use("write", `{"path":"new.txt","content":"newer"}`, "write", `{"path":"old.txt","content":"older"}`)
		}
		return llmtest.Say("written")
	}
	m.Next = func(_ int, q *llm.Request) llmtest.Turn {
		if isSummary(q) {
			return llmtest.Say("Done: the old and the new text were read, and many pages between them, which say nothing.")
		}
		x := next()
		x.Usage = llm.Usage{Known: true, Input: size(q), Output: 50}
		return x
	}
	r := windowed(t, 128_000, m, func(c *session.Config) {
		c.Tools = append(c.Tools, tools.Read(), tools.Write())
		c.Permission = policy(t, "accept-edits", c.Dir)
	})
	r.Put("old.txt", "old\n")
	r.Put("new.txt", "new\n")
	r.Run("read", nil)
	must.Done(t)(r.do(session.Compact{}))
	done := find[event.CallDone](r.Run("write", nil))
	if done[0].Outcome != event.OK || done[1].Outcome != event.Denied || r.File("new.txt") != "newer" || r.File("old.txt") != "old\n" {
		t.Errorf("%s: %s\n%s: %s", done[0].Outcome, done[0].Result.Text, done[1].Outcome, done[1].Result.Text)
	}
}

// SPEC 9.6: a poor summary is refused once, with the reason; after a second one the log
// stands for it, and what was noted before is not lost.
func TestPoorSummaryIsMadeAgain(t *testing.T) {
	const good = "Learned: the pages 1 to 20 of looking are about doors, and the cellar door is on page 7 of them."
	for name, c := range map[string]struct {
		say  []string
		by   event.CompactedBy
		text string
	}{
		"good":        {[]string{good}, event.ByModel, good},
		"poor, good":  {[]string{"ok", good}, event.ByModel, good},
		"poor twice":  {[]string{"ok", "All is well."}, event.ByLedger, ""},
		"poor, empty": {[]string{"ok", " "}, event.ByLedger, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := llmtest.New()
			on := readOn(t, 20)
			var asked []*llm.Request
			m.Next = func(n int, r *llm.Request) llmtest.Turn {
				if isSummary(r) {
					asked = append(asked, r)
					return llmtest.Say(c.say[len(asked)-1])
				}
				return on(n, r)
			}
			r := windowed(t, 200_000, m)
			r.Run("read the pages", nil)
			must.Done(t)(r.do(session.Compact{}))
			if len(asked) != len(c.say) {
				t.Fatalf("%d requests", len(asked))
			}
			if len(asked) > 1 {
				ms := asked[1].Messages
				if len(ms) != 1 || !strings.Contains(ms[0].Text(), "<poor>\nok\n</poor>") || !strings.Contains(ms[0].Text(), "have 1 words") {
					t.Errorf("%+v", ms)
				}
			}
			cs := find[event.Compacted](stored(t, r.Cfg.Store, r.Cfg.ID))
			if len(cs) != 1 || cs[0].By != c.by || cs[0].Summary != c.text || (cs[0].Error == nil) != (c.by == event.ByModel) {
				t.Errorf("%+v", cs)
			}
		})
	}
}
