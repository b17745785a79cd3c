package swarmrun

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// branch makes a branch for the merged tree and for each merged task, instead of writing
// the files. A task's branch has its change alone, on what the project was when the swarm
// began; one that needs the change of another task stands on the tree that it began from.
func (r *run) branch(ctx context.Context, text string) error {
	ground, err := r.trees.Ground(ctx, r.log.Base)
	if err != nil {
		return err
	}
	prefix := "pawl/" + r.log.ID[:min(13, len(r.log.ID))]
	var all []trees.Branch
	for _, t := range r.log.Tasks() {
		if t.State != swarm.Merged || t.Resolves != "" || t.Result.Commit == "" {
			continue
		}
		message := cmp.Or(t.Title, t.ID) + "\n\n" + strings.TrimSpace(t.Goal)
		commit, err := r.trees.Pick(ctx, ground, t.Lease.Base, t.Result.Commit, message, t.Began)
		if err != nil {
			return err
		}
		if commit == "" {
			r.say(fmt.Sprintf("the branch of task %s includes the results that the task needs", t.ID))
			commit = t.Result.Commit
		}
		all = append(all, trees.Branch{Name: prefix + "/" + t.ID, Commit: commit})
	}
	whole, err := r.trees.On(ctx, ground, r.log.Tip(), cmp.Or(strings.TrimSpace(r.log.Goal), "the result of a swarm"), r.Now())
	if err != nil {
		return err
	}
	all = append(all, trees.Branch{Name: prefix + "-merged", Commit: whole})
	if err := r.trees.Publish(ctx, ground, all); err != nil {
		return err
	}
	if _, err := r.o.Coordination().Apply(ctx, setup.SwarmFront, text, nil); err != nil {
		return err
	}
	r.say(fmt.Sprintf("your files are as they were; %s: %s-merged and %s/TASK", plural.Of(len(all), "branch"), prefix, prefix))
	return nil
}
