package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Our ignore rules are git's: both list the same files of random trees under
// random patterns.
func TestIgnoreIsGits(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "ab", "foo", "foo.o", "x.txt", "doc", "#c", "!d", "sp ", "[z]", "[!z]", "A"}
	dirs := []string{"", "a/", "b/", "a/b/", "doc/", "doc/foo/", "b/doc/"}
	parts := rapid.SampledFrom([]string{
		"a", "b", "ab", "foo", "*.o", "*.txt", "a*", "*b", "?", "??", "[ab]", "[!a]", "[a-f]oo", "doc", "**", "*", `\#c`, `\!d`, `sp\ `, "sp ", `\[z\]`, `\[!z]`, `[a[!]*`, `[!\]a]*`, "[!a][!b]", "f**o",
	})
	gen := rapid.Custom(func(t *rapid.T) string {
		p := strings.Join(rapid.SliceOfN(parts, 1, 3).Draw(t, "parts"), "/")
		// Not generated: sets with a class or a slash in them, about which git is asked.
		if rapid.IntRange(0, 9).Draw(t, "open") == 0 {
			p += "[a"
		}
		if rapid.Bool().Draw(t, "anchored") {
			p = "/" + p
		}
		if rapid.Bool().Draw(t, "dir") {
			p += "/"
		}
		if rapid.IntRange(0, 3).Draw(t, "not") == 0 {
			p = "!" + p
		}
		return p
	})
	root := t.TempDir()
	processtest.RunGit(t, root, "init", "-q")
	for _, d := range dirs {
		for _, n := range names {
			if _, err := os.Stat(filepath.Join(root, d+n)); err != nil && !slices.Contains(dirs, d+n+"/") {
				must.WriteMode(t, filepath.Join(root, d+n), "x", 0o644)
			}
		}
	}
	w := must.Get(Open(root, Options{Git: plainGit}))(t)
	defer w.Close()
	plainW := must.Get(Open(root, Options{}))(t)
	defer plainW.Close()
	tries := 0
	rapid.Check(t, func(t *rapid.T) {
		if tries++; tries > 60 {
			return // each try starts git
		}
		for _, d := range []string{"", "a/", "doc/"} {
			text := strings.Join(rapid.SliceOfN(gen, 0, 4).Draw(t, "rules"+d), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol"))
			must.WriteMode(t, filepath.Join(root, d, ".gitignore"), text+"\n", 0o644)
		}
		p, _ := w.resolve(".")
		want := must.Get(plainGit.files(context.Background(), root, root))(t)
		slices.Sort(want)
		got, err := filesBelow(plainW, p)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v\ngit  %q\nours %q", err, want, got)
		}
		if got, err := filesBelow(w, p); err != nil || !slices.Equal(got, want) {
			t.Fatalf("in the process: %v\ngit  %q\nours %q", err, want, got)
		}
		// The marks of List are git's too.
		for _, d := range []string{".", "a", "doc/foo"} {
			if q, _ := w.resolve(d); d != "." && ignoredAbove(t, w, q) {
				continue
			}
			a, err1 := w.List(context.Background(), d)
			b, err2 := plainW.List(context.Background(), d)
			if err1 != nil || err2 != nil || !slices.Equal(a, b) {
				t.Fatalf("%s: %v %v\ngit  %+v\nours %+v", d, err1, err2, a, b)
			}
		}
	})
}

// filesBelow returns all files that a search goes through.
func filesBelow(w *Workspace, p place) ([]string, error) {
	t, err := w.treeOf(context.Background(), p)
	if err != nil {
		return nil, err
	}
	defer t.close()
	var mu sync.Mutex
	var out []string
	t.visit = func(_ int, _ *folder, at string, names []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range names {
			out = append(out, at+n)
		}
	}
	err = t.all()
	slices.Sort(out)
	return out, err
}

