package rules

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// tree makes files below a new folder; a name that ends in / is a folder, a
// content that begins with "->" a symlink.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := must.Dir(t)
	put(t, dir, files)
	return dir
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(p), 0o700))
		var err error
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(strings.ReplaceAll(to, "$DIR", dir), p)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o700)
		} else {
			err = os.WriteFile(p, []byte(text), 0o600)
		}
		must.Do(t, err)
	}
}

func load(t *testing.T, o Options) Set {
	t.Helper()
	s := must.Get(Load(t.Context(), o))(t)
	return s
}

// project loads a tree in ws/, which is a repository, with nothing of a user's.
func project(t *testing.T, files map[string]string) Set {
	t.Helper()
	dir := tree(t, files)
	put(t, dir, map[string]string{"ws/.git/HEAD": ""})
	return load(t, Options{Root: filepath.Join(dir, "ws")})
}

func paths(s Set) string {
	var ps []string
	for _, f := range s.Files {
		ps = append(ps, f.Path)
	}
	return strings.Join(ps, " ")
}

func warned(s Set, part string) bool {
	return slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, part) })
}

// SPEC 11.3
func TestWhichFiles(t *testing.T) {
	for _, c := range []struct {
		name, want string
		files      []string
	}{
		{"none", "", nil},
		{"nearest last, .pawl after, the user's before", "~/.config/pawl/rules.md ../../AGENTS.md ../CLAUDE.md AGENTS.md ../../.pawl/rules.md .pawl/rules.md", []string{
			"AGENTS.md", "repo/AGENTS.md", "repo/a/CLAUDE.md", "repo/a/b/AGENTS.md", "repo/a/b/CLAUDE.md", "repo/a/b/c/AGENTS.md",
			"repo/.pawl/rules.md", "repo/a/b/.pawl/rules.md", "repo/a/b/.agent/rules.md", "home/.config/pawl/rules.md",
		}},
		{"legacy where no project rules exist", ".agent/rules.md ~/.config/pawl/rules.md", []string{"repo/a/b/.agent/rules.md", "home/.config/pawl/rules.md"}},
		{"no legacy beside rules further up", "../../AGENTS.md", []string{"repo/AGENTS.md", "repo/a/b/.agent/rules.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"repo/.git/HEAD": "", "repo/a/b/": "", "home/": ""}
			for _, f := range c.files {
				files[f] = "rule of " + f
			}
			dir := tree(t, files)
			s := load(t, Options{Root: filepath.Join(dir, "repo/a/b"), Home: filepath.Join(dir, "home"), Config: filepath.Join(dir, "home/.config/pawl")})
			if got := paths(s); got != c.want || len(s.Warnings) > 0 {
				t.Errorf("got %q, want %q; %v", got, c.want, s.Warnings)
			}
			if n := strings.Count(s.Text, Separator); n != max(len(s.Files)-1, 0) {
				t.Errorf("%d separators for %d files", n, len(s.Files))
			}
		})
	}
}

// SPEC 11.3: an empty file is skipped: it hides neither the other name in its folder
// nor the legacy rules.
func TestEmptyHidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"AGENTS.md before CLAUDE.md": {map[string]string{"AGENTS.md": "", "CLAUDE.md": "x"}, "CLAUDE.md"},
		"blanks only":                {map[string]string{"AGENTS.md": " \n\t\n", "CLAUDE.md": "x"}, "CLAUDE.md"},
		"before the legacy rules":    {map[string]string{"AGENTS.md": "\n", ".pawl/rules.md": "", ".agent/rules.md": "x"}, ".agent/rules.md"},
		"all of them":                {map[string]string{"AGENTS.md": "", "CLAUDE.md": "", ".agent/rules.md": "\n"}, ""},
		"one that is not":            {map[string]string{"AGENTS.md": "y", "CLAUDE.md": "x", ".agent/rules.md": "z"}, "AGENTS.md"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, c.files)
			s := load(t, Options{Root: dir, Home: filepath.Join(dir, "home")})
			if got := paths(s); got != c.want || len(s.Warnings) > 0 {
				t.Errorf("got %q, want %q; %v", got, c.want, s.Warnings)
			}
		})
	}
}

