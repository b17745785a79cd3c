package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
)

func isEnd(kind, data string) bool {
	return kind == "block" && strings.Contains(data, `"kind":"turnend"`)
}

// SPEC 21.1: who leaves after every few events and comes back has what one has who was
// there all the time, in the middle of a reply too; and what who comes later loads.
func TestCatchUp(t *testing.T) {
	text := strings.Repeat("four 漢字 🦀 words\n", 60)
	r := newTestServer(t, llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Turn{Text: text, Piece: 7}))
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
	r := newTestServer(t, llmtest.New(llmtest.Turn{Text: "one two three four", Piece: 4, Wait: hold}))
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

// SPEC 21.1: what a model writes in many small pieces is sent in few, at once at first; the
// pieces together are the text, from the place on that a viewer has.
func TestPiecesAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		l := &live{id: "s1", hub: h}
		more := func(text string, publish bool) {
			what := chat.Changed
			if len(l.open) == 0 {
				what = chat.Added
			}
			l.change(chat.Change{What: what, Block: chat.Block{ID: "r", Body: chat.Reply{}}, More: text}, publish)
		}
		sent := func() (texts []string) {
			synctest.Wait()
			frames, _, _, _, _ := h.since(0)
			for _, f := range frames {
				if p := (Piece{}); f.kind == "piece" && json.Unmarshal(f.data, &p) == nil {
					texts = append(texts, fmt.Sprint(p.Offset, " ", p.Text))
				}
			}
			return texts
		}
		more("old 🦀", false)
		for _, w := range []string{"a", "🦀", "b", "c"} {
			more(w, true)
		}
		if got := sent(); !slices.Equal(got, []string{"6 a"}) {
			t.Errorf("at first: %q", got)
		}
		time.Sleep(pieceEvery)
		synctest.Wait()
		more("d", true)
		if got := sent(); !slices.Equal(got, []string{"6 a", "7 🦀bc"}) {
			t.Errorf("then: %q", got)
		}
		if b := l.openBlocks(); len(b) != 1 || b[0].Text != "old 🦀a🦀bcd" {
			t.Errorf("who loads it has %+v", b)
		}
		time.Sleep(2 * pieceEvery)
		if got := sent(); !slices.Equal(got, []string{"6 a", "7 🦀bc", "11 d"}) || l.paced {
			t.Errorf("at last: %q", got)
		}
	})
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

// SPEC 21.2: two browsers and a terminal answer at once: one answer counts, and all see
// that one.
func TestFirstAnswerCounts(t *testing.T) {
	rounds := 100
	if s := os.Getenv("PAWL_ROUNDS"); s != "" { // .ci/run plays 1,000
		rounds = must.Get(strconv.Atoi(s))(t)
	}
	var turns []llmtest.Turn
	for i := range rounds {
		turns = append(turns, llmtest.Use("write", fmt.Sprintf(`{"path":"/etc/pawl-never-%d","content":"x"}`, i)))
	}
	turns = append(turns, llmtest.Say("so be it"))
	r := newTestServer(t, llmtest.New(turns...))
	one, two := r.paired(Answer), r.paired(Steer)
	p := newPage(t, Blocks{}, got[Hello](r, one, "/api/hello").Cursor)
	r.post(two, "/api/s/s1/prompt", Prompt{ID: "prompt-1", Text: "write"})
	asked, counted := map[string]bool{}, []string{}
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
		done := make(chan string, 3)
		r.later(time.Second) // so that no device asks too often
		ways := []func(why string) bool{
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
		}
		for _, i := range rand.Perm(len(ways)) {
			go func() {
				why := fmt.Sprintf("%s by %d", q.ID, i)
				if !ways[i](why) {
					why = ""
				}
				done <- why
			}()
		}
		for range ways {
			if why := <-done; why != "" {
				counted = append(counted, why)
			}
		}
		return false
	})
	var stored []string
	for e, err := range r.s.cfg.Store.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		if a, ok := e.Body.(event.Answered); ok {
			stored = append(stored, a.Verdicts[0].Why)
		}
	}
	if !slices.Equal(stored, counted) {
		t.Errorf("%d answers are stored, and who sent them was told of %d", len(stored), len(counted))
	}
	if len(asked) != rounds {
		t.Errorf("%d questions were asked", len(asked))
	}
	if s := p.states[len(p.states)-1]; len(s.Questions) != 0 {
		t.Errorf("a question is still shown: %+v", s.Questions)
	}
}

