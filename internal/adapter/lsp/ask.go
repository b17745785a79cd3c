package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// can returns an error if the server lacks a capability.
func (c *client) can(f feature, method, what string) error {
	if f.on {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.dynamic {
		if r.Method == method {
			return nil
		}
	}
	return fmt.Errorf("%w: %s has no %s", errCan, c.server.Name, what)
}

func (s *Servers) Definition(ctx context.Context, at tool.CodeAt) ([]tool.SymbolPosition, error) {
	sp, err := s.resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := sp.c.can(sp.c.caps.Definition, "textDocument/definition", "definitions"); err != nil {
		return nil, err
	}
	ls, err := sp.c.places(ctx, "textDocument/definition", sp.params())
	return s.spots(sp.c, ls), err
}

func (s *Servers) References(ctx context.Context, at tool.CodeAt) ([]tool.SymbolPosition, error) {
	sp, err := s.resolve(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := sp.c.can(sp.c.caps.References, "textDocument/references", "references"); err != nil {
		return nil, err
	}
	all := sp.c.openUses(ctx, sp)
	p := referenceParams{positionParams: sp.params()}
	p.Context.IncludeDeclaration = true
	ls, err := sp.c.places(ctx, "textDocument/references", p)
	if err != nil {
		return nil, err
	}
	out := s.spots(sp.c, ls)
	sorting.By(out, func(a, b tool.SymbolPosition) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if out = slices.Compact(out); !all {
		return out, fmt.Errorf("%w: %d uses are known, and there may be more: %s looks into %d files at once; use grep", errCan, len(out), sp.c.server.Name, usesLimit)
	}
	return out, nil
}

// youth is how long after its start a server may still be reading its project.
const (
	youth      = 10 * time.Second
	youthAgain = 500 * time.Millisecond
)

// places sends a request whose answer is places.
func (c *client) places(ctx context.Context, method string, params any) ([]location, error) {
	return whenRead(ctx, c, youth, loadTime, func() ([]location, error) {
		var raw json.RawMessage
		err := c.call(ctx, method, params, &raw)
		return locations(raw), err
	})
}

// whenRead makes a request again while its answer is empty and the server may still be
// reading its project: until the age idle, and with a task in progress until the age
// limit. An empty answer of a server that is still at work then is an error.
func whenRead[T any](ctx context.Context, c *client, idle, limit time.Duration, ask func() ([]T, error)) ([]T, error) {
	for {
		found, err := ask()
		if err != nil || len(found) > 0 {
			return found, err
		}
		age, busy := c.opt.Now().Sub(c.began), c.unfinished()
		if busy == nil && age > idle || age > limit {
			return nil, busy
		}
		if err := c.opt.Sleep(ctx, youthAgain); err != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// locations decodes an answer with places, in each form of the protocol.
func locations(raw json.RawMessage) []location {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var out []location
	for _, r := range list {
		var link locationLink
		var l location
		switch {
		case json.Unmarshal(r, &link) == nil && link.TargetURI != "":
			out = append(out, location{link.TargetURI, link.TargetSelectionRange})
		case json.Unmarshal(r, &l) == nil && l.URI != "":
			out = append(out, l)
		}
	}
	return out
}

// spots converts places of the protocol into the form for the caller. Places that are not
// in local files are left out.
func (s *Servers) spots(c *client, ls []location) []tool.SymbolPosition {
	texts := s.texts(c)
	var out []tool.SymbolPosition
	for _, l := range ls {
		path, ok := fromURI(l.URI)
		if !ok {
			continue
		}
		out = append(out, s.spotAt(texts, c.enc, path, l.Range))
	}
	return out
}

func (s *Servers) spotAt(texts func(string) *text, enc encoding, path string, r textRange) tool.SymbolPosition {
	t := texts(path)
	return tool.SymbolPosition{Path: s.rel(path), Line: r.Start.Line + 1, Column: t.column(r.Start, enc), EndLine: r.End.Line + 1}
}

// texts returns a function that returns the text of a file. Each file is read once. The
// text of an unreadable file is empty.
func (s *Servers) texts(c *client) func(path string) *text {
	known := map[string]*text{}
	return func(path string) *text {
		if t := known[path]; t != nil {
			return t
		}
		c.docs.mu.Lock()
		d := c.docs.open[path]
		c.docs.mu.Unlock()
		var t *text
		if d != nil {
			t = d.text
		} else if content, _, err := load(path); err == nil {
			t = newText(content)
		} else {
			t = newText("")
		}
		known[path] = t
		return t
	}
}

func (s *Servers) Hover(ctx context.Context, at tool.CodeAt) (string, error) {
	sp, err := s.resolve(ctx, at)
	if err != nil {
		return "", err
	}
	if err := sp.c.can(sp.c.caps.Hover, "textDocument/hover", "documentation"); err != nil {
		return "", err
	}
	var h *hover
	if err := sp.c.call(ctx, "textDocument/hover", sp.params(), &h); err != nil || h == nil {
		return "", err
	}
	return markup(h.Contents), nil
}

// markup returns the text of a documentation, in each form of the protocol.
func markup(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	var m struct {
		Language string `json:"language"`
		Value    string `json:"value"`
	}
	if json.Unmarshal(raw, &m) == nil {
		if m.Language != "" {
			return "```" + m.Language + "\n" + m.Value + "\n```"
		}
		return strings.TrimSpace(m.Value)
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // anything else is ignored
	var out []string
	for _, r := range list {
		if t := markup(r); t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n\n")
}

func (s *Servers) Complete(ctx context.Context, at tool.CodeAt, limit int) ([]tool.Completion, bool, error) {
	sp, err := s.resolve(ctx, at)
	if err != nil {
		return nil, false, err
	}
	if err := sp.c.can(sp.c.caps.Completion, "textDocument/completion", "completion"); err != nil {
		return nil, false, err
	}
	var raw json.RawMessage
	if err := sp.c.call(ctx, "textDocument/completion", sp.params(), &raw); err != nil {
		return nil, false, err
	}
	var list struct {
		Incomplete bool             `json:"isIncomplete"`
		Items      []completionItem `json:"items"`
	}
	if json.Unmarshal(raw, &list.Items) != nil {
		_ = json.Unmarshal(raw, &list) // null: there is nothing
	}
	sorting.By(list.Items, func(a, b completionItem) int {
		return strings.Compare(cmp.Or(a.SortText, a.Label), cmp.Or(b.SortText, b.Label))
	})
	more := list.Incomplete
	if limit > 0 && len(list.Items) > limit {
		list.Items, more = list.Items[:limit], true
	}
	var out []tool.Completion
	for _, it := range list.Items {
		out = append(out, tool.Completion{Text: strings.TrimSpace(it.Label), Kind: kindName(completionKinds[:], it.Kind), Detail: it.Detail})
	}
	return out, more, nil
}

func (s *Servers) Symbols(ctx context.Context, path, query string) ([]tool.SymbolPosition, error) {
	if path == "" {
		if query == "" {
			return nil, fmt.Errorf("give a path, or a query for the whole workspace")
		}
		asked, err := s.workspaceClients(ctx, query, false)
		if err != nil {
			return nil, err
		}
		var out []tool.SymbolPosition
		var partly error
		for _, c := range asked.clients {
			syms, err := s.workspaceSymbols(ctx, c, query)
			if errors.Is(err, errUnfinished) {
				partly = cmp.Or(partly, err)
			} else if err != nil {
				return nil, err
			}
			for _, sp := range syms {
				if !filepath.IsAbs(sp.Path) && !slices.Contains(out, sp) {
					out = append(out, sp)
				}
			}
		}
		if partly != nil && len(out) == 0 {
			return nil, partly
		}
		if no := asked.notAsked(); no != "" {
			return out, fmt.Errorf("%w: %d symbols are known, and there may be more: %s; give a path%s", errCan, len(out), no, listed(out, 5*shownNames, true))
		}
		return out, nil
	}
	file := s.abs(path)
	c, err := s.server(ctx, file)
	if err != nil {
		return nil, err
	}
	if _, err := c.bring(file, c.language(file)); err != nil {
		return nil, err
	}
	if err := c.can(c.caps.DocumentSymbol, "textDocument/documentSymbol", "symbols of a file"); err != nil {
		return nil, err
	}
	syms, err := s.documentSymbols(ctx, c, file)
	if query != "" {
		syms = slices.DeleteFunc(syms, func(sp tool.SymbolPosition) bool {
			return !strings.Contains(strings.ToLower(sp.Name), strings.ToLower(query))
		})
	}
	return syms, err
}

// documentSymbols lists the symbols of an open document, each with the name of the symbol
// that contains it.
func (s *Servers) documentSymbols(ctx context.Context, c *client, file string) ([]tool.SymbolPosition, error) {
	var syms []documentSymbol
	if err := c.call(ctx, "textDocument/documentSymbol", documentParams{documentID{URI: toURI(file)}}, &syms); err != nil {
		return nil, err
	}
	texts := s.texts(c)
	var out []tool.SymbolPosition
	var walk func(in string, syms []documentSymbol, depth int)
	walk = func(in string, syms []documentSymbol, depth int) {
		if depth > 50 {
			return
		}
		for _, sym := range syms {
			full := sym.Range
			at := sym.SelectionRange
			within := in
			if sym.Location != nil {
				full, at, within = sym.Location.Range, sym.Location.Range, sym.ContainerName
			}
			sp := s.spotAt(texts, c.enc, file, at)
			sp.EndLine = full.End.Line + 1
			sp.Name, sp.In, sp.Kind, sp.Detail = sym.Name, within, kindName(symbolKinds[:], sym.Kind), sym.Detail
			out = append(out, sp)
			walk(strings.TrimPrefix(in+"."+sym.Name, "."), sym.Children, depth+1)
		}
	}
	walk("", syms, 0)
	return out, nil
}

// workspaceSymbols asks one server for the symbols that match.
func (s *Servers) workspaceSymbols(ctx context.Context, c *client, query string) ([]tool.SymbolPosition, error) {
	if err := c.can(c.caps.WorkspaceSymbol, "workspace/symbol", "symbols of a workspace"); err != nil {
		return nil, nil // another server may have it
	}
	syms, err := whenRead(ctx, c, 0, youth, func() (syms []workspaceSymbol, err error) {
		return syms, c.call(ctx, "workspace/symbol", symbolParams{query}, &syms)
	})
	if err != nil {
		return nil, err
	}
	texts := s.texts(c)
	var out []tool.SymbolPosition
	for _, sym := range syms {
		path, ok := fromURI(sym.Location.URI)
		if !ok {
			continue
		}
		sp := s.spotAt(texts, c.enc, path, sym.Location.Range)
		sp.Name, sp.In, sp.Kind = sym.Name, sym.ContainerName, kindName(symbolKinds[:], sym.Kind)
		if strings.HasPrefix(sp.Name, sp.In+".") { // gopls repeats the container
			sp.Name = strings.TrimPrefix(sp.Name, sp.In+".")
		}
		out = append(out, sp)
	}
	return out, nil
}

func (s *Servers) Diagnostics(ctx context.Context, paths []string) (out []tool.Diagnostic, partly error) {
	if len(paths) == 0 {
		asked, err := s.workspaceClients(ctx, "", false)
		if err != nil {
			return nil, err
		}
		for _, c := range asked.clients {
			partly = cmp.Or(partly, s.wait(ctx, c))
			out = append(out, s.diagnosed(c, c.diags.all())...)
		}
		sortDiagnostics(out)
		if no := asked.notAsked(); no != "" {
			partly = fmt.Errorf("%w: %d problems are known, and there may be more: %s; give paths", errUnfinished, len(out), no)
		}
		return out, partly
	}
	for _, p := range paths {
		file := s.abs(p)
		managed := s.serversFor(file)
		if len(managed) == 0 {
			return nil, fmt.Errorf("%w: %s (%s)", errNoServer, p, s.knows())
		}
		for i, m := range managed {
			c, err := m.ask(ctx)
			if err != nil {
				if i > 0 {
					continue
				}
				return nil, err
			}
			c.refresh(false)
			if _, err := c.bring(file, c.language(file)); err != nil {
				return nil, err
			}
			partly = cmp.Or(partly, s.wait(ctx, c))
			out = append(out, s.diagnosed(c, map[string][]diagnostic{file: c.diags.all()[file]})...)
		}
	}
	sortDiagnostics(out)
	return out, partly
}

// wait waits until a server has reported its current diagnostics, at most Options.Hung.
// It returns why they are not complete, nil if they are: a file of which nothing was
// reported is not a file without errors.
func (s *Servers) wait(ctx context.Context, c *client) error {
	limit := checkTime
	if c.diags.never() {
		limit = loadTime
	}
	limit = min(limit, s.opt.Hung)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if c.pulls() {
		if err := c.pull(limited, c.opened()); err != nil && limited.Err() == nil {
			return fmt.Errorf("%w: %s did not report what is wrong: %w", errUnfinished, c.server.Name, err)
		}
	}
	still := quiet
	if c.diags.never() {
		still = quietLoad
	}
	if c.settle(limited, still) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return cmp.Or(c.alive(), c.unfinished(), fmt.Errorf("%w: %s did not report what is wrong within %s", errUnfinished, c.server.Name, limit))
}

func (d *diagnostics) all() map[string][]diagnostic {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string][]diagnostic{}
	for p, ds := range d.now {
		out[p] = slices.Clone(ds)
	}
	return out
}

// diagnosed converts diagnostics of the protocol into the form for the caller. Files
// outside the workspace are left out.
func (s *Servers) diagnosed(c *client, by map[string][]diagnostic) []tool.Diagnostic {
	texts := s.texts(c)
	var out []tool.Diagnostic
	for path, ds := range by {
		if !within(s.opt.Root, path) {
			continue
		}
		for _, d := range ds {
			out = append(out, tool.Diagnostic{
				Path: s.rel(path), Line: d.Range.Start.Line + 1, Column: texts(path).column(d.Range.Start, c.enc),
				Severity: tool.Severity(cmp.Or(d.Severity, 1)), Source: d.Source, Code: codeText(d.Code), Message: d.Message,
			})
		}
	}
	return out
}

// sortDiagnostics puts errors first.
func sortDiagnostics(ds []tool.Diagnostic) {
	sorting.By(ds, func(a, b tool.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Message, b.Message))
	})
}
