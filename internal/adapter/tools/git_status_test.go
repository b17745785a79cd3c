package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func TestMain(m *testing.M) {
	processtest.Alone()
	os.Exit(m.Run())
}

type gitRepo struct {
	t    *testing.T
	dir  string
	env  []string
	tool tool.Env
}

func newGitRepo(t *testing.T) *gitRepo {
	t.Helper()
	r := &gitRepo{t: t, dir: t.TempDir()}
	r.env = []string{
		"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.dir),
	}
	r.tool = tool.Env{Shell: &procShell{dir: r.dir, env: r.env}}
	return r
}

func (r *gitRepo) git(args ...string) string {
	r.t.Helper()
	cmd := processtest.Git(r.dir, args...)
	cmd.Env = append(cmd.Env, r.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (r *gitRepo) write(name, text string) {
	r.t.Helper()
	p := filepath.Join(r.dir, name)
	must.Do(r.t, os.MkdirAll(filepath.Dir(p), 0o755))
	must.WriteMode(r.t, p, text, 0o755)
}

func (r *gitRepo) begin() {
	r.t.Helper()
	r.git("init", "-q", "-b", "main")
	r.write("a.txt", "one\n")
	r.write("it's.txt", "x\n")
	r.git("add", ".")
	r.git("commit", "-q", "-m", "first; $(touch pwned) `x` 'y'")
}

func TestGitTools(t *testing.T) {
	t.Parallel()
	r := newGitRepo(t)
	for _, tl := range []tool.Tool{GitStatus(), GitLog(), GitDiff()} {
		if got := procCall(t, tl, r.tool, `{}`); got.Text != "the workspace is not in a git repository" || !got.Error {
			t.Errorf("%s without a repository: %+v", tl.Spec.Name, got)
		}
	}
	r.git("init", "-q", "-b", "main")
	if got := procCall(t, GitLog(), r.tool, `{}`); got.Text != "no commits yet" || got.Error {
		t.Errorf("%+v", got)
	}
	r.begin()
	if got := procCall(t, GitStatus(), r.tool, `{}`); got.Text != "## main\nnothing to commit, working tree clean" {
		t.Errorf("%+v", got)
	}
	if got := procCall(t, GitDiff(), r.tool, `{}`); !strings.HasPrefix(got.Text, "no differences") || got.Error {
		t.Errorf("%+v", got)
	}
	r.write("a.txt", "two\n")
	r.write("ü.txt", "new\n")
	if got := procCall(t, GitStatus(), r.tool, `{}`); got.Text != "## main\n M a.txt\n?? ü.txt" || got.Note != "2 changes" {
		t.Errorf("%+v", got)
	}
	if got := procCall(t, GitDiff(), r.tool, `{"path":"a.txt"}`); !strings.Contains(got.Text, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two") || got.Note != "1 file" {
		t.Errorf("%+v", got)
	}
	r.git("add", "a.txt")
	if got := procCall(t, GitDiff(), r.tool, `{"staged":true}`); !strings.Contains(got.Text, "+two") {
		t.Errorf("%+v", got)
	}
	r.git("commit", "-q", "-m", "second")
	if got := procCall(t, GitDiff(), r.tool, `{"rev":"HEAD~1..HEAD"}`); !strings.Contains(got.Text, "+two") {
		t.Errorf("%+v", got)
	}
	got := procCall(t, GitLog(), r.tool, `{}`)
	lines := strings.Split(got.Text, "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], " Ann (HEAD -> main) second") || !strings.HasSuffix(lines[1], "Ann first; $(touch pwned) `x` 'y'") || got.Note != "2 commits" {
		t.Errorf("%+v", got)
	}
	if got := procCall(t, GitLog(), r.tool, `{"count":1,"path":"it's.txt"}`); !strings.Contains(got.Text, "first") {
		t.Errorf("%+v", got)
	}
	if got := procCall(t, GitLog(), r.tool, `{"path":"none"}`); got.Text != "no commits touch none" {
		t.Errorf("%+v", got)
	}
}

// Text of a model or a file name never becomes an option or shell code.
func TestGitInjection(t *testing.T) {
	t.Parallel()
	r := newGitRepo(t)
	r.begin()
	out := filepath.Join(r.dir, "pwned")
	for _, evil := range []string{
		"--output=pwned", "-Opwned", "--ext-diff", "; touch pwned", "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", "a\ntouch pwned",
		"HEAD;touch pwned", "--no-index", "a' --output=pwned '", "| touch pwned", "&& touch pwned", ":(top)a.txt", ":!a.txt", "--", "--config-env=x=y",
	} {
		for name, field := range map[string]string{"rev": "rev", "path": "path"} {
			args, _ := json.Marshal(map[string]string{field: evil})
			got := procCall(t, GitDiff(), r.tool, string(args))
			if name == "rev" && strings.HasPrefix(evil, "-") && !strings.Contains(got.Text, "is not a revision") {
				t.Errorf("%s %q: %+v", name, evil, got)
			}
		}
		args, _ := json.Marshal(map[string]string{"path": evil})
		procCall(t, GitLog(), r.tool, string(args))
		if _, err := os.Lstat(out); err == nil {
			t.Fatalf("%q was run", evil)
		}
	}
}

// SPEC 16.6: nothing that the repository's configuration names is run. Each
// trap is first shown to work.
func TestGitRunsNothingOfTheRepository(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(r *gitRepo, trap string){
		"external diff": func(r *gitRepo, trap string) { r.git("config", "diff.external", trap) },
		"diff driver": func(r *gitRepo, trap string) {
			r.write(".gitattributes", "* diff=evil\n")
			r.git("config", "diff.evil.command", trap)
		},
		"textconv": func(r *gitRepo, trap string) {
			r.write(".gitattributes", "* diff=evil\n")
			r.git("config", "diff.evil.textconv", trap)
		},
		"clean filter": func(r *gitRepo, trap string) {
			r.write(".gitattributes", "* filter=Evil.one\n")
			r.git("config", "filter.Evil.one.clean", trap)
			r.git("config", "filter.Evil.one.required", "true")
		},
		"process filter": func(r *gitRepo, trap string) {
			r.write(".gitattributes", "* filter=e=v\n")
			r.git("config", "filter.e=v.process", trap)
		},
		"worktree configuration": func(r *gitRepo, trap string) {
			r.write(".gitattributes", "* filter=evil\n")
			r.git("config", "extensions.worktreeConfig", "true")
			r.git("config", "--worktree", "filter.evil.clean", trap)
		},
		"included configuration": func(r *gitRepo, trap string) {
			r.write(".gitattributes", "* filter=evil\n")
			r.write("more.cfg", "[filter \"evil\"]\n\tclean = "+trap+"\n")
			r.git("config", "include.path", "../more.cfg")
		},
		"fsmonitor": func(r *gitRepo, trap string) { r.git("config", "core.fsmonitor", trap) },
		"hook": func(r *gitRepo, trap string) {
			r.write(".git/hooks/post-index-change", "#!/bin/sh\n"+trap+"\n")
		},
		"pager": func(r *gitRepo, trap string) { r.git("config", "core.pager", trap) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newGitRepo(t)
			r.begin()
			mark := filepath.Join(t.TempDir(), "pwned")
			r.write("trap.sh", "#!/bin/sh\ntouch '"+mark+"'\ncat\n")
			trap := filepath.Join(r.dir, "trap.sh")
			set(r, trap)
			r.write("a.txt", "two\n")
			for _, tl := range []tool.Tool{GitStatus(), GitDiff(), GitLog()} {
				got := procCall(t, tl, r.tool, `{}`)
				if got.Error {
					t.Errorf("%s: %+v", tl.Spec.Name, got)
				}
				if tl.Spec.Name == "git_diff" && !strings.Contains(got.Text, "+two") {
					t.Errorf("%+v", got)
				}
				if _, err := os.Stat(mark); err == nil {
					t.Fatalf("%s ran it", tl.Spec.Name)
				}
			}
			if name == "pager" {
				return // only used on a terminal
			}
			for _, args := range [][]string{{"diff"}, {"status"}, {"update-index", "--refresh"}, {"add", "a.txt"}} {
				cmd := processtest.Git(r.dir, args...)
				cmd.Env = append(cmd.Env, r.env...)
				_ = cmd.Run()
			}
			if _, err := os.Stat(mark); err != nil {
				t.Error("the trap does not work: the test proves nothing")
			}
		})
	}
}

func TestGitFiltersThatCannotBeNamed(t *testing.T) {
	t.Parallel()
	r := newGitRepo(t)
	r.begin()
	sh := r.tool.Shell.(*procShell)
	sh.ran = &tool.Ran{Output: "local\x00filter.\uFFFD.clean\x00", Bytes: 24, Exit: procCode(0)}
	if got := procCall(t, GitStatus(), r.tool, `{}`); !got.Error || len(sh.runs) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestGitMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ran  tool.Ran
		want string
	}{
		{tool.Ran{Output: "bash: git: command not found", Exit: procCode(127)}, "git is not installed"},
		{tool.Ran{Output: "fatal: detected dubious ownership in repository", Exit: procCode(128)}, "safe.directory"},
		{tool.Ran{TimedOut: true}, "stopped after"},
		{tool.Ran{Output: "fatal: odd", Exit: procCode(128)}, "git failed: fatal: odd"},
	} {
		env := tool.Env{Shell: &procShell{ran: &c.ran}}
		for _, tl := range []tool.Tool{GitStatus(), GitLog(), GitDiff()} {
			if got := procCall(t, tl, env, `{}`); !got.Error || !strings.Contains(got.Text, c.want) {
				t.Errorf("%s: %+v", tl.Spec.Name, got)
			}
		}
	}
}
