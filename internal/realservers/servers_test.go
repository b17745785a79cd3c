package realservers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// patient limits how long a test waits for what must come; a machine may be busy.
const patient = 3 * time.Minute

// place is where a question is asked, and a part of what must be answered; "-"
// where the server cannot do it.
type place struct {
	at   tool.CodeAt
	want string
}

// project is a small project and what its server says of it. Every place that
// can is behind an emoji and Chinese characters on its line.
type project struct {
	server     string
	files      map[string]string
	definition place     // path:line of the answer
	references place     // the paths of the answers, sorted
	hover      place     // of the text
	completion place     // of the list
	symbols    place     // path, or Symbol as a query of the workspace
	diagnostic place     // of those of the path
	rename     place     // "new name: path content|path content"
	action     place     // "title: content of the path afterwards", or a title to list
	breaks     [4]string // path, its new text, the path that breaks, of the message
}

func at(path string, line int, symbol string) tool.CodeAt {
	return tool.CodeAt{Path: path, Line: line, Symbol: symbol}
}

var projects = []project{
	{
		server: "gopls",
		files: map[string]string{
			"go.mod":       "module example.com/m\n\ngo 1.26\n",
			"area/area.go": "// Package area measures.\npackage area\n\n// Square 🐾 is 漢字.\nfunc Square(side int) int { return side * side }\n",
			"main.go":      "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/m/area\"\n)\n\nfunc main() {\n\tfmt.Println(\"🐾漢字\", area.Square(2))\n\tvar unused int\n}\n",
		},
		definition: place{at("main.go", 10, "area.Square"), "area/area.go:5"},
		references: place{tool.CodeAt{Symbol: "area.Square"}, "area/area.go main.go"},
		hover:      place{at("main.go", 10, "Square"), "func area.Square(side int) int"},
		completion: place{tool.CodeAt{Path: "main.go", Line: 10, Column: 27}, "Square"},
		symbols:    place{tool.CodeAt{Symbol: "Square"}, "area/area.go:5 Square"},
		diagnostic: place{tool.CodeAt{Path: "main.go"}, "11: error: declared and not used: unused"},
		rename:     place{tool.CodeAt{Symbol: "area.Square"}, "Quad: area/area.go func Quad(|main.go \"🐾漢字\", area.Quad(2)"},
		action:     place{at("main.go", 11, ""), "Remove variable unused: area.Square(2))\n}"},
		breaks:     [4]string{"area/area.go", "// Package area measures.\npackage area\n\n// Square is less.\nfunc Square(side, other int) int { return side * other }\n", "main.go", "not enough arguments"},
	},
}

// realProject is a project on disk with real servers.
type realProject struct {
	*lsp.Servers
	t     *testing.T
	dir   string
	start *shell.Starter
}

// gopls is the server that tools/gopls pins, built once: the go command keeps it.
var gopls = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "tool", "-n", "gopls")
	cmd.Dir = filepath.Join("..", "..", "tools", "gopls")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, said.String())
	}
	return strings.TrimSpace(string(out)), nil
})

// unreachable is how the go command says that it can download nothing.
var unreachable = regexp.MustCompile(`dial tcp|lookup disabled|no such host|connection refused|i/o timeout|proxyconnect|certificate`)

