package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// run runs a prompt to its end.
func (r *testServer) run(text string) {
	r.t.Helper()
	must.Done(r.t)(r.session.RunPrompt(r.t.Context(), session.Prompt{Text: text}, session.Observer{}))
}

// SPEC 21.2: a plan waits with its text; it may be edited, approved and rejected, each
// only as it was shown, and once.
func TestPlan(t *testing.T) {
	r := newTestServer(t, llmtest.New(llmtest.Say("# Plan\n\n1. Look <b>here</b>\n2. Write\n"), llmtest.Say("carried out")))
	cookie := r.paired(Steer)
	if code := r.post(cookie, "/api/s/s1/plan", Decision{What: "approve"}); code != 409 {
		t.Error("there is no plan:", code)
	}
	must.Done(t)(r.session.Submit(t.Context(), session.SetMode{Mode: "plan"}))
	r.run("plan it")
	state := got[State](r, cookie, "/api/s/s1")
	if state.Plan == nil || state.Plan.Phases != 2 {
		t.Fatalf("%+v", state.Plan)
	}
	shown := got[PlanText](r, cookie, "/api/s/s1/plan")
	if shown.ID != state.Plan.ID || !shown.Waits || !strings.Contains(shown.Text, "Look <b>") || strings.Contains(shown.HTML, "<b>") {
		t.Errorf("%+v", shown)
	}
	if code := r.post(cookie, "/api/s/s1/plan", Decision{Plan: shown.ID, What: "edit", Text: "# Plan\n\n1. Only look\n"}); code != 200 {
		t.Error("edit:", code)
	}
	if code := r.post(cookie, "/api/s/s1/plan", Decision{Plan: shown.ID, What: "approve"}); code != 409 {
		t.Error("a plan was approved that was not the one shown:", code)
	}
	edited := got[PlanText](r, cookie, "/api/s/s1/plan")
	if code := r.post(cookie, "/api/s/s1/plan", Decision{Plan: edited.ID, What: "do it all"}); code != 422 {
		t.Error("an answer that was not offered:", code)
	}
	if code := r.post(cookie, "/api/s/s1/plan", Decision{Plan: edited.ID, What: "approve-asking"}); code != 200 {
		t.Error("approve:", code)
	}
	for _, what := range []string{"approve", "reject"} {
		if code := r.post(cookie, "/api/s/s1/plan", Decision{Plan: edited.ID, What: what}); code != 409 {
			t.Error("it was decided twice:", what, code)
		}
	}
	if mode := r.session.View().Mode(); mode != permission.Default(true) {
		t.Error("the mode is", mode)
	}
	if s := got[State](r, cookie, "/api/s/s1"); s.Plan != nil {
		t.Errorf("it still waits: %+v", s.Plan)
	}
}

// SPEC 21.2: a rewind puts the files back as shown, in the session that changed them, and
// goes on in a fork without the prompts; the old session keeps all.
func TestRewind(t *testing.T) {
	r := newTestServer(t, llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Say("done"), llmtest.Use("write", `{"path":"b.txt","content":"x"}`), llmtest.Say("done")))
	cookie := r.paired(Steer)
	r.run("first")
	r.run("second <i>")
	points := got[Points](r, cookie, "/api/s/s1/prompts").Prompts
	if len(points) != 2 || points[0].Text != "second <i>" || !slices.Equal(points[1].Files, []string{"a.txt"}) {
		t.Fatalf("%+v", points)
	}
	dir := r.dir
	back := Rewind{Prompt: points[1].Prompt, What: "both"}
	if code := r.post(cookie, "/api/s/s1/rewind", back); code != 409 {
		t.Error("files went back that nobody was shown:", code)
	}
	if code := r.post(cookie, "/api/s/s1/rewind", Rewind{Prompt: 1, What: "conversation"}); code != 422 {
		t.Error("no such prompt:", code)
	}
	plan := got[UndoPlan](r, cookie, "/api/s/s1/undo?prompt="+strconv.FormatInt(points[1].Prompt, 10))
	if len(plan.Files) != 2 || !strings.Contains(plan.Files[0].HTML, "class=") {
		t.Fatalf("%+v", plan)
	}
	back.Hash = plan.Hash
	code, text, _ := r.ask(cookie, "POST", "/api/s/s1/rewind", back, nil)
	var to Begun
	if err := json.Unmarshal([]byte(text), &to); code != 200 || err != nil || to.Text != "first" || to.ID == "s1" {
		t.Fatal(code, text, err)
	}
	for _, name := range []string{"a.txt", "b.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	if ps := got[Points](r, cookie, "/api/s/"+to.ID+"/prompts").Prompts; len(ps) != 0 {
		t.Errorf("the fork has %+v", ps)
	}
	if ps := got[Points](r, cookie, "/api/s/s1/prompts").Prompts; len(ps) != 2 {
		t.Errorf("the old session has %+v", ps)
	}
	if s := r.started[len(r.started)-1]; s.Mode != string(r.session.View().Mode()) || s.Model != r.session.View().Info().Ref() {
		t.Errorf("the fork began as %+v", s)
	}
	if code := r.post(cookie, "/api/s/s1/fork", struct{}{}); code != 200 {
		t.Error("fork:", code)
	}
	if code := r.post(cookie, "/api/s/none/fork", struct{}{}); code != 404 {
		t.Error("a fork of nothing:", code)
	}
}

