package subagent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// hanging is a tool of unknown effect that writes a file and then hangs. began is
// closed once it has written; interrupted, it ends when after is closed.
func hanging(began, after chan struct{}) tool.Tool {
	return tool.Raw(llm.ToolSpec{Name: "hang", Doc: "hangs", Schema: json.RawMessage(`{"type":"object"}`)}, nil,
		func(ctx context.Context, env tool.Env, _ json.RawMessage) (tool.Result, error) {
			err := os.WriteFile(filepath.Join(env.Files.Root(), "hung.txt"), []byte("left\n"), 0o600)
			close(began)
			<-ctx.Done()
			<-after // its place in the line stays taken until then
			return tool.Result{}, err
		})
}

// copied is what a disk has of the sessions at one moment, of some of them only
// their first events.
func (r *rig) copied(only map[string]int) *memory.Store {
	r.T.Helper()
	to := memory.New(time.Now)
	rows, err := r.Cfg.Store.Sessions(r.T.Context(), "")
	must.Do(r.T, err)
	for _, row := range rows {
		var ds []event.Draft
		for _, e := range r.log(row.ID) {
			if c, ok := e.Body.(event.FileChanged); ok {
				for _, h := range []tool.Hash{c.Before, c.After} {
					if b, err := r.Cfg.Store.Get(r.T.Context(), string(h)); err == nil {
						_, _ = to.Put(r.T.Context(), b)
					}
				}
			}
			ds = append(ds, event.Draft{Cause: e.Cause, Body: e.Body})
		}
		if n, ok := only[row.ID]; ok {
			ds = ds[:n]
		}
		must.Done(r.T)(to.Append(r.T.Context(), row.ID, 0, ds...))
	}
	return to
}

// SPEC 10.4, 14.1: a session that is opened after a death knows what its agents
// did, whether it was told of it by then or not, and what their last command left.
func TestAgentsAfterADeath(t *testing.T) {
	began, waits, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	queued := use(bash("echo never >never.txt"))
	queued.Before = func(*llm.Request) { <-began }
	stays := llmtest.Say("never")
	stays.Wait = make(chan struct{})
	r := newRig(t, plays{
		"user": {use(agent("a", "general"), agent("b", "general"), agent("c", "explore", "background"))},
		// a waits in the line behind b's call that hangs: of all open calls it is the
		// first that runs something.
		"a": {use([]string{"meet", "{}"}), queued},
		"b": {use([]string{"meet", "{}"}), use(write("b.txt", "one\n")), use([]string{"hang", "{}"})},
		"c": {use([]string{"meet", "{}"}), stays},
	}, func(c *session.Config) {
		c.Tools = append(c.Tools, meeting(3), hanging(began, gone))
		c.Permission = yolo(c.Dir)
		c.Store = &watched{Store: c.Store, see: func(b event.Body) {
			switch b := b.(type) {
			case event.CallAsked:
				if b.Tool == "bash" {
					close(waits)
				}
			case event.CallDone:
				if b.Tool == "bash" {
					close(gone)
				}
			}
		}}
	})
	state := t.TempDir()
	r.Cfg.Journal = changes.Share(journal.New(r.Dir, journal.Options{Dir: state}))
	_ = r.Close()
	r.Open()
	ctx, die := context.WithCancel(t.Context())
	defer die()
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		_, _ = r.RunPrompt(ctx, session.Prompt{Text: "user"}, session.Observer{})
	}()
	<-waits
	kids := r.children("s1")
	if len(kids) != 3 {
		t.Fatalf("%d children", len(kids))
	}
	names := map[string]string{}
	for _, k := range kids {
		names[k.Title] = k.ID
	}
	// The parent died before it was told of anything: all three had begun by then.
	started := 0
	cut := slices.IndexFunc(r.log("s1"), func(e event.Event) bool {
		if _, ok := e.Body.(event.AgentStarted); ok {
			started++
		}
		return started == 3
	}) + 1
	disk, files := r.copied(map[string]int{"s1": cut}), filepath.Join(t.TempDir(), "journal")
	must.Do(t, os.CopyFS(files, os.DirFS(state)))
	die()
	<-ran
	_ = r.Close()

	r.Cfg.Store = disk
	again := journal.New(r.Dir, journal.Options{Dir: files})
	t.Cleanup(func() { _ = again.Close() })
	r.Cfg.Journal = changes.Share(again)
	r.Open()
	log := r.log("s1")
	by := map[string]string{}
	for _, c := range find[event.FileChanged](log) {
		if by[c.Path] != "" {
			t.Errorf("%s is recorded twice", c.Path)
		}
		by[c.Path] = c.Child.Session
	}
	if len(by) != 2 || by["b.txt"] != names["b"] || by["hung.txt"] != names["b"] {
		t.Errorf("%v", by)
	}
	for _, e := range find[event.AgentEnded](log) {
		if e.End != event.EndInterrupted {
			t.Errorf("%+v", e)
		}
	}
	for id, n := range map[string]int{names["a"]: 1, names["b"]: 1, names["c"]: 1} {
		if got := len(find[event.Ended](r.log(id))); got != n {
			t.Errorf("%s ended %d times", id, got)
		}
	}
	var said []string
	for _, d := range find[event.CallDone](log) {
		said = append(said, string(d.Outcome)+": "+d.Result.Text)
	}
	all := strings.Join(said, "\n")
	if strings.Count(all, "[Outcome unknown: ") != 3 || !strings.Contains(all, "changed b.txt, hung.txt") {
		t.Errorf("%s", all)
	}
	if notes := find[event.Noted](log); len(notes) != 1 || !strings.Contains(notes[0].Text, "agent explore (do c)") {
		t.Errorf("%+v", notes)
	}
	// A second opening finds nothing more.
	_ = r.Close()
	before := len(r.log("s1"))
	r.Open()
	if more := r.log("s1")[before:]; len(find[event.FileChanged](more))+len(find[event.AgentEnded](more)) != 0 {
		t.Errorf("%+v", more)
	}
	p := must.Get(r.View().Changes().Plan(t.Context(), undo.Selector{Kind: undo.ByTurn}))(t)
	undone := session.Undo{Plan: p, Consent: undo.Consent{LeaveOut: []string{"hung.txt"}}}
	if done, err := r.Do(t.Context(), undone); err != nil || done.Error != nil || !r.missing("b.txt") {
		t.Errorf("%v %+v: %q", err, done, r.File("b.txt"))
	}
}

// watched is a store that shows what was appended.
type watched struct {
	event.Store
	see func(event.Body)
}

func (w *watched) Append(ctx context.Context, id string, after int64, ds ...event.Draft) ([]event.Event, error) {
	es, err := w.Store.Append(ctx, id, after, ds...)
	for _, e := range es {
		w.see(e.Body)
	}
	return es, err
}
