package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/sorting"
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

// resolve converts a place into one that a server can be asked about.
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

// spotIn converts a place whose line is known.
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

// letter reports whether a character can be part of a name, in any script.
func letter(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// parts splits a name into its parts, as any language writes them: pkg.Func,
// (*T).Method, a::b::c, Class#method, path/to/pkg.Func.
func parts(name string) []string {
	out := strings.FieldsFunc(name, func(r rune) bool { return !letter(r) && r != '-' && r != '~' })
	if len(out) == 0 {
		return []string{name}
	}
	return out
}

// fits reports whether a name, split into parts, means a symbol. in are the parts of the
// symbol's parents. All parts of the name must be among them in order, and the last part
// must be the symbol's own name.
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
	var found []tool.SymbolPosition
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

// parents returns the parts of a symbol's parents: the path of its file without the
// extension, and the symbols that contain it.
func (s *Servers) parents(sym tool.SymbolPosition) []string {
	file := strings.TrimSuffix(sym.Path, filepath.Ext(sym.Path))
	return append(parts(file), parts(sym.In)...)
}

// named finds a name in the workspace. Every project that mentions the name is asked: the
// same name in two projects is as ambiguous as twice in one. A project that could not be
// asked may have the name too.
func (s *Servers) named(ctx context.Context, name string) (tool.SymbolPosition, *client, error) {
	want := parts(name)
	word := want[len(want)-1]
	asked, err := s.workspaceClients(ctx, word, true)
	if err != nil {
		return tool.SymbolPosition{}, nil, err
	}
	var found []tool.SymbolPosition
	var of []*client // for each symbol, the client to ask about it
	var failed error
	for _, c := range asked.clients {
		all, err := s.workspaceSymbols(ctx, c, word)
		if ctx.Err() != nil {
			return tool.SymbolPosition{}, nil, context.Cause(ctx)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			asked.left(s.rel(c.root))
			continue
		}
		for _, sym := range all {
			if !fits(want, s.parents(sym), sym.Name) || filepath.IsAbs(sym.Path) {
				continue
			}
			i := slices.IndexFunc(found, func(f tool.SymbolPosition) bool { return f.Path == sym.Path && f.Line == sym.Line })
			switch {
			case i < 0:
				found, of = append(found, sym), append(of, c)
			case nearer(s.abs(sym.Path), c.root, of[i].root):
				of[i] = c // the project that contains the file, not one that imports it
			}
		}
	}
	switch {
	case len(found) == 0 && failed != nil:
		return tool.SymbolPosition{}, nil, failed
	case len(asked.missing) > 0:
		return tool.SymbolPosition{}, nil, asked.partial(name, found)
	case len(found) == 0:
		return tool.SymbolPosition{}, nil, fmt.Errorf("no symbol %s was found in the workspace: give path and line, or another name", name)
	case len(found) == 1:
		return found[0], of[0], nil
	}
	oneServer := !slices.ContainsFunc(of, func(c *client) bool { return c != of[0] })
	// The symbol with the fewest parents is meant, if it is the only one. Symbols of
	// different projects cannot be compared: their parents begin at different roots.
	sorting.By(found, func(a, b tool.SymbolPosition) int { return len(parts(a.In+" "+a.Name)) - len(parts(b.In+" "+b.Name)) })
	if a, b := found[0], found[1]; oneServer && len(parts(a.In+" "+a.Name)) < len(parts(b.In+" "+b.Name)) && len(want) > 1 {
		return a, of[0], nil
	}
	return tool.SymbolPosition{}, nil, ambiguous(name, found)
}

// nearer reports whether a file is in the project root, and not in the project than, or
// deeper in root than in than.
func nearer(file, root, than string) bool {
	return within(root, file) && (!within(than, file) || len(root) > len(than))
}

// shownNames is how many of several symbols are listed.
const shownNames = 10

func ambiguous(name string, found []tool.SymbolPosition) error {
	return fmt.Errorf("%s stands for %d symbols; give path and line, or more of the name:%s", name, len(found), listed(found, shownNames, false))
}

// listed lists symbols, one per line. The last line shows whether there are more.
func listed(found []tool.SymbolPosition, limit int, more bool) string {
	var b strings.Builder
	for _, f := range found[:min(len(found), limit)] {
		fmt.Fprintf(&b, "\n%s:%d: %s %s", f.Path, f.Line, f.Kind, strings.TrimPrefix(f.In+"."+f.Name, "."))
	}
	if more || len(found) > limit {
		b.WriteString("\n…")
	}
	return b.String()
}
