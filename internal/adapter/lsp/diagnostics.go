package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// diagnostics are the server's current diagnostics, and those that existed before a
// change or were reported already. The difference is what the change caused.
type diagnostics struct {
	mu      sync.Mutex
	now     map[string][]diagnostic // by path
	told    map[string][]diagnostic
	caused  map[string][]diagnostic // the part of told that changes caused
	want    map[string]int          // versions of documents whose diagnostics have not come yet
	version map[string]int          // of the newest diagnostics that came
	results map[string]string
	last    time.Time // of the last diagnostics
	asked   time.Time // when a document was last opened or changed
	// versioned means that the server names the document version of its diagnostics. A
	// server that does not sends nothing if nothing changed.
	versioned bool
	owed      time.Time     // diagnostics that come before this time count as caused by changes
	woken     chan struct{} // closed and replaced when diagnostics come
}

func (d *diagnostics) init() {
	d.now, d.told, d.caused, d.want = map[string][]diagnostic{}, map[string][]diagnostic{}, map[string][]diagnostic{}, map[string]int{}
	d.version, d.results = map[string]int{}, map[string]string{}
	d.woken = make(chan struct{})
}

func (d *diagnostics) wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wakeLocked()
}

func (d *diagnostics) wakeLocked() {
	close(d.woken)
	d.woken = make(chan struct{})
}

// refresh discards pulled diagnostics after the server reported that they are out of
// date.
func (d *diagnostics) refresh() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.results)
	d.wakeLocked()
}

// expect records that the diagnostics of a version of a document will come.
func (d *diagnostics) expect(path string, version int, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want[path] = version
	d.asked = now
}

func (d *diagnostics) forget(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.now, path)
	delete(d.told, path)
	delete(d.caused, path)
	delete(d.want, path)
	delete(d.version, path)
	delete(d.results, path)
}

// diagnosticLimit is how many diagnostics of one file are stored.
const diagnosticLimit = 1000

// published stores diagnostics that the server pushed. Those of an older version of a
// document are ignored: newer ones will come.
func (c *client) published(p publishDiagnostics) {
	path, ok := fromURI(p.URI)
	if !ok {
		return
	}
	c.diags.mu.Lock()
	defer c.diags.mu.Unlock()
	d := &c.diags
	want, waited := d.want[path]
	if p.Version != nil && (waited && *p.Version < want || *p.Version < d.version[path]) {
		return
	}
	if p.Version != nil {
		d.version[path] = *p.Version
		d.versioned = true
	}
	delete(d.want, path)
	d.setLocked(path, p.Diagnostics, c.opt.Now())
}

// never reports whether no diagnostics have come yet.
func (d *diagnostics) never() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last.IsZero()
}

func (d *diagnostics) setLocked(path string, ds []diagnostic, now time.Time) {
	if len(ds) > diagnosticLimit {
		ds = ds[:diagnosticLimit]
	}
	if !now.Before(d.owed) { // not caused by a change of ours. Diagnostics that one caused and that were not reported yet stay unreported
		d.told[path] = without(ds, without(d.now[path], d.told[path]))
	}
	if len(ds) == 0 {
		delete(d.now, path)
	} else {
		d.now[path] = ds
	}
	d.last = now
	d.wakeLocked()
}

// moved shifts the known diagnostics of a document after an edit, so that they are
// recognised at their new lines.
func (d *diagnostics) moved(path string, e contentEdit, _ encoding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delta := strings.Count(e.Text, "\n") - (e.Range.End.Line - e.Range.Start.Line)
	for _, ds := range [][]diagnostic{d.told[path], d.caused[path]} {
		for i := range ds {
			r := &ds[i].Range
			if r.Start.Line >= e.Range.End.Line && (r.Start.Line > e.Range.End.Line || r.Start.Character >= e.Range.End.Character) {
				r.Start.Line += delta
				r.End.Line += delta
			}
		}
	}
}

// known marks the current diagnostics of the opened documents as known. They were just
// opened with their contents from before a change. A file that the change created has no
// known ones.
func (d *diagnostics) known(opened []string, made map[string]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range opened {
		d.told[p] = slices.Clone(d.now[p])
	}
	for p, is := range made {
		if is {
			delete(d.told, p)
		}
	}
}

// owing sets the time until which new diagnostics count as caused by changes.
func (d *diagnostics) owing(until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.owed = until
}

// unreported returns the diagnostics that are new and not reported yet, and marks them as
// reported. After an edit, positions differ and messages do not: diagnostics that do not
// match by position are matched by message.
func (d *diagnostics) unreported() map[string][]diagnostic {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string][]diagnostic{}
	for p, ds := range d.now {
		if left := without(ds, d.told[p]); len(left) > 0 {
			out[p] = left
		}
	}
	d.caused = d.standingLocked()
	for p, ds := range out {
		d.caused[p] = append(d.caused[p], ds...)
	}
	d.told = map[string][]diagnostic{}
	for p, ds := range d.now {
		d.told[p] = slices.Clone(ds)
	}
	return out
}

