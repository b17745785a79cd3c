package changes

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Around runs something other than a call that may change the workspace, such
// as a person's hook, and records its changes as changes of a call, so that
// undo knows them. If the workspace cannot be compared, it runs anyway.
func (r *Recorder) Around(ctx context.Context, call string, run func()) ([]event.FileChanged, error) {
	if r.tracker == nil {
		run()
		return nil, nil
	}
	if err := r.tracker.begin(ctx, r, call, undo.NamedPaths{}); err != nil {
		r.tracker.abandon()
		run()
		return nil, err
	}
	run()
	ds, _, err := r.tracker.end(ctx, r, call, undo.NamedPaths{})
	if err != nil {
		return nil, err
	}
	if err := r.log.Append(context.WithoutCancel(ctx), ds...); err != nil {
		return nil, err
	}
	return fileChanges(ds), r.tracker.checkpointAfter(r)
}
