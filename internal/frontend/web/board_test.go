package web

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// oneSwarm is the swarm s1.
type oneSwarm struct {
	cancelled *bool
	err       error
	steered   *[]SteerTask
	resume    func(context.Context) (*Opened, error)
}

func (o oneSwarm) Is(_ context.Context, id string) bool { return id == "s1" }

func (o oneSwarm) Report(context.Context, string) (team.Report, string, error) {
	return team.Report{
		Goal: "Build \x1b[31mit", USD: 1.25, Tokens: 42, Tasks: []team.TaskReport{
			{ID: "a", State: swarm.Merged, USD: new(0.5)}, {ID: "b", State: swarm.Conflicted, By: "b-merge", After: []string{"a"}, Error: "<b>x"},
		}, Machines: []swarm.Machine{{Name: "m1", Works: 2, Done: 3}},
	}, "pawl swarm resume s1", o.err
}

func (o oneSwarm) Resume(ctx context.Context, _ string, r ResumeSwarm) (*Opened, error) {
	if r.Workers > 64 {
		return nil, errors.New("too many")
	}
	return o.resume(ctx)
}

func (o oneSwarm) Steer(_ context.Context, _ string, s SteerTask) error {
	*o.steered = append(*o.steered, s)
	return o.err
}

func (o oneSwarm) Diff(_ context.Context, _, task string) (string, error) {
	return "--- a/" + task + "\n+++ b/x\n@@ -1 +1 @@\n-<b>\x1b[2J\n+y\n", o.err
}

func (o oneSwarm) Cancel(context.Context, string, CancelSwarm) (string, error) {
	*o.cancelled = true
	return "cancelled", o.err
}

// SPEC 21.3: the board has the swarm's tasks, machines and money, for every device; only
// one that steers cancels it.
func TestBoard(t *testing.T) {
	r := newTestServer(t, say("x"))
	watch, steer := r.paired(Watch), r.paired(Steer)
	if code, _, _ := r.ask(watch, "GET", "/api/s/s1/swarm", nil, nil); code != 404 {
		t.Error("it is no swarm:", code)
	}
	cancelled := false
	one := oneSwarm{cancelled: &cancelled}
	r.s.sessions.cfg.Swarms, r.s.cfg.Swarms = one, one
	r.s.sessions.of("s1").Runs = true
	b := got[Board](r, watch, "/api/s/s1/swarm")
	if len(b.Tasks) != 2 || b.Tasks[1].MergedBy != "b-merge" || b.Tasks[0].Cost == "" || len(b.Machines) != 1 || b.Machines[0].Works != 2 || !b.More || strings.Contains(b.Goal, "\x1b") {
		t.Errorf("%+v", b)
	}
	if b.Again != "" {
		t.Error("it runs, and is to be resumed:", b.Again)
	}
	if code := r.post(watch, "/api/s/s1/swarm/cancel", struct{}{}); code != 403 || cancelled {
		t.Error("one that watches cancelled it:", code)
	}
	if code := r.post(steer, "/api/s/s1/swarm/cancel", struct{}{}); code != 200 || !cancelled {
		t.Error("not cancelled:", code)
	}
	one.err = errors.New("it is gone")
	r.s.cfg.Swarms = one
	if code := r.post(steer, "/api/s/s1/swarm/cancel", struct{}{}); code != 422 {
		t.Error("a failure:", code)
	}
}

// SPEC 21.3: a swarm that no process runs goes on from a page as from a terminal: once, by a
// device that steers, also after its changes were looked at here; it ends with its session.
func TestResumeSwarm(t *testing.T) {
	r := newTestServer(t, say("x"))
	watch, steer := r.paired(Watch), r.paired(Steer)
	if code := r.post(steer, "/api/s/s1/swarm/resume", ResumeSwarm{}); code != 404 {
		t.Error("it is no swarm:", code)
	}
	closed := make(chan struct{})
	one := oneSwarm{resume: func(ctx context.Context) (*Opened, error) {
		o, err := r.s.cfg.Open(ctx, Start{ID: "s1"})
		if err != nil {
			return nil, err
		}
		shut := o.Close
		o.Runs, o.Close = true, func() { shut(); close(closed) }
		return o, nil
	}}
	r.s.sessions.cfg.Swarms, r.s.cfg.Swarms = one, one
	before := r.s.sessions.of("s1") // as an undo opens it
	if b := got[Board](r, watch, "/api/s/s1/swarm"); b.Again == "" {
		t.Error("it does not run, and cannot be resumed")
	}
	if code := r.post(steer, "/api/s/s1/prompt", Prompt{ID: "12345678", Text: "x"}); code != 409 {
		t.Error("a swarm was prompted:", code)
	}
	if code := r.post(watch, "/api/s/s1/swarm/resume", ResumeSwarm{}); code != 403 {
		t.Error("one that watches resumed it:", code)
	}
	if code := r.post(steer, "/api/s/s1/swarm/resume", ResumeSwarm{Workers: 65}); code != 422 {
		t.Error("with too many workers:", code)
	}
	<-before.closed
	if code := r.post(steer, "/api/s/s1/swarm/resume", ResumeSwarm{Workers: 2, USD: 5, WritePartial: true}); code != 200 {
		t.Error("not resumed:", code)
	}
	id := "opened-0" // the server's id of it
	l := r.s.sessions.of(id)
	if l == nil || !l.Runs {
		t.Fatalf("%+v", l)
	}
	r.s.sessions.mu.Lock()
	r.s.sessions.live["s1"] = l
	r.s.sessions.mu.Unlock()
	if code := r.post(steer, "/api/s/s1/swarm/resume", ResumeSwarm{}); code != 409 {
		t.Error("resumed twice:", code)
	}
	if code := r.post(steer, "/api/s/"+id+"/stop", struct{}{}); code != 200 {
		t.Error("not stopped:", code)
	}
	<-closed
}

// SPEC 21.3: what a person decides about a task goes to the swarm, from a device that steers,
// and only what was offered; the diff of its result is text.
func TestSteerTask(t *testing.T) {
	r := newTestServer(t, say("x"))
	watch, steer := r.paired(Watch), r.paired(Steer)
	var did []SteerTask
	one := oneSwarm{steered: &did}
	if code := r.post(steer, "/api/s/s1/swarm/steer", SteerTask{"a", "retry", ""}); code != 404 {
		t.Error("it is no swarm:", code)
	}
	r.s.sessions.cfg.Swarms, r.s.cfg.Swarms = one, one
	for _, what := range []string{"message", "retry", "edit", "cancel", "accept"} {
		if code := r.post(steer, "/api/s/s1/swarm/steer", SteerTask{"a", what, "so"}); code != 200 || did[len(did)-1] != (SteerTask{"a", what, "so"}) {
			t.Error(what, code, did)
		}
	}
	if code := r.post(steer, "/api/s/s1/swarm/steer", SteerTask{"a", "merge", ""}); code != 422 || len(did) != 5 {
		t.Error("what was not offered:", code)
	}
	if code := r.post(watch, "/api/s/s1/swarm/steer", SteerTask{"a", "retry", ""}); code != 403 || len(did) != 5 {
		t.Error("one that watches:", code)
	}
	if d := got[TaskDiff](r, watch, "/api/s/s1/swarm/diff?task=a"); !strings.Contains(d.HTML, "&lt;b&gt;") || strings.Contains(d.HTML, "\x1b") || !strings.Contains(d.HTML, "class=") {
		t.Errorf("%+v", d)
	}
}
