//go:build linux && (amd64 || arm64)

package sandbox

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.3, 16.12: a bare repository in the workspace keeps its hooks and its
// configuration, under any name, moved or copied; no folder becomes one; pushes
// to it work.
func TestBareRepositoriesInTheWorkspace(t *testing.T) {
	root := folder(t)
	bash(t, nil, root, `set -e; git init -q .; git commit -q --allow-empty -m a; mkdir -p fix; git clone -q --bare . fix/repo.git; cp -r fix/repo.git fix/plainname; git init -q --bare node_modules/p/r; git init -q --bare --shared fix/shared`)
	look := `find fix node_modules -path '*/objects' -prune -o -path '*hooks*' -print -o -name 'config*' -print -o -name commondir -print -o -name attributes -print -o -name alternates -print | sort | xargs stat -c '%n %s %a %F'`
	before := bash(t, nil, root, look)
	box := open(t, confine.Workspace, root)
	out := bash(t, box, root, `for r in fix/repo.git fix/plainname fix/shared node_modules/p/r; do
			for f in hooks/pre-receive config config.worktree commondir info/attributes objects/info/alternates; do echo evil >> $r/$f; ln -sf /tmp/x $r/$f; cp /bin/true $r/$f; done
			git --git-dir=$r config core.fsmonitor evil
			mv $r/hooks fix/moved; mv $r/config fix/c; rm -rf $r/hooks; mkdir -p $r/hooks/x; chmod 777 $r/config; ln $r/config fix/second; truncate -s 0 $r/config; rm -f $r/HEAD; mv $r/HEAD fix/h; mv $r/objects fix/o; rm -rf $r/refs; mv $r/refs fix/refs
			python3 -c "import os; os.rename('$r/config', '$r/config2')"; (cd $r && echo evil >> config; echo evil > hooks/update; ln -s /tmp hooks/l)
		done
		mkdir -p n/objects n/refs n/hooks; echo evil > n/config; cp fix/repo.git/HEAD n/HEAD; cp fix/repo.git/HEAD n/x; mv n/x n/HEAD; ln n/x n/HEAD; ln -s x n/HEAD; printf 'ref: refs/heads/main' > n/HEAD; git init -q --bare n2; git clone -q --bare . n3
		mkdir fix/repo.git/sub; echo evil > fix/repo.git/sub/file`)
	if after := bash(t, nil, root, look); after != before {
		t.Errorf("before:\n%s\nafter:\n%s\n%s", before, after, out)
	}
	if got := bash(t, nil, root, "ls n/HEAD n2/HEAD n3/HEAD 2>/dev/null"); got != "exit status 2\n" && got != "" {
		t.Error("a bare repository was made:", got)
	}
	if got := bash(t, box, root, "set -e; echo a > f; git add f; git commit -q -m b; git push -q fix/repo.git HEAD:refs/heads/new; git --git-dir=fix/repo.git log --format=%s -1 new; echo ok > fix/other; mv fix/repo.git fix/again.git; git --git-dir=fix/again.git rev-parse --is-bare-repository"); got != "b\ntrue\n" {
		t.Error("ordinary use:", got)
	}
}