// SPEC 21.2: an answer is one of those that were offered, whoever asks.
func TestAnswersThatWereNotOffered(t *testing.T) {
	r := newTestServer(t, llmtest.New(llmtest.Use("write", `{"path":"/etc/pawl-never","content":"x"}`), llmtest.Say("so be it")))
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
	r := newTestServer(t, llmtest.New(llmtest.Turn{Text: "half", Wait: hold}))
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
		must.Do(t, err)
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
	r := newTestServer(t, llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Say("done"), llmtest.Use("write", `{"path":"b.txt","content":"x"}`), llmtest.Say("done")))
	cookie := r.paired(Steer)
	turn := func(id string) {
		must.Done(t)(r.session.RunPrompt(t.Context(), session.Prompt{ID: id, Text: "write"}, session.Observer{}))
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
	if code := r.post(cookie, "/api/s/s1/undo", Undo{Hash: first.Hash}); code != 409 {
		t.Errorf("an old plan: %d", code)
	}
	now := got[UndoPlan](r, cookie, "/api/s/s1/undo")
	if code := r.post(cookie, "/api/s/s1/undo", Undo{Hash: now.Hash}); code != 200 {
		t.Errorf("the plan: %d", code)
	}
	if code := r.post(cookie, "/api/s/s1/undo", Undo{Hash: now.Hash}); code == 200 {
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

// SPEC 21.4: what is done from a browser stands in the session's own log, with the name of
// the device and before what it does; what a device may not do stands nowhere.
func TestActsStandInTheLog(t *testing.T) {
	r := newTestServer(t, llmtest.New(llmtest.Say("done")))
	steers, watches := r.paired(Steer), r.paired(Watch)
	if code := r.post(watches, "/api/s/s1/mode", Mode{Mode: "plan"}); code != 403 {
		t.Fatal(code)
	}
	if code := r.post(steers, "/api/s/s1/mode", Mode{Mode: "plan"}); code != 200 {
		t.Fatal(code)
	}
	p := newPage(t, Blocks{}, got[Hello](r, steers, "/api/hello").Cursor)
	if code := r.post(steers, "/api/s/s1/prompt", Prompt{ID: "prompt-1", Text: "go"}); code != 200 {
		t.Fatal(code)
	}
	r.watch(steers, p, func(k, d string) bool { return k == "" || isEnd(k, d) })
	var acts []string
	for e, err := range r.s.cfg.Store.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		switch b := e.Body.(type) {
		case event.RemoteAct:
			acts = append(acts, b.What+" from "+b.Device)
		case event.ModeSet:
			acts = append(acts, "mode_set")
		case event.Prompted:
			acts = append(acts, "prompted")
		}
	}
	if want := []string{"mode from test", "mode_set", "prompt from test", "prompted"}; !slices.Equal(acts, want) {
		t.Errorf("%q, want %q", acts, want)
	}
	if blocks := got[Blocks](r, steers, "/api/s/s1/blocks"); !strings.Contains(fmt.Sprint(blocks), "prompt, from test") {
		t.Errorf("the page does not show who it was: %+v", blocks)
	}
}

// SPEC 21.5: a program reads a session's log, stored and live, as stream-json has it, and
// goes on where it was cut off.
func TestLogForPrograms(t *testing.T) {
	r := newTestServer(t, llmtest.New(llmtest.Say("done")))
	cookie := r.paired(Steer)
	read := func(after string, most int) (seqs []int64, types []string) {
		t.Helper()
		q := must.Get(http.NewRequestWithContext(t.Context(), "GET", r.URL+"/api/s/s1/log", nil))(t)
		q.Header.Set("Cookie", cookie)
		q.Header.Set("Last-Event-ID", after)
		a := must.Get(r.Client().Do(q))(t)
		defer a.Body.Close()
		lines := bufio.NewScanner(a.Body)
		for len(seqs) < most && lines.Scan() {
			text, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var e struct {
				Type    string
				Session string
				Seq     int64
			}
			if err := json.Unmarshal([]byte(text), &e); err != nil || e.Session != "s1" {
				t.Fatal(text, err)
			}
			if e.Seq > 0 { // the others are never stored
				seqs, types = append(seqs, e.Seq), append(types, e.Type)
			}
		}
		return seqs, types
	}
	before := int(r.session.View().Last())
	live := make(chan []string)
	go func() {
		_, types := read("", before+3)
		live <- types
	}()
	if code := r.post(cookie, "/api/s/s1/prompt", Prompt{ID: "prompt-1", Text: "go"}); code != 200 {
		t.Fatal(code)
	}
	if types := <-live; len(types) != before+3 || types[before] != "remote_act" || types[before+1] != "prompted" {
		t.Errorf("%q", types)
	}
	if seqs, _ := read(fmt.Sprint(before+1), 1); len(seqs) != 1 || seqs[0] != int64(before+2) {
		t.Errorf("went on at %v, want %d", seqs, before+2)
	}
	if code, _, _ := r.ask("", "GET", "/api/s/s1/log", nil, nil); code != 401 {
		t.Errorf("who is not paired: %d", code)
	}
	for path, want := range map[string]int{"/api/s/s1/log?after=x": 400, "/api/s/s1/log?after=-1": 400, "/api/s/nobody/log": 404} {
		if code, text, _ := r.ask(cookie, "GET", path, nil, nil); code != want {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}