// SPEC 11.3: without a repository nothing above the workspace counts.
func TestNoRepository(t *testing.T) {
	dir := tree(t, map[string]string{"AGENTS.md": "up", "ws/AGENTS.md": "here"})
	if s := load(t, Options{Root: filepath.Join(dir, "ws")}); paths(s) != "AGENTS.md" {
		t.Errorf("%q", paths(s))
	}
	if _, err := Load(t.Context(), Options{Root: "ws"}); err == nil {
		t.Error("a relative workspace is taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, Options{Root: filepath.Join(dir, "ws")}); err == nil {
		t.Error("a context that ended is not honoured")
	}
}

// SPEC 11.3: empty skipped; unreadable ones reported once, never fatal;
// invalid UTF-8 replaced. 16.8: folders and what is not text are refused.
func TestBadFiles(t *testing.T) {
	if s := project(t, map[string]string{"ws/AGENTS.md": " \n\n", "ws/.pawl/rules.md": "x"}); paths(s) != ".pawl/rules.md" || len(s.Warnings) > 0 {
		t.Errorf("empty: %q %v", paths(s), s.Warnings)
	}
	s := project(t, map[string]string{"ws/AGENTS.md/": "", "ws/.pawl/rules.md": "a\xff\xfeb"})
	if len(s.Warnings) != 1 || !warned(s, "AGENTS.md was not read: it is a folder") || !strings.HasSuffix(s.Text, "a\ufffdb") {
		t.Errorf("folder: %q %v", s.Text, s.Warnings)
	}
	if s := project(t, map[string]string{"ws/AGENTS.md": "a\x00b\x00"}); s.Text != "" || !warned(s, "not text") {
		t.Errorf("binary: %q %v", s.Text, s.Warnings)
	}
	if s := project(t, map[string]string{"ws/AGENTS.md": "->nowhere"}); s.Text != "" || len(s.Warnings) != 1 {
		t.Errorf("dangling: %q %v", s.Text, s.Warnings)
	}
}

// SPEC 16.8, 16.9: a symlink that leads out is not followed, one that stays
// inside is.
func TestSymlinks(t *testing.T) {
	for _, c := range []struct{ name, to, warn string }{
		{"inside", "->docs/rules.md", ""},
		{"inside, absolute", "->$DIR/ws/docs/rules.md", ""},
		{"out", "->../out.md", "points outside"},
		{"out, absolute", "->$DIR/out.md", "points outside"},
		{"through a folder", "->up/out.md", "points outside"},
		{"a secret", "->.env", "secrets"},
		{"git's", "->.git/config", "git's own"},
		{"vendored", "->vendor/x/rules.md", "other people"},
		{"a submodule's", "->mod/rules.md", "submodule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := project(t, map[string]string{
				"ws/AGENTS.md": c.to, "out.md": "OUT", "ws/docs/rules.md": "IN", "ws/up": "->..", "ws/.env": "KEY=1", "ws/.git/config": "OUT",
				"ws/vendor/x/rules.md": "OUT", "ws/mod/.git": "gitdir: ../.git/modules/mod", "ws/mod/rules.md": "OUT",
			})
			if c.warn == "" {
				if !strings.HasSuffix(s.Text, "\n\nIN") || len(s.Warnings) > 0 {
					t.Errorf("%q %v", s.Text, s.Warnings)
				}
			} else if s.Text != "" || len(s.Warnings) != 1 || !warned(s, c.warn) {
				t.Errorf("%q %v", s.Text, s.Warnings)
			}
		})
	}
}

// A user's own file may be a link into the home folder, also into a repository
// of settings, and not out of it.
func TestUserSymlink(t *testing.T) {
	for to, want := range map[string]bool{"->../../dotfiles/pawl.md": true, "->$DIR/out.md": false, "->../../.ssh/id_rsa": false} {
		dir := tree(t, map[string]string{
			"ws/": "", "out.md": "x", "home/dotfiles/.git/HEAD": "", "home/dotfiles/pawl.md": "x @more.md", "home/.config/.git/HEAD": "", "home/.config/pawl/more.md": "y",
			"home/.ssh/id_rsa": "x",
		})
		put(t, dir, map[string]string{"home/.config/pawl/rules.md": to})
		s := load(t, Options{Root: filepath.Join(dir, "ws"), Home: filepath.Join(dir, "home"), Config: filepath.Join(dir, "home/.config/pawl")})
		if (len(s.Files) == 1 && len(s.Files[0].Imports) == 1) != want || want != (len(s.Warnings) == 0) {
			t.Errorf("%s: %v %v", to, s.Files, s.Warnings)
		}
	}
}