// ignoredAbove: what is in an ignored folder is ignored whatever its names.
func ignoredAbove(t *rapid.T, w *Workspace, p place) bool {
	for q := p; q.abs != w.root; q = w.parent(q) {
		set := must.Get(plainGit.ignored(context.Background(), w.parent(q).abs, []string{q.base()}))(t)
		if set[q.base()] {
			return true
		}
	}
	return false
}

func TestGlob(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.go": "", "b/c.go": "", "b/d_test.go": "", "b/e/f.go": "", "x.md": "", "skip/z.go": "", ".hidden.go": "",
		".gitignore": "skip/\n*.log\n!keep.log\n", "o.log": "", "keep.log": "", "b/.gitignore": "/d_test.go\n",
	}
	for _, git := range []bool{false, true} {
		w, root := open(t, files)
		if git {
			processtest.RunGit(t, root, "init", "-q")
			processtest.RunGit(t, root, "add", "a.go", "x.md")
			if err := os.Remove(filepath.Join(root, "x.md")); err != nil { // deleted, still in the index
				t.Fatal(err)
			}
		}
		base := time.Now().Add(-time.Hour)
		for i, n := range []string{"b/e/f.go", "a.go", "b/c.go", ".hidden.go"} {
			at := base.Add(time.Duration(-i) * time.Minute)
			must.Do(t, os.Chtimes(filepath.Join(root, n), at, at))
		}
		ctx := context.Background()
		for _, c := range []struct {
			dir, pattern string
			limit        int
			want         string
			more         bool
		}{
			{".", "**/*.go", 0, "b/e/f.go a.go b/c.go .hidden.go", false},
			{"", "*.go", 0, "b/e/f.go a.go b/c.go .hidden.go", false},
			{".", "./*/*.go", 0, "b/c.go", false},
			{"b", "*.go", 0, "b/e/f.go b/c.go", false},
			{"b", "{c,x}.go", 0, "b/c.go", false},
			{".", "*.go", 2, "b/e/f.go a.go", true},
			{".", "*.log", 0, "keep.log", false},
			{"skip", "*.go", 0, "skip/z.go", false}, // asked for by name
			{".", "nothing", 0, "", false},
		} {
			got, more, err := w.Glob(ctx, c.dir, c.pattern, c.limit)
			if err != nil || strings.Join(got, " ") != c.want || more != c.more {
				t.Errorf("git %v: Glob(%q, %q) = %q %v %v, want %q", git, c.dir, c.pattern, got, more, err, c.want)
			}
		}
		if _, _, err := w.Glob(ctx, ".", "[a", 0); err == nil {
			t.Error("a malformed pattern")
		}
		if _, _, err := w.Glob(ctx, "none", "*", 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if _, _, err := w.Glob(cancelled, ".", "*", 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// A repository inside a repository is searched too, by its own rules.
func TestNestedRepository(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a.go": "", "sub/b.go": "", "sub/no.o": "", "sub/.gitignore": "*.o\n"})
	processtest.RunGit(t, root, "init", "-q")
	processtest.RunGit(t, filepath.Join(root, "sub"), "init", "-q")
	got, _, err := w.Glob(context.Background(), ".", "{*.go,*.o}", 0)
	slices.Sort(got)
	if err != nil || strings.Join(got, " ") != "a.go sub/b.go" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSymlinkLoopsEnd(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"d/a.txt": "needle\n"})
	for name, target := range map[string]string{"d/up": "..", "d/self": ".", "l1": "l2", "l2": "l1", "copy.txt": "d/a.txt"} {
		must.Do(t, os.Symlink(target, filepath.Join(root, name)))
	}
	m, err := w.Grep(context.Background(), tool.Query{Pattern: "needle"})
	if err != nil || m.Hits != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	es, err := w.List(context.Background(), "d")
	if err != nil || len(es) != 3 || es[1].Link != "." || es[0].Size != 7 {
		t.Errorf("%+v, %v", es, err)
	}
}

func grepText(m tool.Matches) string {
	var b strings.Builder
	for _, l := range m.Lines {
		sep := "-"
		if l.Hit {
			sep = ":"
		}
		fmt.Fprintf(&b, "%s%s%d%s%s\n", l.Path, sep, l.Line, sep, l.Text)
	}
	return b.String()
}

func TestGrep(t *testing.T) {
	t.Parallel()
	w, _ := open(t, map[string]string{
		"a.go": "package a\n\nfunc Foo() {}\n// foo\nend", "b/c.go": "func Bar() {}\r\nx\r\n", "bin": "func\x00Foo",
		"late": strings.Repeat("y\n", 9000) + "func Foo\x00", "bad.txt": "caf\xe9 func\n", "uni.txt": "\u212aelvin \u017fum\n",
		"multi.txt": "a\nb a b\n", "empty": "", "nl": "\n\n",
	})
	ctx := context.Background()
	for _, c := range []struct {
		q    tool.Query
		want string
	}{
		{tool.Query{Pattern: `func \w+`}, "a.go:3:func Foo() {}\nb/c.go:1:func Bar() {}\n"},
		{tool.Query{Pattern: "func"}, "a.go:3:func Foo() {}\nb/c.go:1:func Bar() {}\nbad.txt:1:caf\ufffd func\n"},
		{tool.Query{Pattern: "FOO", IgnoreCase: true}, "a.go:3:func Foo() {}\na.go:4:// foo\n"},
		{tool.Query{Pattern: "() {}", Literal: true, Glob: "*.go"}, "a.go:3:func Foo() {}\nb/c.go:1:func Bar() {}\n"},
		{tool.Query{Pattern: "Foo|Bar", Dir: "b"}, "b/c.go:1:func Bar() {}\n"},
		{tool.Query{Pattern: "x$", Dir: "b/c.go"}, "b/c.go:2:x\n"},
		{tool.Query{Pattern: `^end$`}, "a.go:5:end\n"},
		{tool.Query{Pattern: `\Aend\z`}, "a.go:5:end\n"},
		{tool.Query{Pattern: "Foo", Context: 1}, "a.go-2-\na.go:3:func Foo() {}\na.go-4-// foo\n"},
		{tool.Query{Pattern: "(?i)foo", Context: 2, Glob: "!*.md"}, "a.go-1-package a\na.go-2-\na.go:3:func Foo() {}\na.go:4:// foo\na.go-5-end\n"},
		{tool.Query{Pattern: "kelvin", IgnoreCase: true}, "uni.txt:1:\u212aelvin \u017fum\n"},
		{tool.Query{Pattern: "SUM", IgnoreCase: true}, "uni.txt:1:\u212aelvin \u017fum\n"},
		{tool.Query{Pattern: `a\s+b`, Glob: "multi.txt"}, "multi.txt:2:b a b\n"},
		{tool.Query{Pattern: `^$`, Glob: "nl"}, "nl:1:\nnl:2:\n"},
		{tool.Query{Pattern: "func", FilesOnly: true}, "a.go:0:\nb/c.go:0:\nbad.txt:0:\n"},
	} {
		m, err := w.Grep(ctx, c.q)
		if err != nil || grepText(m) != c.want {
			t.Errorf("%+v: %v\n%swant\n%s", c.q, err, grepText(m), c.want)
		}
	}
	m, _ := w.Grep(ctx, tool.Query{Pattern: "Foo"})
	if m.Skipped != 2 || m.Files != 1 || m.Hits != 1 || m.More || strings.Join(m.Binary, " ") != "bin late" {
		t.Errorf("%+v", m)
	}
	if m, _ = w.Grep(ctx, tool.Query{Pattern: "Bar"}); m.Skipped != 1 || m.Binary != nil {
		t.Errorf("%+v", m)
	}
	for _, q := range []tool.Query{{Pattern: "("}, {Pattern: ""}, {Pattern: "a", Glob: "[x"}, {Pattern: "a", Dir: "none"}} {
		if _, err := w.Grep(ctx, q); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", q, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.Grep(cancelled, tool.Query{Pattern: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Results are bounded, and the same however many workers race.
func TestGrepLimits(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%02d/f", i)] = strings.Repeat("hit\nmiss\n", 5)
	}
	files["long"] = strings.Repeat("a", 3000) + "NEEDLE" + strings.Repeat("\u00e9", 3000) + "\n"
	w, _ := open(t, files)
	ctx := context.Background()
	var first string
	for range 10 {
		m, err := w.Grep(ctx, tool.Query{Pattern: "hit", Limit: 12, Context: 1})
		if err != nil || m.Hits != 12 || m.Files != 3 || !m.More {
			t.Fatalf("%d hits, %d files, %v %v", m.Hits, m.Files, m.More, err)
		}
		if first == "" {
			first = grepText(m)
		}
		if grepText(m) != first {
			t.Fatal("the result depends on who was faster")
		}
	}
	if m, err := w.Grep(ctx, tool.Query{Pattern: "hit", Limit: 200}); err != nil || m.Hits != 200 || m.More {
		t.Errorf("%d %v %v", m.Hits, m.More, err)
	}
	if m, err := w.Grep(ctx, tool.Query{Pattern: "hit", Limit: 5, FilesOnly: true}); err != nil || m.Files != 5 || !m.More {
		t.Errorf("%+v %v", m, err)
	}
	m, err := w.Grep(ctx, tool.Query{Pattern: "NEEDLE"})
	if err != nil || len(m.Lines) != 1 || len(m.Lines[0].Text) > lineMax+6 || !strings.Contains(m.Lines[0].Text, "NEEDLE") ||
		!strings.HasPrefix(m.Lines[0].Text, "…") || !strings.HasSuffix(m.Lines[0].Text, "…") || strings.Contains(m.Lines[0].Text, "\ufffd") {
		t.Errorf("%+v %v", m.Lines, err)
	}
}

// The prefilter never hides a match: with and without it, the same lines, and the
// same place in them.
func TestGrepPrefilter(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"foo", "fo+", "(foo|bar)+x?", "a{2,3}b", "[fb]oo", "(?i)FoO", "f.o$", "^bar", "foo|(?i)BAR", "x*", `\bfoo\b`, `(foo)?bar`, `o\so`, "(?i)ks", "[^a]o", `\d+`, "(a|b|)c", "é", "(?i)É", "(?i)foo", "(?i)bar a", "(?i)xoo1", "(?i)soos",
	}
	alphabet := rapid.SampledFrom([]string{"foo", "bar", "FOO", "Bar", "a", "b", "x", " ", "\n", "\r\n", "oo", "1", "c", "é", "É", "\u212as", "k\u017f", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(alphabet, 0, 30).Draw(t, "text"), "")
		m := must.Get(newLineMatcher(tool.Query{Pattern: rapid.SampledFrom(patterns).Draw(t, "pattern"), IgnoreCase: rapid.Bool().Draw(t, "case"), Literal: rapid.Bool().Draw(t, "literal")}))(t)
		var got, want [][3]int // a line, and where in it
		s, _ := m.scan([]byte(text), nil)
		for pos := 0; ; {
			f, ok := s.line(pos)
			if !ok {
				break
			}
			got = append(got, [3]int{strings.Count(text[:f.start], "\n"), f.from, f.to})
			i := strings.IndexByte(text[f.end:], '\n')
			if i < 0 {
				break
			}
			pos = f.end + i + 1
		}
		for i, l := range strings.SplitAfter(text, "\n") {
			if loc := m.re.FindStringIndex(strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")); l != "" && loc != nil {
				want = append(want, [3]int{i, loc[0], loc[1]})
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: lines %v, want %v", m.re, text, got, want)
		}
	})
}
