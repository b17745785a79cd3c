package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// spot is a resolved place with the server to ask.
type spot struct {
	c    *client
	path string // absolute
	text *text
	pos  position
}

// params returns the parameters of a request for this place.
func (s *spot) params() positionParams {
	return positionParams{documentID{URI: toURI(s.path)}, s.pos}
}

// resolve resolves a place to one that a server can be asked about.
func (s *Servers) resolve(ctx context.Context, at tool.CodeAt) (*spot, error) {
	if at.Path == "" {
		if at.Symbol == "" {
			return nil, errors.New("give path and line, or symbol")
		}
		found, c, err := s.named(ctx, at.Symbol)
		if err != nil {
			return nil, err
		}
		at = tool.CodeAt{Path: found.Path, Line: found.Line, Column: found.Column}
		return s.spotIn(c, s.abs(at.Path), at)
	}
	file := s.abs(at.Path)
	c, err := s.server(ctx, file)
	if err != nil {
		return nil, err
	}
	c.refresh(false)
	if at.Line == 0 && at.Symbol != "" {
		return s.inFile(ctx, c, file, at.Symbol)
	}
	return s.spotIn(c, file, at)
}

// spotIn resolves a place whose line is known.
func (s *Servers) spotIn(c *client, file string, at tool.CodeAt) (*spot, error) {
	t, err := c.bring(file, c.language(file))
	if err != nil {
		return nil, err
	}
	if at.Line < 1 || at.Line > t.lines() {
		return nil, fmt.Errorf("%s has %d lines: there is no line %d", s.rel(file), t.lines(), at.Line)
	}
	line := t.line(at.Line - 1)
	switch {
	case at.Column > 0:
	case at.Symbol != "":
		parts := parts(at.Symbol)
		i := wordAt(line, parts[len(parts)-1])
		if i < 0 {
			return nil, fmt.Errorf("line %d of %s has no %s: %s", at.Line, s.rel(file), at.Symbol, strings.TrimSpace(line))
		}
		at.Column = len([]rune(line[:i])) + 1
	default:
		at.Column = len([]rune(line)) - len([]rune(strings.TrimLeft(line, " \t"))) + 1
	}
	return &spot{c, file, t, t.at(at.Line, at.Column, c.enc)}, nil
}

// wordAt returns the index of a name in a line as a whole word, -1 if it is not there.
func wordAt(line, name string) int {
	for from := 0; name != ""; {
		i := strings.Index(line[from:], name)
		if i < 0 {
			break
		}
		i += from
		before, after := []rune(line[:i]), []rune(line[i+len(name):])
		if (len(before) == 0 || !letter(before[len(before)-1])) && (len(after) == 0 || !letter(after[0])) {
			return i
		}
		from = i + len(name)
	}
	return -1
}

