package session

import (
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	readers "github.com/pawl-agent/pawl/internal/policy/guidance"
)

// This file is what a person must know before they go on after a turn: what it left that they,
// or what they start, would run without having read it (SPEC 16.16). What agents did is the
// turn's too: their calls end before it, and their changes are in its log.

const (
	mostObeyed = 20  // files that are named
	mostRead   = 200 // files whose contents are compared
)

func (s *Session) closed(ctx context.Context, end event.Ended) event.Ended {
	end.Obeyed = s.obeyed(ctx)
	if s.inGit != nil {
		end.Git = s.inGit(ctx)
		s.inGit = nil
		if sh, ok := s.cfg.Shell.(tool.Jobs); ok && len(sh.Running()) > 0 {
			s.inGit = s.cfg.InGit() // what a command in the background leaves belongs to the next turn
		}
	}
	return end
}

// lookAtGit remembers what git holds as a turn begins.
func (s *Session) lookAtGit() {
	if s.inGit == nil && s.cfg.InGit != nil {
		s.inGit = s.cfg.InGit()
	}
}

// obeyed returns the files that the turn changed, also by checks, and that somebody runs or
// obeys by itself. more are events that are not in the log yet.
func (s *Session) obeyed(ctx context.Context, more ...event.Draft) []event.Obeyed {
	files := s.proof().Files
	for _, d := range more {
		if c, ok := d.Body.(event.FileChanged); ok {
			files = append(files, evidence.File{Path: c.Path, Before: c.Before, After: c.After})
		}
	}
	var out []event.Obeyed
	read := 0
	for _, f := range files {
		if f.After == "" || slices.ContainsFunc(out, func(o event.Obeyed) bool { return o.Path == f.Path }) {
			continue
		}
		by := readers.RunsNext(f.Path, func() (before, after string, ok bool) {
			if read++; read > mostRead {
				return "", "", false
			}
			before, had := s.content(ctx, f.Before)
			after, has := s.content(ctx, f.After)
			return before, after, had && has
		})
		switch {
		case by == "":
		case len(out) < mostObeyed:
			out = append(out, event.Obeyed{Path: f.Path, By: by})
		default:
			out[mostObeyed-1].More++
		}
	}
	return out
}

// content returns what a file held; ok is false if it was not kept.
func (s *Session) content(ctx context.Context, h tool.Hash) (text string, ok bool) {
	if h == "" {
		return "", true
	}
	b, err := s.cfg.Store.Get(ctx, string(h))
	return string(b), err == nil
}
