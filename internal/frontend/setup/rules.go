package setup

import (
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/rules"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// rulebook reads the rules of a workspace for a session. Secrets in them are
// masked before anything is compared or stored.
type rulebook struct {
	o    rules.Options
	mask func(string) string
}

// Rules returns where the rules of a folder are read from.
func (e *Environment) Rules(dir string, p settings.Paths) rules.Options {
	return rules.Options{Root: dir, Home: e.Env("HOME"), Config: p.Config}
}

// start returns the rules for the system prompt, and the problems with them. A session
// that is only read needs none.
func (b *rulebook) start(ctx context.Context, readOnly bool) (string, []string, error) {
	if readOnly {
		return "", nil, nil
	}
	set, err := rules.Load(ctx, b.o)
	set.Text = b.mask(set.Text)
	return set.Prompt(), set.Warnings, err
}

// notes is session.Config.Rules: it returns changed rules, and those of folders that
// are new to the session. Problems were reported at the start.
func (b *rulebook) notes(ctx context.Context, g session.Guidance) []string {
	var notes []string
	if set, err := rules.Load(ctx, b.o); err == nil {
		set.Text = b.mask(set.Text)
		if n := set.Changed(g.System, g.Notes); n != "" {
			notes = append(notes, n)
		}
	}
	for _, file := range g.Seen {
		for _, set := range rules.Below(ctx, b.o, file) {
			set.Text = b.mask(set.Text)
			if n := set.Note(); n != "" && !slices.Contains(g.Notes, n) && !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	return notes
}
