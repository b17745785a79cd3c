package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// This file converts a server's edits into writes. Nothing is written here.

func (s *Servers) Rename(ctx context.Context, at tool.CodeAt, name string) ([]tool.Write, error) {
	sp, err := s.resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := sp.c.can(sp.c.caps.Rename, "textDocument/rename", "renaming"); err != nil {
		return nil, err
	}
	if !sp.c.openUses(ctx, sp) {
		return nil, fmt.Errorf("%w: %s looks into %d files at once, and it may be used in more: nothing is renamed", errCan, sp.c.server.Name, usesLimit)
	}
	var e *workspaceEdit
	if err := sp.c.call(ctx, "textDocument/rename", renameParams{sp.params(), name}, &e); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, errors.New("there is nothing that can be renamed at this place")
	}
	return s.writes(sp.c, []workspaceEdit{*e})
}

// actionsAt lists the actions for the lines from a place up to line to, in the server's
// own form.
func (s *Servers) actionsAt(ctx context.Context, at tool.CodeAt, to int) (*spot, []codeAction, error) {
	sp, err := s.resolve(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if err := sp.c.can(sp.c.caps.CodeAction, "textDocument/codeAction", "actions"); err != nil {
		return nil, nil, err
	}
	s.wait(ctx, sp.c) // quick fixes are for diagnostics
	p := actionParams{TextDocument: documentID{URI: toURI(sp.path)}, Range: textRange{sp.pos, sp.pos}}
	if to > at.Line && at.Line > 0 {
		last := min(to, sp.text.lines()) - 1
		p.Range.Start.Character = 0
		p.Range.End = position{last, units(sp.text.line(last), sp.c.enc)}
	}
	p.Context.Diagnostics = []diagnostic{}
	for _, d := range sp.c.diags.all()[sp.path] {
		if d.Range.Start.Line <= p.Range.End.Line && d.Range.End.Line >= p.Range.Start.Line {
			p.Context.Diagnostics = append(p.Context.Diagnostics, d)
			if at.Column == 0 && at.Symbol == "" && to <= at.Line { // a line without a column means the whole line
				p.Range = textRange{position{sp.pos.Line, 0}, position{sp.pos.Line, units(sp.text.line(sp.pos.Line), sp.c.enc)}}
			}
		}
	}
	p.Context.TriggerKind = 1
	var raw []json.RawMessage
	if err := sp.c.call(ctx, "textDocument/codeAction", p, &raw); err != nil {
		return nil, nil, err
	}
	var out []codeAction
	for _, r := range raw {
		a, ok := sp.c.action(r)
		if ok {
			out = append(out, a)
		}
	}
	return sp, out, nil
}

// action decodes one action. It returns false for an action that can only run a command
// that is not known to propose an edit.
func (c *client) action(raw json.RawMessage) (codeAction, bool) {
	var bare struct {
		Title   string          `json:"title"`
		Command json.RawMessage `json:"command"`
	}
	if json.Unmarshal(raw, &bare) != nil || bare.Title == "" {
		return codeAction{}, false
	}
	var name string
	if json.Unmarshal(bare.Command, &name) == nil && name != "" { // a command instead of an action
		var cmd command
		if json.Unmarshal(raw, &cmd) != nil {
			return codeAction{}, false
		}
		return codeAction{Title: cmd.Title, Command: &cmd}, slices.Contains(c.server.Edits, cmd.Command)
	}
	var a codeAction
	if json.Unmarshal(raw, &a) != nil {
		return codeAction{}, false
	}
	a.raw = slices.Clone(raw)
	return a, a.Edit != nil || a.Command == nil || slices.Contains(c.server.Edits, a.Command.Command)
}

func (s *Servers) Actions(ctx context.Context, at tool.CodeAt, to int) ([]tool.CodeAction, error) {
	_, all, err := s.actionsAt(ctx, at, to)
	if err != nil {
		return nil, err
	}
	var out []tool.CodeAction
	for _, a := range all {
		ta := tool.CodeAction{Title: a.Title, Kind: a.Kind, Preferred: a.Preferred}
		if a.Disabled != nil {
			ta.Disabled = a.Disabled.Reason
		}
		out = append(out, ta)
	}
	return out, nil
}

func (s *Servers) Act(ctx context.Context, at tool.CodeAt, to int, title string) ([]tool.Write, error) {
	sp, all, err := s.actionsAt(ctx, at, to)
	if err != nil {
		return nil, err
	}
	a, err := pick(all, title)
	if err != nil {
		return nil, err
	}
	if a.Disabled != nil {
		return nil, fmt.Errorf("%q cannot be done here: %s", a.Title, a.Disabled.Reason)
	}
	if a.Edit == nil && a.Command == nil && a.raw != nil && sp.c.resolves() {
		var full json.RawMessage
		if err := sp.c.call(ctx, "codeAction/resolve", a.raw, &full); err != nil {
			return nil, err
		}
		if r, ok := sp.c.action(full); ok {
			a = r
		}
	}
	var edits []workspaceEdit
	if a.Edit != nil {
		edits = append(edits, *a.Edit)
	}
	// A command that comes with an edit is for editors, to clean up afterwards: it is not
	// run.
	if a.Command != nil && a.Edit == nil && slices.Contains(sp.c.server.Edits, a.Command.Command) {
		done := sp.c.allow()
		err := sp.c.call(ctx, "workspace/executeCommand", map[string]any{"command": a.Command.Command, "arguments": a.Command.Arguments}, nil)
		edits = append(edits, done()...)
		if err != nil {
			return nil, err
		}
	}
	if len(edits) == 0 {
		return nil, fmt.Errorf("%q changes no file", a.Title)
	}
	ws, err := s.writes(sp.c, edits)
	if err == nil && len(ws) == 0 {
		err = fmt.Errorf("%q changes no file", a.Title)
	}
	return ws, err
}

// resolves reports whether the server completes a chosen action on request.
func (c *client) resolves() bool {
	var o struct {
		Resolve bool `json:"resolveProvider"`
	}
	return json.Unmarshal(c.caps.CodeAction.options, &o) == nil && o.Resolve
}

// pick returns the action with a title: the exact one, otherwise the only one whose title
// contains it.
func pick(all []codeAction, title string) (codeAction, error) {
	var near []codeAction
	for _, a := range all {
		if a.Title == title {
			return a, nil
		}
		if strings.Contains(strings.ToLower(a.Title), strings.ToLower(title)) {
			near = append(near, a)
		}
	}
	if len(near) == 1 {
		return near[0], nil
	}
	var titles []string
	for _, a := range all {
		titles = append(titles, fmt.Sprintf("%q", a.Title))
	}
	if len(titles) == 0 {
		return codeAction{}, errors.New("there is no action at this place")
	}
	return codeAction{}, fmt.Errorf("no single action is called %q; there are %s", title, strings.Join(titles, ", "))
}

// draft is a file after edits.
type draft struct {
	was     []byte
	existed bool
	now     string // without the byte order mark
	mark    string
	gone    bool
	movedTo string
}

// drafts are the files of one change.
type drafts struct {
	s     *Servers
	c     *client
	files map[string]*draft
}

// writes converts edits into writes, all or none. It refuses all if one edit is outside
// the workspace, of a folder, or of a file whose content differs from the server's.
func (s *Servers) writes(c *client, edits []workspaceEdit) ([]tool.Write, error) {
	d := &drafts{s: s, c: c, files: map[string]*draft{}}
	for _, e := range edits {
		if len(e.DocumentChanges) == 0 {
			for _, uri := range slices.Sorted(maps.Keys(e.Changes)) {
				if err := d.edit(documentID{URI: uri}, e.Changes[uri]); err != nil {
					return nil, err
				}
			}
		}
		for _, ch := range e.DocumentChanges {
			if err := d.change(ch); err != nil {
				return nil, err
			}
		}
	}
	return d.list(), nil
}

func (d *drafts) change(ch documentChange) error {
	switch ch.Kind {
	case "":
		return d.edit(ch.TextDocument, ch.Edits)
	case "create":
		f, err := d.at(ch.URI)
		if err != nil {
			return err
		}
		if there := f.existed && !f.gone; there && ch.Options.IgnoreIfExists {
			return nil
		} else if there && !ch.Options.Overwrite {
			return fmt.Errorf("%s exists already", ch.URI)
		}
		f.gone, f.now = false, ""
		return nil
	case "delete":
		f, err := d.at(ch.URI)
		if err != nil {
			return err
		}
		if !f.existed && !ch.Options.IgnoreIfNotExists {
			return fmt.Errorf("%s does not exist", ch.URI)
		}
		f.gone = true
		return nil
	case "rename":
		from, err := d.at(ch.OldURI)
		if err != nil {
			return err
		}
		to, err := d.at(ch.NewURI)
		if err != nil {
			return err
		}
		if to.existed && !to.gone {
			return fmt.Errorf("%s exists already", ch.NewURI)
		}
		to.now, to.mark, to.gone, from.gone = from.now, from.mark, false, true
		from.movedTo, _ = fromURI(ch.NewURI)
		return nil
	}
	return fmt.Errorf("the server wants a change of the kind %q, which is not known", ch.Kind)
}

func (d *drafts) at(uri string) (*draft, error) {
	path, ok := fromURI(uri)
	if !ok || !within(d.s.opt.Root, path) {
		return nil, fmt.Errorf("the server would change %s, which is not a file of the workspace: nothing is changed", uri)
	}
	if f := d.files[path]; f != nil {
		return f, nil
	}
	f := &draft{gone: true}
	const mostEdited = 64 << 20 // nobody's source is longer
	raw, err := plainfile.Read(path, mostEdited)
	switch {
	case err == nil:
		f.was, f.existed, f.gone = raw, true, false
		f.now = strings.TrimPrefix(string(raw), bom)
		f.mark = string(raw)[:len(raw)-len(f.now)]
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the server would change %s: %w", d.s.rel(path), err)
	}
	d.c.docs.mu.Lock()
	open := d.c.docs.open[path]
	d.c.docs.mu.Unlock()
	if open != nil && open.text.s != f.now {
		return nil, fmt.Errorf("%s changed while the server was asked: nothing is changed; try again", d.s.rel(path))
	}
	d.files[path] = f
	return f, nil
}

func (d *drafts) edit(doc documentID, edits []textEdit) error {
	f, err := d.at(doc.URI)
	if err != nil {
		return err
	}
	path, _ := fromURI(doc.URI)
	if v := d.c.version(path); doc.Version != nil && v != 0 && *doc.Version != v {
		return fmt.Errorf("the server's change is for another version of %s: nothing is changed; try again", d.s.rel(path))
	}
	if f.gone {
		return fmt.Errorf("the server would change %s, which does not exist: nothing is changed", d.s.rel(path))
	}
	next, err := newText(f.now).apply(edits, d.c.enc)
	if err != nil {
		return fmt.Errorf("the server's change of %s is not valid: %w", d.s.rel(path), err)
	}
	f.now = next
	return nil
}

// list returns the writes, in the order of their paths.
func (d *drafts) list() []tool.Write {
	var out []tool.Write
	moved := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(d.files)) {
		if f := d.files[path]; f.gone && f.existed && f.movedTo != "" && !d.files[f.movedTo].gone && !d.files[f.movedTo].existed {
			to := d.files[f.movedTo]
			moved[path], moved[f.movedTo] = true, true
			out = append(out, tool.Write{Path: d.s.rel(path), MoveTo: d.s.rel(f.movedTo), Data: []byte(to.mark + to.now), Expect: edits.HashOf(f.was)})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[path]
		w := tool.Write{Path: d.s.rel(path)}
		if f.existed {
			w.Expect = edits.HashOf(f.was)
		}
		switch {
		case moved[path], f.gone && !f.existed:
			continue
		case f.gone:
			w.Remove = true
		case f.existed && f.mark+f.now == string(f.was):
			continue
		default:
			w.Data = []byte(f.mark + f.now)
		}
		out = append(out, w)
	}
	return out
}