// find finds gopls, and other programs in PAWL_SERVERS, and nowhere else.
func find(name string) (string, error) {
	if name == "gopls" {
		return gopls()
	}
	for _, dir := range filepath.SplitList(os.Getenv("PAWL_SERVERS")) {
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}

func newRealProject(t *testing.T, p project) *realProject {
	t.Helper()
	dir := must.Dir(t)
	r := &realProject{t: t, dir: dir, start: shell.NewStarter(shell.StarterOptions{})}
	for name, text := range p.files {
		r.write(name, text)
	}
	table := slices.DeleteFunc(lsp.Table(nil), func(s lsp.Server) bool { return s.Name != p.server })
	if len(table) != 1 {
		t.Fatalf("the table has no %s", p.server)
	}
	if _, err := find(table[0].Commands[0][0]); err != nil {
		if os.Getenv("PAWL_SERVERS") == "" && unreachable.MatchString(err.Error()) {
			t.Skipf("gopls is not in the module cache, and no proxy can be reached: %v", err) // .ci/run reaches one
		}
		t.Fatalf("%s cannot be had: %v; to have it in PAWL_SERVERS: %s", table[0].Commands[0][0], err, table[0].Install)
	}
	r.Servers = lsp.New(lsp.Options{Root: dir, Table: table, Start: r.start, Confine: process.Free, Find: find, Trusted: func(string) bool { return true }, Hung: 60 * time.Second})
	t.Cleanup(func() {
		_ = r.Servers.Close()
		_ = r.start.Close()
		if t.Failed() {
			for of, lines := range r.Logs() {
				t.Logf("%s said:\n%s", of, strings.Join(lines, "\n"))
			}
		}
	})
	return r
}

func (r *realProject) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *realProject) read(name string) string {
	b, err := os.ReadFile(r.path(name))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (r *realProject) write(name, text string) {
	r.t.Helper()
	must.Do(r.t, errors.Join(os.MkdirAll(filepath.Dir(r.path(name)), 0o755), os.WriteFile(r.path(name), []byte(text), 0o644)))
}

// change writes a file and returns what that broke, in time or later.
func (r *realProject) change(name, text string) (found []string, took time.Duration) {
	r.t.Helper()
	old := r.read(name)
	r.write(name, text)
	began := time.Now()
	ds := r.Changed(r.t.Context(), []tool.CodeChange{{Path: name, Existed: true, Before: func(context.Context) ([]byte, error) { return []byte(old), nil }}})
	took = time.Since(began)
	for end := time.Now().Add(patient); len(ds) == 0 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		ds = r.Changed(r.t.Context(), nil)
		took = time.Since(began)
	}
	return lines(ds), took
}

func lines(ds []tool.Diagnostic) []string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%s:%d: %s: %s", d.Path, d.Line, d.Severity, d.Message))
	}
	return out
}

// TestVerbs asks each server all that it can be asked.
func TestVerbs(t *testing.T) {
	t.Parallel()
	for _, p := range projects {
		t.Run(p.server, func(t *testing.T) {
			r := newRealProject(t, p)
			ctx := t.Context()
			check := func(what string, q place, got string, err error) {
				t.Helper()
				switch {
				case q.want == "-":
				case err != nil:
					t.Errorf("%s: %v", what, err)
				case !strings.Contains(got, q.want):
					t.Errorf("%s: %q, want %q", what, got, q.want)
				}
			}
			if p.definition.want != "-" {
				ss, err := r.Definition(ctx, p.definition.at)
				check("definition", p.definition, spots(ss), err)
			}
			if p.references.want != "-" {
				ss, err := r.References(ctx, p.references.at)
				check("references", p.references, paths(ss), err)
			}
			if p.hover.want != "-" {
				text, err := r.Hover(ctx, p.hover.at)
				check("hover", p.hover, text, err)
			}
			if p.completion.want != "-" {
				cs, _, err := r.Complete(ctx, p.completion.at, 1000)
				var names []string
				for _, c := range cs {
					names = append(names, c.Text)
				}
				check("completion", p.completion, strings.Join(names, " "), err)
			}
			if p.symbols.want != "-" {
				ss, err := r.Symbols(ctx, p.symbols.at.Path, p.symbols.at.Symbol)
				var names []string
				for _, s := range ss {
					names = append(names, fmt.Sprintf("%s:%d %s", s.Path, s.Line, s.Name))
				}
				check("symbols", p.symbols, strings.Join(names, ", "), err)
			}
			if p.diagnostic.want != "-" {
				ds, err := r.Diagnostics(ctx, []string{p.diagnostic.at.Path})
				check("diagnostics", p.diagnostic, strings.Join(lines(ds), "\n"), err)
			}
			if p.action.want != "-" {
				r.act(p.action)
			}
			if p.rename.want != "-" {
				r.rename(p.rename)
			}
		})
	}
}

func spots(ss []tool.SymbolPosition) string {
	var out []string
	for _, s := range ss {
		out = append(out, fmt.Sprintf("%s:%d", s.Path, s.Line))
	}
	return strings.Join(out, " ")
}