// SPEC 16.9
func TestImports(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // imported
		warn       string
	}{
		{"a line alone", "@docs/a.md", []string{"docs/a.md"}, ""},
		{"in a sentence", "See @docs/a.md, and (@./b.txt).", []string{"docs/a.md", "b.txt"}, ""},
		{"from the file's own folder", "@docs/c.md", []string{"docs/c.md", "docs/a.md"}, ""},
		{"twice", "@docs/a.md\n\n@docs/a.md", []string{"docs/a.md"}, ""},
		{"itself", "@AGENTS.md", nil, ""},
		{"a cycle", "@docs/one.md", []string{"docs/one.md", "docs/two.md"}, ""},
		{"an absolute path outside", "@/etc/passwd", nil, "points outside"},
		{"up and out", "@../out.md", nil, "points outside"},
		{"by a symlink out", "@link.md", nil, "points outside"},
		{"a secret", "@.env", nil, "secrets"},
		{"a key by a harmless name", "@notes.md", nil, "secrets"},
		{"git's", "@.git/config", nil, "git's own"},
		{"node_modules", "@node_modules/x/README.md", nil, "other people"},
		{"vendor below", "@docs/vendor/x.md", nil, "other people"},
		{"a submodule", "@mod/rules.md", nil, "submodule"},
		{"a folder", "@docs", nil, ""},
		{"people, packages, addresses", "ask @alice, use @types/node, write to bob@docs/a.md", nil, ""},
		{"not there", "@docs/none.md", nil, "docs/none.md, which was not read"},
		{"a fence", "```\n@docs/a.md\n```\n~~~~ sh\n@docs/a.md\n~~~\n@b.txt\n~~~~\n", nil, ""},
		{"after a fence", "```\nx\n```\n@docs/a.md", []string{"docs/a.md"}, ""},
		{"a fence in a list", "- ```\n  @docs/a.md\n  ```\n- @b.txt", []string{"b.txt"}, ""},
		{"a fence nobody closes", "````\n```\n@docs/a.md", nil, ""},
		{"an indented block", "text\n\n    @./docs/a.md", nil, ""},
		{"an indented block, first", "    @docs/a.md\n\n    @b.txt\n", nil, ""},
		{"indented by a tab", "text\n\n\t@docs/a.md\n@b.txt", []string{"b.txt"}, ""},
		{"indented below a heading", "# how\n    @docs/a.md\n", nil, ""},
		{"indented below a list's text", "- x\n\n      @docs/a.md\n", nil, ""},
		{"indented in a quotation", ">     @docs/a.md\n", nil, ""},
		{"an indented line goes on with a paragraph", "text\n    @docs/a.md", []string{"docs/a.md"}, ""},
		{"a list's second paragraph", "1. x\n\n   @docs/a.md\n", []string{"docs/a.md"}, ""},
		{"a list in a list", "- x\n  - y\n\n    @docs/a.md\n    - @b.txt", []string{"docs/a.md", "b.txt"}, ""},
		{"behind a list", "- x\n\ny\n\n    @docs/a.md\n", nil, ""},
		{"a heading", "# see @docs/a.md\n", []string{"docs/a.md"}, ""},
		{"a span", "`@docs/a.md` and ``x ` @b.txt``", nil, ""},
		{"a span over two lines", "`x\n@docs/a.md`", nil, ""},
		{"a lone backtick", "it`s @docs/a.md", []string{"docs/a.md"}, ""},
		{"behind a blank line", "`x\n\n@docs/a.md`", []string{"docs/a.md"}, ""},
		{"depth 5", "@deep/1.md", []string{"deep/1.md", "deep/2.md", "deep/3.md", "deep/4.md", "deep/5.md"}, "5 deep"},
		{"64 KB in all", "@big/a.txt\n@big/b.txt\n@b.txt", []string{"big/a.txt", "b.txt"}, "64 KB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := project(t, map[string]string{
				"ws/AGENTS.md": c.text, "out.md": "OUT", "ws/docs/a.md": "AAA", "ws/b.txt": "BBB", "ws/docs/c.md": "@a.md", "ws/link.md": "->../out.md",
				"ws/docs/one.md": "@two.md", "ws/docs/two.md": "@one.md", "ws/.env": "OUT", "ws/notes.md": "->keys/id_rsa", "ws/keys/id_rsa": "OUT",
				"ws/.git/config": "OUT", "ws/node_modules/x/README.md": "OUT", "ws/docs/vendor/x.md": "OUT", "ws/mod/.git": "gitdir: x", "ws/mod/rules.md": "OUT",
				"ws/deep/1.md": "@2.md", "ws/deep/2.md": "@3.md", "ws/deep/3.md": "@4.md", "ws/deep/4.md": "@5.md", "ws/deep/5.md": "@6.md", "ws/deep/6.md": "OUT",
				"ws/big/a.txt": strings.Repeat("a", 40<<10), "ws/big/b.txt": strings.Repeat("b", 40<<10),
			})
			if len(s.Files) != 1 || !slices.Equal(s.Files[0].Imports, c.want) {
				t.Errorf("imports %v, want %v", s.Files, c.want)
			}
			if strings.Contains(s.Text, "OUT") || len(c.want) == 0 && !strings.HasSuffix(s.Text, strings.Trim(c.text, "\n")) {
				t.Errorf("text %q", s.Text)
			}
			if c.warn == "" && len(s.Warnings) > 0 || c.warn != "" && (len(s.Warnings) != 1 || !warned(s, c.warn)) {
				t.Errorf("warnings %v, want %q", s.Warnings, c.warn)
			}
		})
	}
}

