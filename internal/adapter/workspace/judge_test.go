package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// gitLists returns what git itself lists below a folder, with the files of
// nested repositories: what a search goes through.
func gitLists(t *testing.T, w *Workspace, dir string) []string {
	t.Helper()
	names := must.Get(plainGit.files(t.Context(), dir, gitrepo.Above(dir)))(t)
	var out []string
	for _, n := range names {
		n, nested := strings.CutSuffix(n, "/")
		abs := filepath.Join(dir, n)
		st, err := os.Lstat(abs)
		in, _ := filepath.EvalSymlinks(filepath.Dir(abs))
		switch {
		case err != nil || in != filepath.Dir(abs): // git lists what is gone, too, also where a link took a folder's place
		case !st.IsDir():
			out = append(out, n)
		case nested && gitrepo.Above(abs) == abs && isRepository(abs):
			for _, f := range gitLists(t, w, abs) {
				out = append(out, n+"/"+f)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What git ignores is known without asking it, and is what git answers: in random
// repositories with tracked files that rules match, rules at every place, nested
// repositories and links, while all of them change. SPEC 19.1
func TestJudgeIsGits(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	if s := os.Getenv("PAWL_SEED"); s != "" {
		must.Done(t)(fmt.Sscan(s, &seed))
	}
	t.Run("an unreadable index, and a repository between", func(t *testing.T) {
		t.Parallel()
		judged(t, rand.New(rand.NewPCG(11741220866516284663, 4)))
	})
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d", seed)
			judged(t, rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
}

// A nested repository does not hide what the outer one tracks in it, also in a folder
// about which git itself is asked. SPEC 19.1
func TestTrackedInANestedRepository(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{"a rule that is known": "*.o\n", "a rule that git is asked about": "/x[a/b]/\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, root := open(t, map[string]string{"in/sp ace/.gitignore": rule, "in/sp ace/new.o": "x", "in/sp ace/[a]/b.txt": "x", "in/b.txt": "x"})
			processtest.RunGit(t, root, "init", "-q")
			processtest.RunGit(t, root, "add", "in/sp ace/.gitignore", "in/sp ace/[[]a]/b.txt")
			processtest.RunGit(t, root, "init", "-q", "in")
			must.WriteMode(t, filepath.Join(root, "in/.gitignore"), "*\n", 0o644)
			p := must.Get(w.resolve(root))(t)
			got, err := filesBelow(w, p)
			if want := gitLists(t, w, root); err != nil || !slices.Equal(got, want) || !slices.Contains(got, "in/sp ace/.gitignore") {
				t.Errorf("%v\ngit  %q\nours %q", err, want, got)
			}
		})
	}
}

// What is not tracked in a folder below a nested repository whose files the outer one tracks
// is listed, also where git itself is asked about the folder. SPEC 19.1
func TestUntrackedInANestedRepository(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"in/a.txt": "x", "in/new/.gitignore": "/x[a/b]/\n", "in/new/b.txt": "x"})
	processtest.RunGit(t, root, "init", "-q")
	processtest.RunGit(t, root, "add", "in/a.txt")
	processtest.RunGit(t, root, "init", "-q", "in")
	p := must.Get(w.resolve(root))(t)
	got, err := filesBelow(w, p)
	if want := []string{"in/a.txt", "in/new/.gitignore", "in/new/b.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// instead reports whether a file is in a repository that took the place of a tracked file:
// git has no word about its files.
func instead(t *testing.T, dir, name string) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		abs := filepath.Join(dir, at)
		if gitrepo.Above(abs) != abs || !isRepository(abs) {
			continue
		}
		outer := filepath.Dir(abs)
		out := must.Get(plainGit.Run(t.Context(), gitrepo.Above(outer), nil, nil, "ls-files", "-z", "-s", "--", ":(literal)"+strings.TrimPrefix(abs, gitrepo.Above(outer)+"/")))(t)
		if strings.HasPrefix(string(out), "100") && strings.HasSuffix(string(out), "\t"+strings.TrimPrefix(abs, gitrepo.Above(outer)+"/")+"\x00") {
			return true
		}
	}
	return false
}

var judgedNames = []string{"[!b", "!b", "^b", "[^b", "a", "b", "a-b", "a.c", "x.o", "y.o", "out", "keep.o", "sp ace", "\xff"}

func judged(t *testing.T, r *rand.Rand) {
	top := must.Dir(t)
	in := must.Get(os.OpenRoot(top))(t)
	defer in.Close()
	processtest.RunGit(t, top, "init", "-q")
	global := filepath.Join(t.TempDir(), "excludes")
	processtest.RunGit(t, top, "config", "core.excludesFile", global)
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	folder := func() string {
		parts := make([]string, r.IntN(4))
		for i := range parts {
			parts[i] = pick(judgedNames...)
		}
		return path.Join(parts...)
	}
	rules := func() []byte {
		var b strings.Builder
		for range r.IntN(4) {
			b.WriteString(pick("", "", "!") + pick("", "/", "a/", "**/") + pick("*.o", "out", "a", "b*", "*", "a-b", "keep.o", "a/**", "[ab]", "a.?", "x[a/b]", "[[:alpha:]]", "\\[!b", "[a[!]*", "[!a]*", "[!a-b][!c]?", "[!\\]a]*", "[^!]*", "[!!^]*", "é?", "sp\\ ace") + pick("", "", "/") + "\n")
		}
		return []byte(b.String())
	}
	starter := &processtest.Plain{}
	w := must.Get(Open(top, Options{Git: &Git{Starter: starter, Confine: process.Free}}))(t)
	defer w.Close()
	checkRound := func() {
		t.Helper()
		for range 4 {
			rel := folder()
			dir := filepath.Join(top, rel)
			if st, err := os.Lstat(dir); err != nil || !st.IsDir() || strings.Contains(rel, "\xff") {
				continue
			}
			p, err := w.resolve(dir)
			if err != nil || p.abs != dir {
				continue // a link leads elsewhere
			}
			want := gitLists(t, w, dir)
			if len(want) == 0 {
				continue // it was named explicitly: git has no word in it
			}
			got, err := filesBelow(w, p)
			got = slices.DeleteFunc(got, func(n string) bool { // git lists what is gone or a folder by now, too
				st, err := os.Lstat(filepath.Join(dir, n))
				return err != nil || st.IsDir() || instead(t, dir, n)
			})
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q: %v\ngit  %q\nours %q\nrules %q", rel, err, want, got, ruleTexts(top, global))
			}
			es := must.Get(w.List(t.Context(), dir))(t)
			var names []string
			for _, e := range es {
				names = append(names, e.Name)
			}
			set, err := plainGit.ignored(t.Context(), dir, names)
			if err != nil {
				continue // git does not look into submodules
			}
			for _, e := range es {
				// Where a file has replaced a tracked folder, check-ignore reports it as
				// not ignored, and every other command of git as ignored.
				if !e.Dir && e.Ignored && below(t, dir, e.Name) {
					continue
				}
				if e.Name != ".git" && e.Ignored != set[e.Name] {
					t.Fatalf("%q in %q: ours %v, git %v\nrules %q", e.Name, rel, e.Ignored, set[e.Name], ruleTexts(top, global))
				}
			}
		}
	}
	for range 14 {
		for range 12 {
			dir := folder()
			if in.MkdirAll(cleanOf(dir), 0o755) != nil {
				continue
			}
			name := path.Join(dir, pick(judgedNames...))
			switch r.IntN(16) {
			case 0, 1, 2, 3, 4:
				_ = in.WriteFile(name, []byte("x"), 0o644)
			case 5, 6, 7:
				_ = in.WriteFile(path.Join(dir, ".gitignore"), rules(), 0o644)
			case 8:
				_ = in.WriteFile(".git/info/exclude", rules(), 0o644)
			case 9:
				_ = os.WriteFile(global, rules(), 0o644)
			case 10:
				_ = in.Symlink(pick("a", "..", "nothing"), name)
			case 11:
				_ = in.RemoveAll(name)
			case 12:
				quietly(t, top, "add", "-A", "-f", "--", ":/"+cleanOf(dir))
			case 13:
				quietly(t, top, "add", "-A")
			case 14:
				quietly(t, top, "rm", "-rq", "--cached", "--ignore-unmatch", "--", cleanOf(dir))
			case 15:
				switch r.IntN(4) {
				case 0:
					quietly(t, filepath.Join(top, dir), "init", "-q")
				case 1:
					_ = in.MkdirAll(path.Join(dir, ".git"), 0o755) // no repository
				case 2:
					quietly(t, top, "config", "core.ignoreCase", pick("true", "false"))
				case 3:
					quietly(t, top, "update-index", pick("--split-index", "--no-split-index"))
				}
			}
		}
		checkRound()
	}
	// Asked again, git is not.
	quietly(t, top, "config", "core.ignoreCase", "false")
	quietly(t, top, "update-index", "--no-split-index")
	for range 2 {
		n := len(starter.Started)
		must.Done(t)(w.List(t.Context(), "."))
		if s := fmt.Sprint(ruleTexts(top, global)); n == len(starter.Started) || strings.Contains(s, "[a/b]") || strings.Contains(s, "[:") {
			return
		}
	}
	t.Error("git is asked again though its settings are the same")
}

