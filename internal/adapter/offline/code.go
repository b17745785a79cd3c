package offline

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
)

// This file asks language servers, through the session's tools. Only they know
// what a name means: nothing here resolves names.

// spot is a place that a server names.
type spot struct {
	path string
	line int
	text string
	kind string // function, method, … where it is a symbol
}

func (s spot) where() string { return s.path + ":" + itoa(s.line) }

// serves reports whether the session has a tool of language servers. It has
// none if no server is available.
func (h *hands) serves(tool string) bool { return slices.Contains(h.tools, tool) }

// noServer explains what is not possible without a server, and what would help.
const noServer = "`pawl lsp` says which language server this folder wants and how to install it"

// named is a symbol in a question to a server: by its name, or by the place of
// its definition.
type named struct {
	path   string
	line   int
	symbol string
}

func (n named) args(more map[string]any) map[string]any {
	out := map[string]any{"symbol": n.symbol}
	if n.path != "" {
		out["path"] = n.path
	}
	if n.line > 0 {
		out["line"] = n.line
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// several is an ambiguous name.
type several struct {
	spots []spot
	more  bool // not all are listed
}

func (*several) Error() string { return "the name stands for several symbols" }

// errUnknown: no server knows the name, or the file.
var errUnknown = errors.New("no language server knows it")

// errNotAll: the name may be in a project whose server was not asked.
var errNotAll = errors.New("not every project was asked")

// server calls a tool of language servers. If the server is still reading the
// project, the call is repeated a few times.
func (h *hands) server(tool string, args map[string]any) (string, error) {
	for try := 0; ; try++ {
		text, err := h.one(tool, args)
		switch {
		case err == nil:
			return text, nil
		case strings.Contains(text, "make the same call again") && try < 3:
			continue
		case strings.Contains(text, " stands for ") && strings.Contains(text, " symbols; "):
			s := &several{}
			s.spots, s.more = readSpots(text)
			return text, s
		case strings.Contains(text, " may be in a project that was not asked"):
			return text, errors.Join(errNotAll, err)
		case strings.Contains(text, "no symbol ") || strings.Contains(text, "there is no ") || strings.Contains(text, "no language server knows"):
			return text, errors.Join(errUnknown, err)
		}
		return text, err
	}
}

// places asks for places: definitions, references.
func (h *hands) places(tool string, n named) (out []spot, more bool, err error) {
	text, err := h.server(tool, n.args(nil))
	if err != nil {
		return nil, false, err
	}
	out, more = readSpots(text)
	return out, more, nil
}

// readSpots reads lines such as `a.go:3:6:func Foo() {`, `a.go:3: function Foo`
// and `[12 more not shown]`.
func readSpots(text string) (out []spot, more bool) {
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimRight(l, "\r")
		if l == "…" || strings.HasPrefix(l, "[") && strings.HasSuffix(l, " more not shown]") {
			more = true
			continue
		}
		file, rest, ok := strings.Cut(l, ":")
		num, rest, _ := strings.Cut(rest, ":")
		n, err := strconv.Atoi(num)
		if !ok || err != nil || n < 1 || file == "" || strings.ContainsAny(file, " \t") && !strings.HasPrefix(rest, " ") {
			continue
		}
		s := spot{path: file, line: n}
		if col, quoted, ok := strings.Cut(rest, ":"); ok && isNumber(col) {
			s.text = quoted
		} else if !isNumber(rest) {
			said, quoted, _ := strings.Cut(strings.TrimSpace(rest), " | ")
			s.kind, _, _ = strings.Cut(said, " ")
			s.text = said
			if quoted != "" {
				s.text = quoted
			}
		}
		out = append(out, s)
	}
	return out, more
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// fitting returns the symbols of several that are meant: those in a file or
// folder, of a kind, and preferably what a package declares before fields and
// methods.
func fitting(spots []spot, file, what string) []spot {
	kinds := map[string][]string{
		"func": {"function", "method"}, "function": {"function", "method"}, "method": {"method"}, "field": {"field", "property"},
		"type": {"class", "struct", "interface", "enum"}, "struct": {"struct", "class"}, "interface": {"interface"},
		"const": {"constant"}, "constant": {"constant"}, "var": {"variable"}, "variable": {"variable"},
	}[what]
	some := slices.DeleteFunc(slices.Clone(spots), func(s spot) bool {
		in := file == "" || samePath(file, s.path) || strings.HasPrefix(s.path, strings.TrimSuffix(file, "/")+"/")
		return !in || len(kinds) > 0 && !slices.Contains(kinds, s.kind)
	})
	declared := slices.DeleteFunc(slices.Clone(some), func(s spot) bool { return s.kind == "field" || s.kind == "method" || s.kind == "property" })
	if len(declared) > 0 {
		return declared
	}
	return some
}

// last returns the part of a qualified name after its last dot.
func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// quickFixes are the beginnings of titles of fixes that follow from the code
// alone. Others, such as those that invent a function, guess the intent.
var quickFixes = []string{"Add import", "Delete import", "Remove import", "Remove variable", "Remove unused", "Remove unnecessary"}

// quickFix applies what the language server offers for an error, if that
// improves the build (SPEC 12.2).
func (b *builder) quickFix(e repair.BuildError) (bool, error) {
	p := path.Join(b.dir, e.File)
	if !b.h.serves("lsp_code_action") {
		return false, nil
	}
	offered, err := b.h.server("lsp_code_action", map[string]any{"path": p, "line": e.Line})
	if err != nil {
		return false, nil // it offers nothing: the compiler's message is used instead
	}
	for l := range strings.SplitSeq(offered, "\n") {
		title, kind, _ := strings.Cut(l, " (quickfix")
		if kind == "" || strings.Contains(kind, " not now: ") || !slices.ContainsFunc(quickFixes, func(q string) bool { return strings.HasPrefix(title, q) }) {
			continue
		}
		before, err := b.h.Read(p)
		if err != nil {
			return false, err
		}
		if _, err := b.h.server("lsp_code_action", map[string]any{"path": p, "line": e.Line, "title": title}); err != nil {
			continue
		}
		now, err := b.h.Read(p)
		if err != nil {
			return false, err
		}
		b.h.seen[p] = before
		b.h.changed(p, now)
		after, err := b.check(nil)
		if err != nil {
			return false, err
		}
		if better(b.last, after, e) {
			b.last = after
			b.done = append(b.done, "the language server's fix at "+e.Where()+": "+title)
			return true, nil
		}
		if err := b.h.restore(p, &before); err != nil {
			return false, err
		}
	}
	return false, nil
}
