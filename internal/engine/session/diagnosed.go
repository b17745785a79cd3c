package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// diagnosed is the stage after a call that tells what its changes broke, as
// language servers see it (SPEC 12.2): in the call's own result, or in a later
// one where the server takes longer. What it tells is no proof of anything: a
// command's result is left as the command printed it, for checks are read from
// there, and the model is told beside it.
type diagnosed struct{ s *Session }

// brokenShown is how many diagnostics the model is told of at once.
const brokenShown = 10

// serverMissing is event.Warned.What of a language server that is not installed.
const serverMissing = "lsp"

// After is part of turn.After.
func (d diagnosed) After(ctx context.Context, r *turn.Ran) error {
	watch := d.s.cfg.CodeWatch
	if watch == nil || !r.Started {
		return nil
	}
	files := r.Files()
	found := watch.Changed(ctx, d.changes(files))
	if text := brokenText(found); text != "" {
		if r.Result.Command == "" && r.Records == nil {
			r.Note(text)
		} else {
			d.s.ops.tellLater(event.Draft{Body: event.Noted{Why: "lsp", Text: text}})
		}
	}
	var ds []event.Draft
	for _, m := range watch.Missing() {
		ds = append(ds, event.Draft{Body: event.Warned{What: serverMissing, Text: m}})
	}
	if len(ds) == 0 {
		return nil
	}
	return d.s.record(context.WithoutCancel(ctx), ds...)
}

// changes are the files of a call, each once, with what they held before it.
func (d diagnosed) changes(files []event.FileChanged) []tool.CodeChange {
	var out []tool.CodeChange
	for _, f := range files {
		if slices.ContainsFunc(out, func(c tool.CodeChange) bool { return c.Path == f.Path }) {
			continue
		}
		c := tool.CodeChange{Path: f.Path, Existed: f.Before != ""}
		if c.Existed {
			c.Before = func(ctx context.Context) ([]byte, error) { return d.s.cfg.Store.Get(ctx, string(f.Before)) }
		}
		out = append(out, c)
	}
	return out
}

// brokenText words what changes broke, errors first; "" for nothing that
// matters. Hints are left to who asks for them.
func brokenText(found []tool.Diagnostic) string {
	var parts []string
	for _, of := range []struct {
		by      string
		earlier bool
	}{{"this change", false}, {"an earlier change", true}} {
		some := slices.DeleteFunc(slices.Clone(found), func(d tool.Diagnostic) bool { return d.Severity > tool.SeverityWarning || d.Earlier != of.earlier })
		if len(some) == 0 {
			continue
		}
		text := "[the language server finds what " + of.by + " brought:"
		for _, d := range some[:min(len(some), brokenShown)] {
			text += "\n  " + tools.DiagnosticLine(d)
		}
		if more := len(some) - brokenShown; more > 0 {
			text += fmt.Sprintf("\n  and %d more", more)
		}
		parts = append(parts, text+"]")
	}
	return strings.Join(parts, "\n")
}
