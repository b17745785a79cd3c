package web

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

func isEnd(kind, data string) bool {
	return kind == "block" && strings.Contains(data, `"kind":"turnend"`)
}

// SPEC 21.1: who leaves after every few events and comes back has what one has who was
// there all the time, in the middle of a reply too; and what who comes later loads.
func TestCatchUp(t *testing.T) {
	text := strings.Repeat("four 漢字 🦀 words\n", 60)
	r := newRig(t, llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Turn{Text: text, Piece: 7}))
	cookie := r.paired(Steer)
	begin := func() *shown {
		return newPage(t, got[Blocks](r, cookie, "/api/s/s1/blocks"), got[Hello](r, cookie, "/api/hello").Cursor)
	}
	all, leaves := begin(), begin()
	if code := r.post(cookie, "/api/s/s1/prompt", Prompt{ID: "prompt-1", Text: "count"}); code != 200 {
		t.Fatal(code)
	}
	var both sync.WaitGroup
	both.Go(func() { r.watch(cookie, all, func(k, d string) bool { return k == "" || isEnd(k, d) }) })
	both.Go(func() {
		for over := false; !over; {
			left := 3
			r.watch(cookie, leaves, func(k, d string) bool {
				left--
				over = over || isEnd(k, d)
				return k == "" || left == 0 || over
			})
		}
	})
	both.Wait()
	later := begin()
	if !reflect.DeepEqual(all.order, leaves.order) || !reflect.DeepEqual(all.blocks, leaves.blocks) {
		t.Errorf("one who left has other blocks:\n%v\n%v", all.order, leaves.order)
	}
	for id, b := range later.blocks {
		if all.blocks[id] != b {
			t.Errorf("%s: loaded later %+v, live %+v", id, b, all.blocks[id])
		}
	}
	if len(later.blocks) != len(all.blocks) || !strings.Contains(fmt.Sprint(all.blocks), "four 漢字 🦀 words") {
		t.Errorf("%d and %d blocks", len(later.blocks), len(all.blocks))
	}
}

// SPEC 21.1: who loads the blocks in the middle of a reply has what was streamed, and
// the rest follows on it. Older blocks come by the first one that is there.
func TestLoadsInTheMiddle(t *testing.T) {
	hold := make(chan struct{})
	r := newRig(t, llmtest.New(llmtest.Turn{Text: "one two three four", Piece: 4, Wait: hold}))
	cookie := r.paired(Steer)
	early := newPage(t, Blocks{}, got[Hello](r, cookie, "/api/hello").Cursor)
	r.post(cookie, "/api/s/s1/prompt", Prompt{ID: "prompt-1", Text: "count"})
	r.watch(cookie, early, func(k, _ string) bool { return k == "piece" || k == "" })
	half := newPage(t, got[Blocks](r, cookie, "/api/s/s1/blocks"), early.cursor)
	last := half.blocks[half.order[len(half.order)-1]]
	if !last.Open || !strings.HasPrefix(last.Text, "one") {
		t.Errorf("the open reply is %+v", last)
	}
	close(hold)
	r.watch(cookie, half, func(k, d string) bool { return k == "" || isEnd(k, d) })
	if b := half.blocks[last.ID]; b.Open || !strings.Contains(b.HTML, "one two three four") {
		t.Errorf("%+v", b)
	}
	whole := got[Blocks](r, cookie, "/api/s/s1/blocks")
	var ids, paged []string
	for _, b := range whole.Blocks {
		ids = append(ids, b.ID)
	}
	for before, more := "", true; more; {
		part := got[Blocks](r, cookie, "/api/s/s1/blocks?n=2&before="+before)
		var these []string
		for _, b := range part.Blocks {
			these = append(these, b.ID)
		}
		paged, more = append(these, paged...), part.More
		before = paged[0]
	}
	if !reflect.DeepEqual(ids, paged) || len(ids) < 3 {
		t.Errorf("%v, page by page %v", ids, paged)
	}
}

