// Package diagnosed reports the errors that language servers find after a call's
// changes (SPEC 12.2): in the call's own result, or in a later one if the server takes
// longer.
//
// Its reports are not evidence. The result of a command stays as the command printed
// it, since checks are read from there; the model gets the report separately.
package diagnosed

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// Stage is the stage after a call.
type Stage struct {
	Watch  tool.CodeWatch // nil: there are no servers
	Syntax tool.Syntax    // nil: nobody looks
	Store  event.Blobs    // what files held before
	Log    *eventlog.Log
	Fold   *Fold // one of Log's
	// QueueNote queues a note for the model's next request.
	QueueNote func(event.Draft) bool

	mu      sync.Mutex
	waiting []event.FileChanged // by edits that others follow in the reply
}

// Fold holds the diagnostics that are recorded in the log. The zero value is ready.
type Fold struct{ errors int }

// Apply implements event.Fold. Diagnostics of an earlier process's servers are
// forgotten.
func (k *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Diagnosed:
		k.errors = b.Errors
	case event.Resumed:
		k.errors = 0
	}
}

// foundKept is how many diagnostics an event holds at most.
const foundKept = 50

// brokenShown is how many diagnostics the model is shown at once.
const brokenShown = 10

func (d *Stage) After(ctx context.Context, r *turn.Ran) error {
	watch := d.Watch
	if watch == nil && d.Syntax == nil {
		return nil
	}
	// The last of several edits reports what all of them broke: one may mend what another did.
	d.mu.Lock()
	all := append(d.waiting, r.Files()...)
	d.waiting = nil
	last := r.LastEdit()
	if !last {
		d.waiting = all
	}
	d.mu.Unlock()
	if !last || !r.Started && len(all) == 0 {
		return nil
	}
	files := d.changes(all)
	var found []tool.Diagnostic
	if watch != nil {
		found = relevant(watch.Changed(ctx, files))
	}
	if text := strings.TrimPrefix(brokenText(found)+d.malformed(ctx, files, found), "\n"); text != "" {
		if r.Started && r.Result.Command == "" && r.Records == nil {
			r.Note(text)
		} else {
			d.QueueNote(event.Draft{Body: event.Noted{Why: event.NotedLSP, Text: text}})
		}
	}
	if watch == nil {
		return nil
	}
	ds := d.outcome(r.Call.ID, found)
	for _, m := range watch.Missing() {
		ds = append(ds, event.Draft{Body: event.Warned{What: event.WarnedLSP, Text: m}})
	}
	if len(ds) == 0 {
		return nil
	}
	return d.Log.Append(context.WithoutCancel(ctx), ds...)
}

// outcome records the servers' outcome if it differs from the one before.
func (d *Stage) outcome(call string, found []tool.Diagnostic) []event.Draft {
	errors := 0
	for _, x := range d.Watch.Remaining() {
		if x.Severity == tool.SeverityError {
			errors++
		}
	}
	if len(found) == 0 && errors == eventlog.Query(d.Log, func() int { return d.Fold.errors }) {
		return nil
	}
	kept := found[:min(len(found), foundKept)]
	return []event.Draft{{Body: event.Diagnosed{Call: call, Found: kept, More: len(found) - len(kept), Errors: errors}}}
}

// RemainingErrors returns, for the turn's verifier, the errors that this session's changes
// caused and that remain at the turn's end. Diagnostics that arrive only now are
// recorded, since no later call may report them.
func (d *Stage) RemainingErrors(ctx context.Context) ([]tool.Diagnostic, error) {
	watch := d.Watch
	if watch == nil {
		return nil, nil
	}
	watch.Wait(ctx)
	if ds := d.outcome("", relevant(watch.Changed(ctx, nil))); len(ds) > 0 {
		if err := d.Log.Append(ctx, ds...); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(watch.Remaining(), func(x tool.Diagnostic) bool { return x.Severity != tool.SeverityError }), nil
}

// relevant leaves out hints: the model gets them only if it asks.
func relevant(found []tool.Diagnostic) []tool.Diagnostic {
	return slices.DeleteFunc(found, func(x tool.Diagnostic) bool { return x.Severity > tool.SeverityWarning })
}

// malformed returns the message about files whose syntax a call broke, and packages that no
// longer compile, "" if there are none. What a language server found is not told twice.
func (d *Stage) malformed(ctx context.Context, files []tool.CodeChange, found []tool.Diagnostic) string {
	if d.Syntax == nil {
		return ""
	}
	text := ""
	for _, b := range d.Syntax.Broken(ctx, files) {
		if !slices.ContainsFunc(found, func(f tool.Diagnostic) bool { return f.Path == b.Path }) {
			what := "this change broke"
			if b.Earlier {
				what = b.Source + " now finds"
			}
			text += fmt.Sprintf("\n[%s %s:%d: %s]", what, b.Path, b.Line, b.Message)
		}
	}
	return text
}

// changes returns the files of a call, each once, with their contents before and after it.
func (d *Stage) changes(files []event.FileChanged) []tool.CodeChange {
	var out []tool.CodeChange
	at := map[string]int{}
	for _, f := range files {
		i, ok := at[f.Path]
		if !ok {
			i = len(out)
			at[f.Path] = i
			out = append(out, tool.CodeChange{Path: f.Path, Existed: f.Before != ""})
			if f.Before != "" {
				out[i].Before = func(ctx context.Context) ([]byte, error) { return d.Store.Get(ctx, string(f.Before)) }
			}
		}
		out[i].After = nil
		if f.After != "" && fs.FileMode(f.Mode)&fs.ModeSymlink == 0 {
			out[i].After = func(ctx context.Context) ([]byte, error) { return d.Store.Get(ctx, string(f.After)) }
		}
	}
	return out
}

// brokenText returns the message about what changes broke, errors first; "" if nothing
// matters.
func brokenText(found []tool.Diagnostic) string {
	var parts []string
	for _, of := range []struct {
		by      string
		earlier bool
	}{{"this change", false}, {"an earlier change", true}} {
		some := slices.DeleteFunc(slices.Clone(found), func(d tool.Diagnostic) bool { return d.Earlier != of.earlier })
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
