package changes

import (
	"context"

	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file keeps an undo from losing lines. An agent that moves lines from one
// file to another changes both files; undoing only the change of the target
// would remove the lines from the disk.

// Limits of the comparison.
const (
	otherChanges = 500      // changes in effect that are not in the plan, the newest
	compareLimit = 64 << 20 // bytes of contents
)

// flows compares each file with its next content; ok is false if that is too much data.
func (r *Recorder) flows(ctx context.Context, files []undo.File) (_ undo.Flows, ok bool, err error) {
	out := make([]undo.Flow, len(files))
	size := 0
	for i, f := range files {
		if f.Blocked() || f.Action == undo.Same || f.Sets != nil {
			continue
		}
		_, now, err := r.current(ctx, f.Path)
		if err != nil {
			return undo.Flows{}, false, err
		}
		to := f.Data
		if f.Action == undo.PutBack {
			if to, err = r.contentOrEmpty(ctx, f.To); err != nil {
				return undo.Flows{}, false, err
			}
		}
		if size += len(now) + len(to); size > compareLimit {
			return undo.Flows{}, false, nil
		}
		out[i] = undo.FlowOf(now, to)
	}
	return undo.FlowsOf(out), true, nil
}

// askOrphans asks about the files of a plan with lines that another file lost
// by a change in effect, or that may be somebody else's.
func (r *Recorder) askOrphans(ctx context.Context, p *undo.Plan) error {
	var seqs []int64
	for _, f := range p.Files {
		seqs = append(seqs, f.Changes...)
	}
	var others, unattributed []undo.Change
	r.log.View(func() {
		others, unattributed = r.fold.undo.Others(seqs, otherChanges), r.fold.undo.Unattributed(otherChanges)
	})
	if len(others) == 0 && len(unattributed) == 0 {
		return nil
	}
	flows, ok, err := r.flows(ctx, p.Files)
	if err != nil || !ok {
		return err
	}
	for _, o := range unattributed { // its lines may have been moved to another file
		before, err := r.contentOrEmpty(ctx, o.Before)
		if err != nil {
			return err
		}
		after, err := r.contentOrEmpty(ctx, o.After)
		if err != nil {
			return err
		}
		flows.AskUnattributed(p.Files, o, before, after)
	}
	size := 0
	for _, o := range others {
		before, err := r.contentOrEmpty(ctx, o.Before)
		if err != nil {
			return err
		}
		_, now, err := r.current(ctx, o.Path)
		if err != nil {
			return err
		}
		if size += len(before) + len(now); size > compareLimit {
			return nil
		}
		flows.AskTaken(p.Files, o, before, now)
	}
	return nil
}

// leaveOrphans moves files from do to left to prevent lost lines: undoing such a file
// would remove lines that came from a file in left, which does not get them back.
func (r *Recorder) leaveOrphans(ctx context.Context, do, left []undo.File) (_, _ []undo.File, err error) {
	for i := 0; i < len(left) && len(do) > 0; i++ {
		flows, ok, err := r.flows(ctx, do)
		if err != nil || !ok {
			return do, left, err
		}
		if left[i].Sets != nil {
			continue
		}
		_, now, err := r.current(ctx, left[i].Path)
		if err != nil {
			return do, left, err
		}
		var had [][]byte
		for _, hash := range left[i].Had {
			b, err := r.contentOrEmpty(ctx, hash)
			if err != nil {
				return do, left, err
			}
			had = append(had, b)
		}
		var goes []undo.File
		do, goes = flows.Split(do, left[i], had, now)
		left = append(left, goes...)
	}
	return do, left, nil
}
