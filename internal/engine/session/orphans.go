package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file keeps an undo from leaving lines nowhere: an agent that moves lines
// from one file to another changes both, and putting back only the other takes
// the lines from the disk.

// Bounds of what is compared.
const (
	otherChanges = 500      // that stand beside the plan's, the newest
	compareLimit = 64 << 20 // bytes of contents
)

// goes are the lines that a plan takes from a file; comes are all that the file
// has then.
type flow struct{ goes, comes map[string]bool }

// flows gives them for each file; ok is false where that is too much.
func (s *Session) flows(ctx context.Context, files []undo.File) (_ []flow, ok bool, err error) {
	out := make([]flow, len(files))
	size := 0
	for i, f := range files {
		if f.Blocked() || f.Action == undo.Same {
			continue
		}
		_, now, err := s.itself(ctx, f.Path)
		if err != nil {
			return nil, false, err
		}
		to := f.Data
		if f.Action == undo.PutBack {
			if to, err = s.had(ctx, f.To); err != nil {
				return nil, false, err
			}
		}
		if size += len(now) + len(to); size > compareLimit {
			return nil, false, nil
		}
		out[i] = flow{undo.Gone(now, to), undo.Gone(to, nil)}
	}
	return out, true, nil
}

// had gives a content that may not be kept: then it is empty.
func (s *Session) had(ctx context.Context, h tool.Hash) ([]byte, error) {
	if h == "" {
		return nil, nil
	}
	b, err := s.blob(ctx, h)
	if errors.Is(err, event.ErrNoBlob) {
		err = nil
	}
	return b, err
}

// askOrphans asks about the files of a plan that hold lines which another file
// lost to a change that stands, or which may be somebody else's.
func (s *Session) askOrphans(ctx context.Context, p *undo.Plan) error {
	var seqs []int64
	for _, f := range p.Files {
		seqs = append(seqs, f.Changes...)
	}
	var others, loose []undo.Change
	s.log.View(func() { others, loose = s.undo.Others(seqs, otherChanges), s.undo.Loose(otherChanges) })
	if len(others) == 0 && len(loose) == 0 {
		return nil
	}
	flows, ok, err := s.flows(ctx, p.Files)
	if err != nil || !ok {
		return err
	}
	back := map[string]bool{}
	for _, fl := range flows {
		for l := range fl.comes {
			back[l] = true
		}
	}
	for _, o := range loose { // what it brought may have gone on to another file
		before, err := s.had(ctx, o.Before)
		if err != nil {
			return err
		}
		after, err := s.had(ctx, o.After)
		if err != nil {
			return err
		}
		brought := undo.Gone(after, before)
		for i := range p.Files {
			if f := &p.Files[i]; (f.Path != o.Path || !f.Loose) && undo.Meet(flows[i].goes, brought, back) {
				f.AskFor(fmt.Sprintf("it has lines that came to %s while a command ran, and may be somebody else's", o.Path))
			}
		}
	}
	size := 0
	for _, o := range others {
		before, err := s.had(ctx, o.Before)
		if err != nil {
			return err
		}
		_, now, err := s.itself(ctx, o.Path)
		if err != nil {
			return err
		}
		if size += len(before) + len(now); size > compareLimit {
			return nil
		}
		gone, all := undo.Gone(before, now), undo.Gone(before, nil)
		for i := range p.Files {
			f := &p.Files[i]
			switch {
			case f.Path != o.Path && undo.Meet(flows[i].goes, gone, back):
				f.AskFor(fmt.Sprintf("it has lines that were taken from %s", o.Path))
			case f.Path == o.Path && undo.Meet(flows[i].goes, all, back):
				f.AskFor("it has lines that an earlier change took from it")
			}
		}
	}
	return nil
}

// leaveOrphans leaves out the files that hold lines which a file that is left
// out does not get back.
func (s *Session) leaveOrphans(ctx context.Context, do, left []undo.File) (_, _ []undo.File, err error) {
	for i := 0; i < len(left) && len(do) > 0; i++ {
		flows, ok, err := s.flows(ctx, do)
		if err != nil || !ok {
			return do, left, err
		}
		back := map[string]bool{}
		for _, fl := range flows {
			for l := range fl.comes {
				back[l] = true
			}
		}
		_, now, err := s.itself(ctx, left[i].Path)
		if err != nil {
			return do, left, err
		}
		gone := map[string]bool{}
		for _, h := range left[i].Had {
			had, err := s.had(ctx, h)
			if err != nil {
				return do, left, err
			}
			maps.Copy(gone, undo.Gone(had, now))
		}
		var stays []undo.File
		for j, f := range do {
			if undo.Meet(flows[j].goes, gone, back) {
				f.With = append(slices.Clone(f.With), left[i].Path)
				left = append(left, f)
				continue
			}
			stays = append(stays, f)
		}
		do = stays
	}
	return do, left, nil
}