func paths(ss []tool.SymbolPosition) string {
	var out []string
	for _, s := range ss {
		if !slices.Contains(out, s.Path) {
			out = append(out, s.Path)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// put makes writes, and returns what undoes them.
func (r *realProject) put(ws []tool.Write) (undo func()) {
	old := map[string]string{}
	for _, w := range ws {
		old[w.Path] = r.read(w.Path)
		r.write(w.Path, string(w.Data))
	}
	return func() {
		for name, text := range old {
			r.write(name, text)
		}
	}
}

func (r *realProject) rename(q place) {
	r.t.Helper()
	name, wants, _ := strings.Cut(q.want, ": ")
	for range 2 { // once more after its undo
		ws, err := r.Rename(r.t.Context(), q.at, name)
		if err != nil {
			r.t.Errorf("rename: %v", err)
			return
		}
		undo := r.put(ws)
		for want := range strings.SplitSeq(wants, "|") {
			file, text, _ := strings.Cut(want, " ")
			if !strings.Contains(r.read(file), text) {
				r.t.Errorf("rename: %s is %q, want %q", file, r.read(file), text)
			}
		}
		undo()
		time.Sleep(2100 * time.Millisecond) // what is on disk is looked at every two seconds
	}
}

func (r *realProject) act(q place) {
	r.t.Helper()
	title, want, _ := strings.Cut(q.want, ": ")
	as, err := r.Actions(r.t.Context(), q.at, q.at.Line)
	if err != nil {
		r.t.Errorf("actions: %v", err)
		return
	}
	ws, err := r.Act(r.t.Context(), q.at, q.at.Line, title)
	if err != nil {
		r.t.Errorf("action %q of %+v: %v", title, as, err)
		return
	}
	undo := r.put(ws)
	if !strings.Contains(r.read(q.at.Path), want) {
		r.t.Errorf("action: %s is %q, want %q", q.at.Path, r.read(q.at.Path), want)
	}
	undo()
}

// TestBreaks changes a file so that another one breaks, in a session that asked
// nothing before: only that is told, and once.
func TestBreaks(t *testing.T) {
	t.Parallel()
	for _, p := range projects {
		if p.breaks[0] == "" {
			continue
		}
		t.Run(p.server, func(t *testing.T) {
			r := newRealProject(t, p)
			first := r.read(p.breaks[0])
			broke := func(got []string) bool {
				return slices.ContainsFunc(got, func(d string) bool { return strings.HasPrefix(d, p.breaks[2]+":") && strings.Contains(d, p.breaks[3]) }) &&
					(p.breaks[0] == p.breaks[2] || p.diagnostic.want == "-" || !strings.Contains(strings.Join(got, "\n"), p.diagnostic.want))
			}
			// What a busy server finds in other files comes with a later call.
			change := func() (got []string, took time.Duration) {
				got, took = r.change(p.breaks[0], p.breaks[1])
				for end := time.Now().Add(patient); !broke(got) && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
					got = append(got, lines(r.Changed(t.Context(), nil))...)
				}
				return got, took
			}
			got, cold := change()
			if !broke(got) {
				t.Errorf("broke %q after %s, want %s in %s, and nothing that was wrong before", got, cold, p.breaks[3], p.breaks[2])
			}
			if again := r.Changed(t.Context(), nil); len(again) > 0 {
				t.Errorf("told again: %q", lines(again))
			}
			if p.breaks[0] == p.breaks[2] {
				return
			}
			old := r.read(p.breaks[0])
			r.write(p.breaks[0], first)
			if ds := r.Changed(t.Context(), []tool.CodeChange{{Path: p.breaks[0], Existed: true, Before: func(context.Context) ([]byte, error) { return []byte(old), nil }}}); len(ds) > 0 {
				t.Errorf("mended, and told %q", lines(ds))
			}
			time.Sleep(3 * time.Second) // what is late is told of nothing
			if ds := r.Changed(t.Context(), nil); len(ds) > 0 {
				t.Errorf("mended, and told late %q", lines(ds))
			}
			got, warm := change()
			if !broke(got) {
				t.Errorf("broken again: %q", got)
			}
			t.Logf("%s: the first change was judged after %s, a later one after %s", p.server, cold.Round(time.Millisecond), warm.Round(time.Millisecond))
		})
	}
}
