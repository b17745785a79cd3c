package lsp

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Limits of Known: if a server answers with half the workspace, only the first symbols
// and files are looked up.
const (
	knownSpots = 100
	knownFiles = 8
)

// Known lists the symbols of the workspace that match a name, from the running servers.
// It starts none. Each symbol has the range of its lines; symbols whose range the server
// does not report are left out.
func (s *Servers) Known(ctx context.Context, name string) (out []tool.SymbolPosition) {
	if s == nil || s.closed() || name == "" {
		return nil
	}
	for _, p := range s.list() {
		c := p.running()
		if c == nil {
			continue
		}
		c.refresh(false)
		syms, err := s.workspaceSymbols(ctx, c, name)
		if err != nil {
			continue // only what it can answer right now counts
		}
		whole := map[string][]tool.SymbolPosition{}
		for _, sp := range syms[:min(len(syms), knownSpots)] {
			if filepath.IsAbs(sp.Path) {
				continue
			}
			if _, read := whole[sp.Path]; !read {
				if len(whole) == knownFiles {
					continue
				}
				whole[sp.Path] = s.wholeSymbols(ctx, c, sp.Path)
			}
			i := slices.IndexFunc(whole[sp.Path], func(w tool.SymbolPosition) bool {
				return w.Name == sp.Name && w.Line <= sp.Line && sp.Line <= w.EndLine
			})
			if i < 0 {
				continue
			}
			sp.Line, sp.EndLine = whole[sp.Path][i].Line, whole[sp.Path][i].EndLine
			if !slices.Contains(out, sp) {
				out = append(out, sp)
			}
		}
	}
	return out
}

// wholeSymbols lists the symbols of a file with the range of their lines. It returns nil
// if the server cannot do that.
func (s *Servers) wholeSymbols(ctx context.Context, c *client, path string) []tool.SymbolPosition {
	file := s.abs(path)
	if c.can(c.caps.DocumentSymbol, "textDocument/documentSymbol", "symbols of a file") != nil {
		return nil
	}
	if _, err := c.bring(file, c.language(file)); err != nil {
		return nil
	}
	syms, err := s.documentSymbols(ctx, c, file)
	if err != nil {
		return nil
	}
	return syms
}