// below reports whether git tracks files below a path.
func below(t *testing.T, dir, name string) bool {
	out, err := plainGit.Run(t.Context(), dir, []string{"GIT_LITERAL_PATHSPECS=1"}, nil, "ls-files", "-z", "--", name+"/")
	return err == nil && len(out) > 0
}

func cleanOf(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// SPEC 11.1: what would be lost with a path is known of the path alone.
func TestEntry(t *testing.T) {
	t.Parallel()
	for _, git := range []bool{true, false} {
		w, root := open(t, map[string]string{
			".gitignore": "*.o\n/out/\n", "a.go": "12", "a.o": "", "out/x": "", "out/kept.go": "", "sub/.gitignore": "!b.o\n", "sub/b.o": "", "sub/c.o": "",
			"out/inner/y": "", "free/z.o": "", "free/y": "",
		})
		if git {
			processtest.RunGit(t, root, "init", "-q")
			processtest.RunGit(t, root, "add", "-f", "out/kept.go")
			processtest.RunGit(t, filepath.Join(root, "out/inner"), "init", "-q")
			processtest.RunGit(t, filepath.Join(root, "free"), "init", "-q")
			w.git = plainGit
		}
		must.Do(t, os.Symlink("a.go", filepath.Join(root, "l.o")))
		for _, c := range []struct {
			path         string
			dir, ignored bool
		}{
			{"a.go", false, false},
			{"a.o", false, true},
			{"out", true, !git}, // something in it is tracked
			{"out/x", false, true},
			{"out/kept.go", false, !git},
			{"out/inner", true, true},
			{"out/inner/y", false, true}, // its own repository has no rule, the one around it has
			{"sub", true, false},
			{"sub/b.o", false, false},
			{"sub/c.o", false, true},
			{"free/z.o", false, !git}, // the rules around another repository are not its own
			{"free/y", false, false},
			{"l.o", false, true},
			{".git", true, true},
		} {
			if c.path == ".git" && !git {
				continue
			}
			e, err := w.Entry(t.Context(), c.path)
			if err != nil || e.Name != path.Base(c.path) || e.Dir != c.dir || e.Ignored != c.ignored {
				t.Errorf("git %v, %s: %+v, %v", git, c.path, e, err)
			}
		}
		if e, err := w.Entry(t.Context(), "l.o"); e.Link != "a.go" {
			t.Errorf("%+v, %v", e, err)
		}
		if e, err := w.Entry(t.Context(), "a.go"); e.Size != 2 {
			t.Errorf("%+v, %v", e, err)
		}
		if _, err := w.Entry(t.Context(), "nothing"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v", err)
		}
		if _, err := w.Entry(t.Context(), "../x"); err == nil {
			t.Error("a path outside is answered")
		}
	}
}

func ruleTexts(top, global string) map[string]string {
	text, _ := os.ReadFile(global)
	config, _ := os.ReadFile(filepath.Join(top, ".git/config"))
	own, _ := os.ReadFile(filepath.Join(top, ".git/info/exclude"))
	out := map[string]string{"exclude": string(own), "global": string(text), "config": string(config)}
	_ = filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".gitignore" {
			text, _ := os.ReadFile(p)
			out[strings.TrimPrefix(p, top)] = string(text)
		}
		return nil
	})
	return out
}

// quietly runs git, which may refuse.
func quietly(t *testing.T, dir string, args ...string) {
	t.Helper()
	_, _ = plainGit.Run(context.WithoutCancel(t.Context()), dir, nil, nil, args...)
}
