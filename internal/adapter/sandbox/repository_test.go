//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.3, 16.12: in a linked worktree, a submodule and a folder of a
// repository git works as in a plain one, and what git runs stays.
func TestGitFolderOutside(t *testing.T) {
	// The state lies in the folder above here, so that nothing of that is read
	// where the workspace is a folder of a repository.
	const work = "echo new > n; git add n; git commit -qm one && git log --format=%s; git checkout -q -b side; echo z > n; git commit -qam two; git status --short; git stash list; git tag v9; git branch --format='%(refname:short)' | sort"
	for _, c := range []struct {
		name, setup, root string
		main              string // the git folder that holds hooks and config
		other             string // another worktree, which stays as it is
	}{
		{"plain", "git init -q -b main w; cd w; echo f > f; git add f; git commit -qm zero", "w", "w/.git", ""},
		{"worktree", "git init -q -b main m; cd m; echo f > f; git add f; git commit -qm zero; git worktree add -q ../w", "w", "m/.git", "m"},
		{"folder", "git init -q -b main m; cd m; mkdir sub; echo f > sub/f; git add sub; git commit -qm zero", "m/sub", "m/.git", ""},
		{"submodule", "git init -q -b main s; cd s; echo f > f; git add f; git commit -qm zero; cd ..; git init -q -b main m; cd m; git -c protocol.file.allow=always submodule add -q ../s w 2>/dev/null; git commit -qm zero", "m/w", "m/.git/modules/w", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bash(t, nil, dir, c.setup)
			root, git := filepath.Join(real(dir), c.root), filepath.Join(real(dir), c.main)
			before := bash(t, nil, dir, "cat "+git+"/config; ls "+git+"/hooks | sort")
			box := open(t, confine.Workspace, root)
			out := bash(t, box, root, work)
			if !strings.Contains(out, "one\nzero\n") || strings.Contains(strings.ReplaceAll(out, "directory '.': Permission denied", ""), "denied") || strings.Contains(out, "permitted") || strings.Contains(out, "fatal") || !strings.Contains(out, "side\n") {
				t.Errorf("%s", out)
			}
			if got := bash(t, nil, root, "git log --format=%s side; git tag; git fsck 2>&1"); got != "two\none\nzero\nv9\n" {
				t.Errorf("afterwards: %s", got)
			}
			if c.other != "" {
				if got := bash(t, nil, filepath.Join(dir, c.other), "git status --short; git branch --show-current"); got != "main\n" {
					t.Errorf("the other worktree: %s", got)
				}
			}
			attack := "echo x > G/hooks/post-commit; echo x >> G/config; git config core.fsmonitor x; mv G G2; ln -s /x G/objects/l; echo x > G/info/attributes; mkdir G/modules/x; echo x > G/objects/info/alternates; rm -r G/hooks"
			if c.other != "" {
				attack += "; echo x > G/HEAD; echo x > G/HEAD.lock; echo x > G/index; echo x > G/worktrees/w/gitdir; echo x > G/worktrees/w/commondir; echo x > G/worktrees/w/config.worktree; mkdir G/worktrees/v; echo gitdir: /x > .git"
			}
			bash(t, box, root, strings.ReplaceAll(attack, "G", git))
			if after := bash(t, nil, dir, "cat "+git+"/config; ls "+git+"/hooks | sort"); after != before {
				t.Errorf("changed:\n%s\n%s", before, after)
			}
			left := "git fsck; ls -d G2 G/objects/l G/info/attributes G/modules/x G/objects/info/alternates G/worktrees/v G/HEAD.lock G/worktrees/w/config.worktree 2>/dev/null"
			if got := bash(t, nil, root, strings.ReplaceAll(left, "G", git)); got != "" {
				t.Errorf("%s", got)
			}
		})
	}
}

// An empty .git above a workspace, as other sandboxes leave in /tmp, opens nothing there.
func TestEmptyGitAbove(t *testing.T) {
	dir := must.Dir(t)
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
	must.Do(t, os.MkdirAll(filepath.Join(dir, "w"), 0o755))
	if git, common, top := repository(filepath.Join(dir, "w"), ""); len(git)+len(common) > 0 || top == dir {
		t.Error(git, common, top)
	}
}

// A .git that came with the workspace cannot open another repository.
func TestGitFileIsNotBelieved(t *testing.T) {
	dir := real(t.TempDir())
	bash(t, nil, dir, "git init -q -b main victim; cd victim; echo f > f; git add f; git commit -qm zero; git worktree add -q ../linked; cd ..; mkdir w")
	root := filepath.Join(dir, "w")
	for _, to := range []string{"../victim/.git", dir + "/victim/.git/worktrees/linked", "../linked/.git", "..", "/", ""} {
		must.Write(t, filepath.Join(root, ".git"), "gitdir: "+to+"\n")
		if git, common, _ := repository(root, ""); git != nil || common != nil {
			t.Errorf("%q opens %v %v", to, git, common)
		}
	}
	// One that is made to look like a worktree's, inside the workspace.
	bash(t, nil, dir, "cd w; rm .git; mkdir -p g/worktrees/a; echo 'gitdir: g/worktrees/a' > .git; echo ../../../.git > g/worktrees/a/gitdir; echo ../../../../victim/.git > g/worktrees/a/commondir")
	if git, common, _ := repository(root, ""); git != nil || common != nil {
		t.Errorf("%v %v", git, common)
	}
	// A home with a repository of its own opens nothing to what lies below.
	bash(t, nil, dir, "rm -r w/.git; git init -q -b main .")
	if git, _, _ := repository(root, dir); git != nil {
		t.Error(git)
	}
}
