package tools

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 16.6: git that is judged to only read runs nothing that the repository's
// own configuration names, and shows the same as without it.
func TestGitIsClosed(t *testing.T) {
	r := newGitRepo(t)
	env := tool.Env{Shell: r.tool.Shell, Files: rootOnly{root: r.dir}}
	ran := filepath.Join(t.TempDir(), "ran")
	sh := func(script string) {
		t.Helper()
		c := exec.Command("sh", "-ec", script)
		c.Dir = r.dir
		c.Env = append(append(os.Environ(), r.env...), "RAN="+ran)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	sh(`git init -q . && git config user.email a@b && git config user.name n
printf 'one\n' > f.txt; printf '*.txt diff=d filter=f\n' > .gitattributes; git add . && git commit -qm one
printf 'two\n' > f.txt
printf '#!/bin/sh\necho ran "$@" >> '"$RAN"'\ncat\n' > evil.sh; chmod +x evil.sh
git config core.fsmonitor "$PWD/evil.sh"; git config diff.external "$PWD/evil.sh"; git config gpg.program "$PWD/evil.sh"
git config diff.d.textconv "$PWD/evil.sh"; git config diff.d.command "$PWD/evil.sh"
git config filter.f.clean "$PWD/evil.sh"; git config filter.f.process "$PWD/evil.sh"; git config core.pager "$PWD/evil.sh"
git config alias.status "!$PWD/evil.sh"; git config log.showSignature true; git config format.pretty 'format:%G? %s'
mkdir -p .git/hooks; cp evil.sh .git/hooks/post-index-change
mkdir -p bare/objects bare/refs; echo 'ref: refs/heads/main' > bare/HEAD
printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = '"$PWD"'/evil.sh\n' > bare/config
rm -f "$RAN"`)
	for _, line := range []string{
		"git status", "git status --short", "git diff", "git diff --stat", "git diff HEAD", "git log -p -1", "git log -1", "git show", "git show HEAD:f.txt", "git blame f.txt", "git grep -n one", "git grep two",
		"git ls-files -m", "git stash list", "git log --stat", "git diff-files -p", "git diff-index -p HEAD", "git -C . status", "git -C bare status", "cd bare && git status", "cd bare; git ls-files -m", "for i in 1 2; do git diff; done",
		"git status | head -3", "git diff > out.patch", "git rev-parse HEAD && git status",
	} {
		in, _ := json.Marshal(bashArgs{Command: line})
		res := must.Get(Bash().Run(context.Background(), env, in))(t)
		if b, err := os.ReadFile(ran); err == nil {
			t.Errorf("%s ran a program of the repository: %s", line, b)
			_ = os.Remove(ran)
		}
		if line == "git diff" && (!strings.Contains(res.Text, "-one") || !strings.Contains(res.Text, "+two")) {
			t.Errorf("%s shows %s", line, res.Text)
		}
	}
}