// current returns the diagnostics that changes caused, that were reported, and that
// remain.
func (d *diagnostics) current() map[string][]diagnostic {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.standingLocked()
}

func (d *diagnostics) standingLocked() map[string][]diagnostic {
	out := map[string][]diagnostic{}
	for p, ds := range d.caused {
		if both := without(d.now[p], without(d.now[p], ds)); len(both) > 0 {
			out[p] = both
		}
	}
	return out
}

// without returns the diagnostics of ds that have no counterpart in old.
func without(ds, old []diagnostic) []diagnostic {
	left := slices.Clone(ds)
	rest := slices.Clone(old)
	for _, same := range []func(a, b diagnostic) bool{
		func(a, b diagnostic) bool { return says(a, b) && a.Range.Start == b.Range.Start },
		func(a, b diagnostic) bool { return says(a, b) && a.Range.Start.Line == b.Range.Start.Line },
		says,
	} {
		left = slices.DeleteFunc(left, func(a diagnostic) bool {
			i := slices.IndexFunc(rest, func(b diagnostic) bool { return same(a, b) })
			if i >= 0 {
				rest = slices.Delete(rest, i, i+1)
			}
			return i >= 0
		})
	}
	return left
}

func says(a, b diagnostic) bool {
	return a.Message == b.Message && a.Severity == b.Severity && a.Source == b.Source && bytes.Equal(a.Code, b.Code)
}

// Waiting times for diagnostics.
const (
	quiet     = 120 * time.Millisecond // without another message, after all that are expected
	quietLoad = 400 * time.Millisecond // the same, after the server has read its project
	nothing   = time.Second            // after a change, for a server that may have nothing to report
)

// settle waits until the server has reported all diagnostics of the current documents:
// all expected ones have come, no task is in progress, and nothing more came for the
// duration still. It returns false if ctx or the server ended before that.
func (c *client) settle(ctx context.Context, still time.Duration) bool {
	for {
		c.diags.mu.Lock()
		open, last, woken := len(c.diags.want), c.diags.last, c.diags.woken
		asked, versioned := c.diags.asked, c.diags.versioned
		c.diags.mu.Unlock()
		if c.alive() != nil {
			return false
		}
		wait := time.Duration(-1)
		if len(c.work()) == 0 && (open == 0 || !versioned && !last.IsZero()) {
			wait = still - c.opt.Now().Sub(last)
			if open > 0 {
				wait = max(wait, nothing-c.opt.Now().Sub(asked))
			}
			if wait <= 0 {
				return true
			}
		}
		if !waitFor(ctx, woken, wait) {
			return false
		}
	}
}

// waitFor waits for a channel, a duration (below 0: for ever), or the end of ctx. It
// returns false if ctx ended.
func waitFor(ctx context.Context, ch <-chan struct{}, d time.Duration) bool {
	var after <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-ch:
	case <-after:
	case <-ctx.Done():
		return false
	}
	return true
}

// pulls reports whether diagnostics are pulled rather than pushed. Some servers
// announce pulling although the client did not offer it, and push.
func (c *client) pulls() bool {
	if !c.server.Pull {
		return false
	}
	if c.caps.Diagnostic.on {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.dynamic {
		if r.Method == "textDocument/diagnostic" {
			return true
		}
	}
	return false
}

// pull requests the diagnostics of open documents.
func (c *client) pull(ctx context.Context, paths []string) error {
	var o struct {
		Identifier string `json:"identifier"`
	}
	_ = json.Unmarshal(c.caps.Diagnostic.options, &o) // without options the identifier stays empty
	for _, p := range paths {
		c.diags.mu.Lock()
		previous := c.diags.results[p]
		c.diags.mu.Unlock()
		var r documentReport
		err := c.call(ctx, "textDocument/diagnostic", pullParams{TextDocument: documentID{URI: toURI(p)}, Identifier: o.Identifier, PreviousResultID: previous}, &r)
		if err != nil {
			return err
		}
		c.take(p, r)
		for uri, rel := range r.Related {
			if q, ok := fromURI(uri); ok {
				c.take(q, rel)
			}
		}
	}
	return nil
}

func (c *client) take(path string, r documentReport) {
	c.diags.mu.Lock()
	defer c.diags.mu.Unlock()
	delete(c.diags.want, path)
	if r.Kind != "unchanged" {
		c.diags.setLocked(path, r.Items, c.opt.Now())
	}
	if r.ResultID != "" {
		c.diags.results[path] = r.ResultID
	}
}

func (c *client) opened() []string {
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	var out []string
	for p := range c.docs.open {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// codeText returns a diagnostic's code as text; in the protocol it is a number or a
// string.
func codeText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// language returns the protocol's name for the language of a file, "" if the server does
// not know it.
func (c *client) language(path string) string { return c.server.Language(filepath.ToSlash(path)) }
