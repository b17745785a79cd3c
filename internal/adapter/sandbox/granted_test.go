//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.12: a grant outside the workspace opens no hooks and no configuration
// of any repository, wherever the repository lies and whatever it is called.
func TestGrantedRepositories(t *testing.T) {
	root := folder(t)
	other := filepath.Join(filepath.Dir(root), "other")
	bash(t, nil, root, `set -e; mkdir ../other; cd ../other; git init -q plain; cd plain; git commit -q --allow-empty -m a; git worktree add -q ../tree; cd ..
		git clone -q --bare plain bare.git; git clone -q plain deep/er/plain; git --git-dir=bare.git worktree add -q bare.git/main -b main2; mkdir -p plain/.git/modules/m/hooks
		mkdir .claude; echo a > AGENTS.md`)
	look := `cd ../other; find . -path './new*' -prune -o -path '*/objects' -prune -o -path '*hooks*' -print -o -name 'config*' -print -o -name AGENTS.md -print -o -path '*.claude*' -print -o -name commondir -print | sort | xargs stat -c '%n %s %a %F'`
	before := bash(t, nil, root, look)
	attack := `for r in plain/.git bare.git deep/er/plain/.git plain/.git/modules/m plain/.git/worktrees/tree; do
			for f in hooks/pre-commit config config.worktree commondir info/attributes; do echo evil >> $r/$f; ln -sf /tmp/x $r/$f; done
			mv $r/hooks $r/moved; mv $r/config $r/c; rm -rf $r/hooks; mkdir -p $r/hooks; chmod 777 $r/config; ln $r/config $r/second; truncate -s 0 $r/config; rm -f $r/HEAD
		done
		git -C plain config core.hooksPath /tmp; git -C bare.git config core.hooksPath /tmp; git -C bare.git/main config core.hooksPath /tmp
		echo gitdir: /tmp > tree/.git; rm -f tree/.git; echo evil >> AGENTS.md; echo evil > .claude/settings.json; git init -q new; git init -q --bare new.git
		echo ok > file; mkdir sub; echo ok > sub/file; echo ok > bare.git/main/file; cd tree; echo ok > t; git add t; git -c user.name=a -c user.email=a@b commit -qm t`
	b := NewBoxes(func(k string) string {
		return map[string]string{"HOME": "/nonexistent", "XDG_CACHE_HOME": filepath.Join(filepath.Dir(root), "cache")}[k]
	}, root, filepath.Join(root, "spill"))
	b.Temporary = true
	t.Cleanup(func() { _ = b.Close() })
	for _, granted := range []string{".", "plain", "plain/.git", "plain/.git/hooks", "plain/.git/modules/m", "bare.git", "bare.git/hooks", "bare.git/main", "deep", "bare.git/config", "plain/.git/config", "new.git"} {
		box, _, err := b.box(process.Confine{Level: process.Workspace, Writes: []string{filepath.Join(other, granted)}}, root)
		must.Do(t, err)
		out := bash(t, box, root, "cd ../other || exit; "+attack)
		if after := bash(t, nil, root, look); after != before {
			t.Errorf("granted %s: before:\n%s\nafter:\n%s\n%s", granted, before, after, out)
		}
		if granted == "." {
			if got := bash(t, nil, root, "cd ../other; cat file sub/file bare.git/main/file tree/t"); got != "ok\nok\nok\nok\n" {
				t.Error("ordinary changes did not work:", got, out)
			}
		}
	}
	p := confine.New(confine.Workspace, confine.Facts{Root: root})
	for name, want := range map[string]string{
		".": "", "plain": "", "deep": "", "tree": "", "bare.git/main": "", "bare.git": "git's own", "bare.git/hooks": "git's own", "plain/.git": "git's own", "plain/.git/worktrees/tree": "git's own",
	} {
		if err := MayGrant(p, filepath.Join(other, name), true); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(other, "new.git", "HEAD")); err == nil {
		t.Error("a bare repository was made")
	}
}
