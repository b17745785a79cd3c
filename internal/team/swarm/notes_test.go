package swarm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/store/jsonfile"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/kv"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// SPEC 14.3, 14.5: what workers learned outlives the coordinator, reaches the
// workers after it, and is gone when the swarm has ended.
func TestLessonsOutliveTheCoordinator(t *testing.T) {
	store := must.Get(jsonfile.Open(t.TempDir()))(t)
	must.Done(t)(store.Save(t.Context(), "other/failure/00000000", []byte(`{"Tool":"bash","Target":"theirs","Text":"theirs"}`)))
	r := newLocalSwarm(t, nil)
	r.plan(makes("a"), makes("b"))
	r.cfg.Slots, r.cfg.Notes, r.cfg.ID = 1, store, "s"
	ctx, cancel := context.WithCancelCause(t.Context())
	r.cfg.Work = func(c context.Context, j Job) (Done, error) {
		j.Saw(swarm.Call{Worker: j.Worker, Key: "k", What: "curl api", Failed: true}, &swarm.Failure{Worker: j.Worker, Tool: "bash", Target: "curl api", Category: "error", Text: "connection refused"})
		cancel(errors.New("died"))
		<-c.Done()
		return Done{Refers: []swarm.Reference{{Value: "the text", Note: "found by a"}}}, c.Err()
	}
	if err := Run(ctx, r.cfg); err == nil {
		t.Fatal("it was interrupted")
	}
	r.open()
	r.cfg.Slots, r.cfg.Notes, r.cfg.ID = 1, store, "s"
	var told string
	work := r.cfg.Work
	r.cfg.Work = func(c context.Context, j Job) (Done, error) { told += j.Prompt; return work(c, j) }
	must.Do(t, Run(t.Context(), r.cfg))
	r.ended(event.SwarmVerified)
	for _, part := range []string{"connection refused", "found by a"} {
		if !strings.Contains(told, part) {
			t.Errorf("the next worker is not told %q:\n%s", part, told)
		}
	}
	if strings.Contains(told, "theirs") {
		t.Error("it is told what another swarm learned")
	}
	if keys, err := store.List(t.Context(), ""); err != nil || len(keys) != 1 {
		t.Errorf("left: %q, %v", keys, err)
	}
}

// failing is a store that does not write.
type failing struct{ kv.Store }

func (failing) Save(context.Context, string, []byte) (kv.Version, error) {
	return "", errors.New("no space left")
}

// SPEC 14.2: storage that broke stops no swarm: a person is told, once.
func TestNotesCannotBeKept(t *testing.T) {
	store := must.Get(jsonfile.Open(t.TempDir()))(t)
	r := newLocalSwarm(t, nil)
	r.plan(makes("a"))
	r.cfg.Notes, r.cfg.ID = failing{store}, "s"
	var said []string
	r.cfg.Say = func(line string) { said = append(said, line) }
	r.cfg.Work = func(context.Context, Job) (Done, error) { return Done{}, nil } // its check fails
	must.Do(t, Run(t.Context(), r.cfg))
	r.ended(event.SwarmIncomplete)
	if len(said) != 1 || !strings.Contains(said[0], "no space left") {
		t.Errorf("it says %q", said)
	}
}