// SPEC 21.1: a viewer whose place is gone is told to load again; the stream keeps a
// limited amount, whoever reads it.
func TestSlowViewer(t *testing.T) {
	h := newHub()
	n, _ := h.place(h.cursor())
	if fs, _, missed, _, _ := h.since(n); len(fs) != 0 || missed {
		t.Error("a new stream has something")
	}
	for i := range mostFrames + 10 {
		h.publish("state", i)
	}
	fs, next, missed, _, _ := h.since(n)
	if !missed || len(fs) != 0 || next != mostFrames+10 {
		t.Error(len(fs), next, missed)
	}
	if fs, _, missed, _, _ := h.since(next - 1); missed || len(fs) != 1 || string(fs[0].data) != fmt.Sprint(mostFrames+9) {
		t.Error("the newest is not there", missed)
	}
	for range 10 {
		h.publish("block", strings.Repeat("x", mostBytes/4))
	}
	if h.size > mostBytes {
		t.Errorf("%d bytes are kept", h.size)
	}
	if _, ok := h.place("another-1"); ok {
		t.Error("a cursor of another process is taken")
	}
	for _, at := range []int64{-1, 1 << 40} {
		if _, _, missed, _, _ := h.since(at); !missed {
			t.Errorf("%d is a place", at)
		}
	}
}

// SPEC 21.4: a thousand viewers wait for the same events, and no more are let in.
func TestThousandViewers(t *testing.T) {
	h, v := newHub(), viewers{of: map[string]int{}}
	var all sync.WaitGroup
	for i := range mostViewers {
		if !v.enter(fmt.Sprint(i / mostOfDevice)) {
			t.Fatal("refused:", i)
		}
		all.Go(func() {
			for seen, n := 0, int64(0); seen < 20; {
				fs, next, missed, _, wake := h.since(n)
				if missed {
					t.Error("missed")
					return
				}
				if seen, n = seen+len(fs), next; seen < 20 {
					<-wake
				}
			}
		})
	}
	if v.enter("another") {
		t.Error("one more than may be")
	}
	for i := range 20 {
		h.publish("state", i)
	}
	all.Wait()
	v.leave("0")
	if !v.enter("another") {
		t.Error("nobody may take a free place")
	}
	one := viewers{of: map[string]int{}}
	for range mostOfDevice {
		one.enter("d")
	}
	if one.enter("d") || !one.enter("e") {
		t.Error("a device takes the places of others")
	}
}

// SPEC 21.2: two browsers and a terminal answer at once: one answer counts, and all see
// that one.
func TestFirstAnswerCounts(t *testing.T) {
	const rounds = 25
	var turns []llmtest.Turn
	for i := range rounds {
		turns = append(turns, llmtest.Use("write", fmt.Sprintf(`{"path":"/etc/pawl-never-%d","content":"x"}`, i)))
	}
	turns = append(turns, llmtest.Say("so be it"))
	r := newRig(t, llmtest.New(turns...))
	one, two := r.paired(Answer), r.paired(Steer)
	p := newPage(t, Blocks{}, got[Hello](r, one, "/api/hello").Cursor)
	r.post(two, "/api/s/s1/prompt", Prompt{ID: "prompt-1", Text: "write"})
	asked := map[string]bool{}
	r.watch(one, p, func(k, d string) bool {
		if k != "state" || k == "" {
			return k == "" || isEnd(k, d)
		}
		var s State
		if err := json.Unmarshal([]byte(d), &s); err != nil {
			t.Error(err)
			return true
		}
		if len(s.Questions) == 0 || asked[s.Questions[0].ID] {
			return false
		}
		q := s.Questions[0]
		asked[q.ID] = true
		done := make(chan bool, 3)
		for _, by := range []func(why string) bool{
			func(why string) bool {
				return r.post(one, "/api/s/s1/answer", Reply{Question: q.ID, Verdicts: []Verdict{{Call: q.Calls[0].Call, Scope: "no", Why: why}}}) == 200
			},
			func(why string) bool {
				return r.post(two, "/api/s/s1/answer", Reply{Question: q.ID, Verdicts: []Verdict{{Call: q.Calls[0].Call, Scope: "no", Why: why}}}) == 200
			},
			func(why string) bool {
				_, err := r.session.Submit(t.Context(), session.Answer{ID: q.ID, Verdicts: []event.Verdict{{Call: q.Calls[0].Call, Scope: event.No, Why: why}}})
				return err == nil
			},
		} {
			go func() { done <- by("not there") }()
		}
		counted := 0
		for range 3 {
			if <-done {
				counted++
			}
		}
		if counted != 1 {
			t.Errorf("%s: %d answers count", q.ID, counted)
		}
		return false
	})
	if len(asked) != rounds {
		t.Errorf("%d questions were asked", len(asked))
	}
	if s := p.states[len(p.states)-1]; len(s.Questions) != 0 {
		t.Errorf("a question is still shown: %+v", s.Questions)
	}
}