// SPEC 21.2, 11.2: what somebody else changed since goes back only if it is confirmed by
// name.
func TestUndoAsks(t *testing.T) {
	for _, confirm := range []bool{false, true} {
		r := newTestServer(t, llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Use("write", `{"path":"b.txt","content":"x"}`), llmtest.Say("done")))
		cookie := r.paired(Steer)
		r.run("write")
		file := filepath.Join(r.dir, "a.txt")
		must.Write(t, file, "mine")
		plan := got[UndoPlan](r, cookie, "/api/s/s1/undo")
		at := slices.IndexFunc(plan.Files, func(f UndoFile) bool { return f.Path == "a.txt" })
		if at < 0 || !plan.Files[at].Asks && !plan.Files[at].Stays {
			t.Fatalf("%+v", plan)
		}
		u := Undo{Hash: plan.Hash}
		if confirm {
			u.Confirmed = []int{at}
		}
		if code, text, _ := r.ask(cookie, "POST", "/api/s/s1/undo", u, nil); code != 200 {
			t.Fatal(code, text)
		}
		_, err := os.Stat(file)
		if gone := os.IsNotExist(err); gone != (confirm && plan.Files[at].Asks) {
			t.Errorf("confirmed %v: %+v, and the file is gone: %v", confirm, plan.Files[at], gone)
		}
	}
}

// SPEC 21.2: a new session may begin in a working tree of its own, in a known folder only.
func TestBeginsInWorktree(t *testing.T) {
	r := newTestServer(t, say("x"))
	cookie := r.paired(Steer)
	r.run("so that its folder is known")
	folder := got[Hello](r, cookie, "/api/hello").Folders[0]
	if code := r.post(cookie, "/api/sessions", Want{Folder: folder, Worktree: true}); code != 200 {
		t.Error(code)
	}
	if code := r.post(cookie, "/api/sessions", Want{Folder: "/etc", Worktree: true}); code == 200 {
		t.Error("a folder where no session was")
	}
	if len(r.started) != 1 || !r.started[0].Worktree || r.started[0].Dir != folder {
		t.Errorf("%+v", r.started)
	}
	if m := got[Models](r, cookie, "/api/models").Models; len(m) != 1 {
		t.Errorf("%+v", m)
	}
}

// SPEC 21.3: before the first session of a folder, one begins where the server was started.
func TestBeginsWhereItWasStarted(t *testing.T) {
	r := newTestServer(t, say("x"))
	cookie := r.paired(Steer)
	dir := r.s.cfg.Dir
	if known := got[Hello](r, cookie, "/api/hello").Folders; known[len(known)-1] != dir {
		t.Errorf("%q without %s", known, dir)
	}
	if code := r.post(cookie, "/api/sessions", Want{Folder: dir}); code != 200 || len(r.started) != 1 || r.started[0].Dir != dir {
		t.Errorf("%d, %+v", code, r.started)
	}
}

// SPEC 21.3: the pictures' data is that of pawl stats.
func TestStats(t *testing.T) {
	r := newTestServer(t, llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Say("done")))
	cookie := r.paired(Watch)
	r.run("write")
	out := got[Stats](r, cookie, "/api/s/s1/stats")
	if len(out.Replies) != 2 || len(out.Tools) != 1 || out.Tools[0].Calls != 1 {
		t.Errorf("%+v", out)
	}
	if code, _, _ := r.ask(cookie, "GET", "/api/s/none/stats", nil, nil); code != 404 {
		t.Error(code)
	}
}
