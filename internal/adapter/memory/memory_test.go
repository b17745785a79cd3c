package memory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func clock() func() time.Time {
	var mu sync.Mutex
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}
}

func texts(t *testing.T, b Book) string {
	t.Helper()
	es := must.Get(b.List())(t)
	var out []string
	for _, e := range es {
		out = append(out, e.Kind+":"+e.Text)
	}
	return strings.Join(out, "|")
}

// SPEC 11.4, 11.5: what is kept is listed, for its project or everywhere, once;
// it can be removed; a torn line costs itself alone.
func TestBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "notes.jsonl")
	a := Book{Path: path, Dir: "/a", Now: clock()}
	b := Book{Path: path, Dir: "/b", Now: a.Now}
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	if got := texts(t, a); got != "" {
		t.Error(got)
	}
	must(a.Keep(Preference, "always  add\ndocstrings", false))
	must(a.Keep(Preference, "always add docstrings", false))
	must(b.Keep(Preference, "use tabs", true))
	must(a.Remember(context.Background(), "make check runs the tests"))
	if got := texts(t, a); got != "preference:always add docstrings|preference:use tabs|:make check runs the tests" {
		t.Error(got)
	}
	if got := texts(t, b); got != "preference:use tabs" {
		t.Error(got)
	}
	// A process died while it wrote.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(err)
	_, err = f.WriteString(`{"dir":"/a","te`)
	must(err)
	must(f.Close())
	must(a.Keep(Note, "after the tear", false))
	if got := texts(t, a); !strings.HasSuffix(got, "|:after the tear") {
		t.Error(got)
	}
	if _, found, err := a.Forget("nothing like it"); found || err != nil {
		t.Error(found, err)
	}
	if e, found, err := a.Forget("use tabs"); !found || err != nil || e.Dir != "" {
		t.Error(e, found, err)
	}
	if got := texts(t, b); got != "" {
		t.Errorf("still there for others: %s", got)
	}
	must(b.Keep(Preference, "use tabs", true))
	if got := texts(t, b); got != "preference:use tabs" {
		t.Errorf("kept again: %s", got)
	}
	h, err := a.History()
	must(err)
	if len(h) != 6 || !h[4].Gone {
		t.Errorf("%d lines of history: %+v", len(h), h)
	}
	for i, bad := range []string{"", " \n", strings.Repeat("x", maxEntry+1)} {
		if a.Keep(Note, bad, false) == nil {
			t.Errorf("bad text %d was kept", i)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// SPEC 11.4: a hundred entries stand; several pawls at once lose none.
func TestBookAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.jsonl")
	now := clock()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 10 {
				if err := (Book{Path: path, Dir: "/a", Now: now}).Keep(Note, fmt.Sprintf("note %d of %d", i, w), false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b := Book{Path: path, Dir: "/a", Now: now}
	if es, _ := b.List(); len(es) != 80 {
		t.Errorf("%d of 80 stand", len(es))
	}
	for i := range 60 {
		must.Do(t, b.Keep(Note, fmt.Sprintf("more %d", i), false))
	}
	es, _ := b.List()
	if len(es) != maxStanding || es[len(es)-1].Text != "more 59" {
		t.Errorf("%d stand, the last is %q", len(es), es[len(es)-1].Text)
	}
	if h, _ := b.History(); len(h) != maxHistory {
		t.Errorf("%d lines of history", len(h))
	}
}

// SPEC 11.5: what is kept is in the prompt; what changed since is appended, and
// said once; preferences all, notes as they fit.
func TestTold(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	one := []Entry{{Time: at, Text: "a note"}, {Text: "always add docstrings", Kind: Preference}}
	two := append([]Entry{}, one...)
	two = append(two, Entry{Text: "use tabs", Kind: Preference})
	system := "You are pawl." + Prompt(one) + "\n# Rules\n"
	if !strings.Contains(system, "- always add docstrings\n- (2026-01-02) a note\n") || Prompt(nil) != "" {
		t.Error(system)
	}
	if got := Changed(one, system, nil); got != "" {
		t.Errorf("nothing changed: %s", got)
	}
	if got := Changed(nil, "You are pawl.", nil); got != "" {
		t.Errorf("nothing, and before neither: %s", got)
	}
	note := Changed(two, system, nil)
	if !strings.Contains(note, "use tabs") || !strings.HasPrefix(note, "[") || !strings.HasSuffix(note, "]") {
		t.Error(note)
	}
	if got := Changed(two, system, []string{"[rules]", note}); got != "" {
		t.Errorf("said already: %s", got)
	}
	if got := Changed(one, system, []string{note}); got == "" {
		t.Error("back to what the prompt says, after it was said otherwise: must be said")
	}
	if got := Changed(nil, system, nil); got != toldNone {
		t.Error(got)
	}
	var many []Entry
	for i := range 100 {
		many = append(many, Entry{Text: fmt.Sprint(i, strings.Repeat("x", 500))})
	}
	if p := Prompt(many); len(p) > maxTold+1000 || !strings.Contains(p, " 99x") || strings.Contains(p, " 1x") {
		t.Errorf("%d bytes", len(p))
	}
}

// SPEC 11.4: the journal of turns has what each came to, the newest 1,000.
func TestNodes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nodes.jsonl")
	seq := int64(0)
	run := func(n *Nodes, bodies ...event.Body) {
		for _, b := range bodies {
			seq++
			n.Apply(event.Event{Session: "s", Seq: seq, Time: time.Unix(seq, 0).UTC(), Body: b})
		}
	}
	n := &Nodes{Path: path}
	run(n, event.Ended{End: event.EndDone}) // of a turn that began elsewhere
	run(n, event.Prompted{Source: event.Person}, event.Routed{Route: "edit"}, event.Retried{}, event.CallDone{},
		event.FileChanged{Path: "a"}, event.FileChanged{Path: "a"}, event.Prompted{Source: event.Autofix}, event.CallDone{},
		event.Ended{End: event.EndFailed, Error: &event.Fault{Message: "why"}})
	got, err := n.List()
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	want := Node{Session: "s", Time: time.Unix(10, 0).UTC(), Route: "edit", End: "failed", Error: "why", Retries: 1, Calls: 2, Files: 1, Took: 8 * time.Second}
	if got[0] != want {
		t.Errorf("%+v", got[0])
	}
	for range 2*maxNodes + 10 {
		run(n, event.Prompted{Source: event.Person}, event.Ended{End: event.EndDone})
	}
	must.Do(t, n.Close())
	if got, _ = n.List(); len(got) != maxNodes {
		t.Errorf("%d kept", len(got))
	}
	raw, _ := os.ReadFile(path)
	if lines := strings.Count(string(raw), "\n"); lines > 2*maxNodes {
		t.Errorf("%d lines in the file", lines)
	}
	if other, err := (&Nodes{Path: path + ".not"}).List(); other != nil || err != nil {
		t.Error(other, err)
	}
}

// SPEC 11.6: another model, question, rules or version is another question; of
// more than 500 answers the least used go.
func TestAnswers(t *testing.T) {
	now := clock()
	a := Answers{Dir: filepath.Join(t.TempDir(), "answers"), Now: now}
	q := Question{Project: "/p", Model: "m", Text: "what  does\nit do? ", Told: "rules", Pawl: "1"}
	same, others := q, []Question{}
	same.Text = "what does it do?"
	for range 5 {
		others = append(others, q)
	}
	others[0].Project, others[1].Model, others[2].Text, others[3].Told, others[4].Pawl = "x", "x", "x", "x", "x"
	if q.Key() != same.Key() {
		t.Error("spaces matter")
	}
	for i, o := range others {
		if o.Key() == q.Key() {
			t.Errorf("other %d is the same question", i)
		}
	}
	if _, ok := a.Get(q.Key()); ok {
		t.Error("an answer that nobody gave")
	}
	ans := Answer{Time: now(), Text: "it adds", Calls: []Call{{Tool: "read", Args: []byte(`{}`), Limit: 9, Sum: "x"}}}
	must.Do(t, a.Put(q.Key(), ans))
	if got, ok := a.Get(q.Key()); !ok || got.Text != ans.Text || got.Calls[0].Sum != "x" {
		t.Error(got, ok)
	}
	must.Write(t, a.path(q.Key()), `{"text":`)
	if _, ok := a.Get(q.Key()); ok {
		t.Error("a damaged answer is given")
	}
	must.Do(t, a.Drop(q.Key()))
	for i := range maxAnswers + 5 {
		must.Do(t, a.Put(fmt.Sprintf("%064d", i), ans))
		at := time.Unix(int64(i), 0)
		must.Do(t, os.Chtimes(a.path(fmt.Sprintf("%064d", i)), at, at))
		if i == maxAnswers-1 { // the oldest is used
			a.Get(fmt.Sprintf("%064d", 0))
		}
	}
	if n, err := a.Len(); err != nil || n != maxAnswers {
		t.Error(n, err)
	}
	if _, ok := a.Get(fmt.Sprintf("%064d", 0)); !ok {
		t.Error("the one that was used is gone")
	}
	if _, ok := a.Get(fmt.Sprintf("%064d", 1)); ok {
		t.Error("the least used stays")
	}
	if n, err := a.Clear(); err != nil || n != maxAnswers {
		t.Error(n, err)
	}
}