// SPEC 21.2: an answer is one of those that were offered, whoever asks.
func TestAnswersThatWereNotOffered(t *testing.T) {
	r := newRig(t, llmtest.New(llmtest.Use("write", `{"path":"/etc/pawl-never","content":"x"}`), llmtest.Say("so be it")))
	cookie := r.paired(Steer)
	p := newPage(t, Blocks{}, got[Hello](r, cookie, "/api/hello").Cursor)
	r.post(cookie, "/api/s/s1/prompt", Prompt{ID: "prompt-1", Text: "write"})
	var q Question
	r.watch(cookie, p, func(k, _ string) bool {
		if n := len(p.states); n > 0 && len(p.states[n-1].Questions) > 0 {
			q = p.states[n-1].Questions[0]
		}
		return k == "" || q.ID != ""
	})
	if s := got[List](r, cookie, "/api/sessions"); s.Sessions[0].Status != "waiting" || s.Sessions[0].Asks == "" {
		t.Errorf("%+v", s.Sessions[0])
	}
	call := q.Calls[0].Call
	for name, a := range map[string]Reply{
		"no verdict": {Question: q.ID}, "another call": {Question: q.ID, Verdicts: []Verdict{{Call: "x", Scope: "once"}}},
		"two":         {Question: q.ID, Verdicts: []Verdict{{Call: call, Scope: "no"}, {Call: call, Scope: "once"}}},
		"no scope":    {Question: q.ID, Verdicts: []Verdict{{Call: call}}},
		"a new scope": {Question: q.ID, Verdicts: []Verdict{{Call: call, Scope: "root"}}},
		"a text":      {Question: q.ID, Text: "yes"},
		"always":      {Question: q.ID, Verdicts: []Verdict{{Call: call, Scope: "always"}}},
	} {
		if name == "always" && q.Calls[0].Always {
			continue
		}
		if code := r.post(cookie, "/api/s/s1/answer", a); code != 422 {
			t.Errorf("%s: %d", name, code)
		}
	}
	if code := r.post(cookie, "/api/s/s1/answer", Reply{Question: "another", Text: "yes"}); code != 409 {
		t.Errorf("another question: %d", code)
	}
	if code := r.post(cookie, "/api/s/s1/answer", Reply{Question: q.ID, Verdicts: []Verdict{{Call: call, Scope: "no"}}}); code != 200 {
		t.Errorf("no: %d", code)
	}
	r.watch(cookie, p, func(k, d string) bool { return k == "" || isEnd(k, d) })
}