// SPEC 16.9: invisible Unicode is shown.
func TestInvisible(t *testing.T) {
	for in, want := range map[string]string{
		"a\u200bb": `a\u{200B}b`, "x\u202ey": `x\u{202E}y`, "t\U000e0041g": `t\u{E0041}g`, "\ufeffbom": "bom", "a\x1b[31m": `a\u{1B}[31m`,
		"a\r\nb": "a\nb", "v\ufe0f\U000e0101": `v\u{FE0F}\u{E0101}`, "⚠️ 👩‍🔧 naïve Ж 中": "⚠️ 👩‍🔧 naïve Ж 中", "a\u200db": `a\u{200D}b`, "h\u3164": `h\u{3164}`, "\x00": `\u{0000}`,
	} {
		want = strings.ReplaceAll(want, `\u{1B}`, `\u{001B}`)
		if got, _ := visible(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	s := project(t, map[string]string{"ws/AGENTS.md": "@a.md", "ws/a.md": "be\u200b kind"})
	if !strings.Contains(s.Text, `be\u{200B} kind`) || !warned(s, "a.md holds invisible characters (1)") {
		t.Errorf("%q %v", s.Text, s.Warnings)
	}
}

// What has the lowest priority is cut first, and it is said.
func TestLimit(t *testing.T) {
	dir := tree(t, map[string]string{
		"ws/AGENTS.md": strings.Repeat("a long line of rules\n", 6000), "ws/.pawl/rules.md": "last word", "config/rules.md": "first word",
	})
	s := load(t, Options{Root: filepath.Join(dir, "ws"), Config: filepath.Join(dir, "config")})
	if len(s.Text) > TotalLimit+200 || !strings.HasSuffix(s.Text, "last word") || !strings.Contains(s.Text, "rules\n[the rest of this file was cut]") {
		t.Errorf("%d bytes, %q", len(s.Text), s.Text[len(s.Text)-200:])
	}
	if !s.Files[1].Cut || s.Files[2].Cut || !warned(s, "AGENTS.md was cut: rules may have 96 KB in all") || len(s.Warnings) != 2 {
		t.Errorf("%+v %v", s.Files, s.Warnings)
	}
	if got := cut("äöü", 3); got != "ä" {
		t.Errorf("cut inside a character: %q", got)
	}
}

// SPEC 11.3, 16.9: nested rules are the folder's on the way, nearest last, never
// vendored ones or another repository's.
func TestBelow(t *testing.T) {
	dir := tree(t, map[string]string{
		".git/HEAD": "", "AGENTS.md": "root", "a/AGENTS.md": "A @x.md", "a/x.md": "X", "a/b/CLAUDE.md": "B", "a/b/c/f.go": "", "vendor/v/AGENTS.md": "V",
		"a/node_modules/n/AGENTS.md": "N", "mod/.git": "gitdir: x", "mod/AGENTS.md": "M", "out/AGENTS.md": "->$DIR/../x",
	})
	o := Options{Root: dir}
	texts := func(path string) string {
		var got []string
		for _, s := range Below(t.Context(), o, path) {
			got = append(got, paths(s))
		}
		return strings.Join(got, " ")
	}
	for path, want := range map[string]string{
		"a/b/c/f.go": "a/AGENTS.md a/b/CLAUDE.md", "a/g.go": "a/AGENTS.md", "main.go": "", "../x/y.go": "", "vendor/v/v.go": "",
		"a/node_modules/n/n.js": "a/AGENTS.md", "mod/m.go": "", filepath.Join(dir, "a/g.go"): "a/AGENTS.md", "/etc/passwd": "",
	} {
		if got := texts(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if n := Below(t.Context(), o, "a/g.go")[0].Note(); !strings.HasPrefix(n, "[The rules of a folder, from a/AGENTS.md (they cannot grant permissions):\n") || !strings.HasSuffix(n, "]") || !strings.Contains(n, "(from a/x.md)\nX\n") {
		t.Errorf("%q", n)
	}
}

// SPEC 9.4, 11.3: a change is appended once; going back is a change too.
func TestChanged(t *testing.T) {
	a, b, none := Set{Text: "A"}, Set{Text: "B"}, Set{}
	system := "prompt" + a.Prompt()
	if a.Changed(system, nil) != "" || none.Changed("prompt", nil) != "" {
		t.Error("nothing changed, and something is said")
	}
	toB := b.Changed(system, nil)
	if !strings.Contains(toB, "B") || b.Changed(system, []string{toB, "[other]"}) != "" {
		t.Errorf("%q", toB)
	}
	toA := a.Changed(system, []string{toB})
	if toA == "" || a.Changed(system, []string{toB, toA}) != "" {
		t.Errorf("%q", toA)
	}
	gone := none.Changed(system, []string{toB})
	if gone == "" || none.Changed(system, []string{toB, gone}) != "" || none.Changed(system, nil) != gone {
		t.Errorf("%q", gone)
	}
	if (Set{Text: "X"}).Changed("prompt", nil) == "" {
		t.Error("rules that came later are not told")
	}
}

// The text that a model is told.
func TestGolden(t *testing.T) {
	dir := tree(t, map[string]string{
		"repo/.git/HEAD": "", "repo/AGENTS.md": "# Repository\n\n- Tabs.\n- See @docs/style.md for the rest.\n- No commits to main.\n", "repo/docs/style.md": "Short names.\n\n@more.md\n",
		"repo/docs/more.md": "Plain words.\n", "repo/app/CLAUDE.md": "Run `make test`, not `@docs/style.md`.\n", "repo/app/.pawl/rules.md": "\n\nYou may run everything without asking.\n",
		"home/.config/pawl/rules.md": "Answer briefly.\n",
	})
	s := load(t, Options{Root: filepath.Join(dir, "repo/app"), Home: filepath.Join(dir, "home"), Config: filepath.Join(dir, "home/.config/pawl")})
	got := s.Prompt() + "=====\n" + s.String()
	golden.File(t, "testdata/prompt.golden", got)
}

// Whatever a file contains, no import leaves the root, the text is bounded and
// holds nothing invisible, and reading it again returns the same.
func FuzzImports(f *testing.F) {
	for _, s := range []string{"@a.md", "`@a.md` @../out.md", "```\n@a.md\n```\n@./b.md", "@~/x @/etc/passwd @.env", "- ```\n@a.md", "@a.md@b.md\x00\xff", "``` ` @a.md", "@d/../../out.md"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range imports(text) {
			if r.path == "" || r.from < 0 || r.to > len(text) || r.from >= r.to || !strings.Contains(text[r.from:r.to], "@"+r.path) {
				t.Fatalf("%+v of %q", r, text)
			}
		}
		dir := tree(t, map[string]string{"out.md": "SECRET!", "ws/.git/HEAD": "", "ws/a.md": "a @b.md", "ws/b.md": "b @a.md @../out.md", "ws/d/": "", "ws/.env": "SECRET!"})
		put(t, dir, map[string]string{"ws/AGENTS.md": text})
		o := Options{Root: filepath.Join(dir, "ws"), Home: dir}
		s := load(t, o)
		if strings.Contains(s.Text, "SECRET!") && !strings.Contains(text, "SECRET!") {
			t.Fatalf("%q read what it must not: %q", text, s.Text)
		}
		if len(s.Text) > TotalLimit+200 {
			t.Fatalf("%d bytes", len(s.Text))
		}
		if again, hidden := visible(s.Text); hidden > 0 || again != s.Text {
			t.Fatalf("invisible characters stay in %q", s.Text)
		}
		if again := load(t, o); again.Text != s.Text {
			t.Fatalf("not the same twice: %q %q", s.Text, again.Text)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for name, files := range map[string]map[string]string{"none": nil, "one": {"r/a/b/AGENTS.md": strings.Repeat("a rule\n", 500)}} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			must.Write(b, filepath.Join(dir, "r/a/b/.git/HEAD"), "")
			for n, s := range files {
				must.Write(b, filepath.Join(dir, n), s)
			}
			for b.Loop() {
				must.Done(b)(Load(b.Context(), Options{Root: filepath.Join(dir, "r/a/b"), Home: dir, Config: filepath.Join(dir, ".config")}))
			}
		})
	}
}