func letter(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// parts splits a name into its parts, as any language writes them: pkg.Func,
// (*T).Method, a::b::c, Class#method, path/to/pkg.Func.
func parts(name string) []string {
	out := strings.FieldsFunc(name, func(r rune) bool { return !letter(r) && r != '-' && r != '~' })
	if len(out) == 0 {
		return []string{name}
	}
	return out
}

// fits reports whether a name, in parts, is what a symbol is called: the end of
// where it is and what it is part of. Each of the name's parts must be there in
// order, and the last one last.
func fits(want []string, in []string, name string) bool {
	full := append(slices.Clone(in), parts(name)...)
	if len(full) == 0 || full[len(full)-1] != want[len(want)-1] {
		return false
	}
	i := len(want) - 2
	for j := len(full) - 2; i >= 0 && j >= 0; j-- {
		if full[j] == want[i] {
			i--
		}
	}
	return i < 0
}

// inFile finds a name in a file: among its symbols, otherwise at its first occurrence.
func (s *Servers) inFile(ctx context.Context, c *client, file, name string) (*spot, error) {
	t, err := c.bring(file, c.language(file))
	if err != nil {
		return nil, err
	}
	want := parts(name)
	var found []tool.Spot
	if c.caps.DocumentSymbol.on {
		all, err := s.documentSymbols(ctx, c, file)
		if err != nil {
			return nil, err
		}
		for _, sym := range all {
			if fits(want, s.parents(sym), sym.Name) {
				found = append(found, sym)
			}
		}
	}
	if len(found) > 1 {
		return nil, ambiguous(name, found)
	}
	if len(found) == 1 {
		return s.spotIn(c, file, tool.CodeAt{Line: found[0].Line, Column: found[0].Column})
	}
	for n := range t.lines() {
		if i := wordAt(t.line(n), want[len(want)-1]); i >= 0 {
			return s.spotIn(c, file, tool.CodeAt{Line: n + 1, Column: len([]rune(t.line(n)[:i])) + 1})
		}
	}
	return nil, fmt.Errorf("there is no %s in %s", name, s.rel(file))
}

// parents are the parts of what a symbol is in: the path of its file without
// the ending, and what it is part of.
func (s *Servers) parents(sym tool.Spot) []string {
	file := strings.TrimSuffix(sym.Path, filepath.Ext(sym.Path))
	return append(parts(file), parts(sym.In)...)
}

// named finds a name in the workspace.
func (s *Servers) named(ctx context.Context, name string) (tool.Spot, *client, error) {
	clients, err := s.workspaceClients(ctx)
	if err != nil {
		return tool.Spot{}, nil, err
	}
	want := parts(name)
	var found []tool.Spot
	var of *client
	for _, c := range clients {
		all, err := s.workspaceSymbols(ctx, c, want[len(want)-1])
		if err != nil {
			return tool.Spot{}, nil, err
		}
		for _, sym := range all {
			if fits(want, s.parents(sym), sym.Name) && !filepath.IsAbs(sym.Path) && !slices.ContainsFunc(found, func(f tool.Spot) bool { return f.Path == sym.Path && f.Line == sym.Line }) {
				found, of = append(found, sym), c
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 0:
		return tool.Spot{}, nil, fmt.Errorf("no symbol %s was found in the workspace: give path and line, or another name", name)
	case 1:
		return found[0], of, nil
	}
	// The shortest chain of parents is what was named, where only one has it.
	slices.SortStableFunc(found, func(a, b tool.Spot) int { return len(parts(a.In+" "+a.Name)) - len(parts(b.In+" "+b.Name)) })
	if a, b := found[0], found[1]; len(parts(a.In+" "+a.Name)) < len(parts(b.In+" "+b.Name)) && len(want) > 1 {
		return a, of, nil
	}
	return tool.Spot{}, nil, ambiguous(name, found)
}

// shownNames is how many of several symbols are listed.
const shownNames = 10

func ambiguous(name string, found []tool.Spot) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s stands for %d symbols; give path and line, or more of the name:", name, len(found))
	for _, f := range found[:min(len(found), shownNames)] {
		fmt.Fprintf(&b, "\n%s:%d: %s %s", f.Path, f.Line, f.Kind, strings.TrimPrefix(f.In+"."+f.Name, "."))
	}
	if len(found) > shownNames {
		b.WriteString("\n…")
	}
	return errors.New(b.String())
}

// workspaceClients are the servers that a question about the whole workspace
// goes to: those that run, and those of the workspace's projects.
func (s *Servers) workspaceClients(ctx context.Context) ([]*client, error) {
	if s.closed() {
		return nil, errOver
	}
	var out []*client
	var first error
	for _, file := range s.examples() {
		for _, p := range s.postsFor(file)[:1] {
			c, err := p.ask(ctx)
			if err != nil {
				if first == nil {
					first = err
				}
				continue
			}
			c.refresh(false)
			if len(c.opened()) == 0 { // some load a project with its first document only
				if _, err := c.bring(file, c.language(file)); err != nil {
					continue
				}
			}
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	for _, p := range s.list() {
		if c := p.running(); c != nil && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if first == nil {
		first = fmt.Errorf("%w: the workspace has no file of one; %s", errNoServer, s.knows())
	}
	return nil, first
}

// examples lists a file for each server with a project here, those of a
// language before those of data.
func (s *Servers) examples() []string {
	byPost := map[postKey]string{}
	var order []postKey
	scan(s.opt.Root, func(path string) bool {
		for _, pl := range s.places(path) {
			if len(pl.server.Roots) == 0 || pl.lang == "go.mod" || pl.lang == "go.work" {
				continue
			}
			k := postKey{pl.server.Group + pl.server.Name, pl.root}
			if byPost[k] == "" {
				byPost[k] = path
				order = append(order, k)
			}
		}
		return false
	})
	var out []string
	for _, k := range order {
		if !slices.Contains(out, byPost[k]) && len(out) < examplesLimit {
			out = append(out, byPost[k])
		}
	}
	return out
}

// examplesLimit bounds how many servers one question starts.
const examplesLimit = 6