// SPEC 21.2: a prompt that is sent twice counts once; one that waits is shown, and comes
// back with an interrupt; each act has a line.
func TestPromptsAndInterrupt(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	r := newRig(t, llmtest.New(llmtest.Turn{Text: "half", Wait: hold}))
	cookie := r.paired(Steer)
	p := newPage(t, Blocks{}, got[Hello](r, cookie, "/api/hello").Cursor)
	for range 3 {
		if code := r.post(cookie, "/api/s/s1/prompt", Prompt{ID: "prompt-1", Text: "hang"}); code != 200 {
			t.Fatal(code)
		}
	}
	r.watch(cookie, p, func(k, _ string) bool { return k == "piece" || k == "" })
	r.post(cookie, "/api/s/s1/prompt", Prompt{ID: "prompt-2", Text: "and then"})
	if s := got[State](r, cookie, "/api/s/s1"); len(s.Queue) != 1 || s.Queue[0].Text != "and then" || s.Status != "running" {
		t.Errorf("%+v", s)
	}
	for _, bad := range []Prompt{{ID: "short", Text: "x"}, {ID: "prompt-3"}, {ID: "prompt-3", Images: []Image{{Type: "text/html", Data: []byte("x")}}}} {
		if code := r.post(cookie, "/api/s/s1/prompt", bad); code != 422 {
			t.Errorf("%+v: %d", bad, code)
		}
	}
	if code := r.post(cookie, "/api/s/s1/interrupt", struct{}{}); code != 200 {
		t.Fatal(code)
	}
	back := false
	r.watch(cookie, p, func(k, d string) bool {
		back = back || k == "takenback" && strings.Contains(d, "and then")
		return k == "" || isEnd(k, d)
	})
	prompts := 0
	for e, err := range r.s.cfg.Store.Read(t.Context(), "s1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Prompted); ok {
			prompts++
		}
	}
	if !back || prompts != 1 {
		t.Errorf("taken back %v, %d prompts", back, prompts)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var acts []string
	for _, a := range r.acts {
		acts = append(acts, a.What)
	}
	if got := strings.Join(acts, " "); got != "prompt prompt prompt prompt prompt prompt prompt interrupt" {
		t.Error(got)
	}
}

// SPEC 21.2: an undo does what was shown; after another change it is shown again.
func TestUndo(t *testing.T) {
	r := newRig(t, llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Say("done"), llmtest.Use("write", `{"path":"b.txt","content":"x"}`), llmtest.Say("done")))
	cookie := r.paired(Steer)
	turn := func(id string) {
		if _, err := r.session.RunPrompt(t.Context(), session.Prompt{ID: id, Text: "write"}, session.Observer{}); err != nil {
			t.Fatal(err)
		}
	}
	if plan := got[UndoPlan](r, cookie, "/api/s/s1/undo"); plan.Hash != "" || len(plan.Files) != 0 {
		t.Errorf("%+v", plan)
	}
	turn("prompt-1")
	first := got[UndoPlan](r, cookie, "/api/s/s1/undo")
	if len(first.Files) != 1 || first.Files[0].Path != "a.txt" {
		t.Fatalf("%+v", first)
	}
	turn("prompt-2")
	if code := r.post(cookie, "/api/s/s1/undo", Undo{first.Hash}); code != 409 {
		t.Errorf("an old plan: %d", code)
	}
	now := got[UndoPlan](r, cookie, "/api/s/s1/undo")
	if code := r.post(cookie, "/api/s/s1/undo", Undo{now.Hash}); code != 200 {
		t.Errorf("the plan: %d", code)
	}
	if code := r.post(cookie, "/api/s/s1/undo", Undo{now.Hash}); code == 200 {
		t.Error("an undo was done twice")
	}
}

// SPEC 21.1: a session that ends while the server ends tells nobody, and breaks nothing.
func TestPublishAfterTheEnd(t *testing.T) {
	h := newHub()
	h.publish("state", 1)
	h.end()
	h.publish("state", 2)
	h.end()
	frames, _, _, over, wake := h.since(0)
	<-wake
	if len(frames) != 1 || !over {
		t.Errorf("%d frames, over %v", len(frames), over)
	}
}
