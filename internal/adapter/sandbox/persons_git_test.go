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

// theirs begins every attempt: evil makes a repository of a folder, with its configuration
// before its HEAD; listed writes a gitlink into the index, so that git looks into it.
const theirs = `evil() { mkdir -p $1/objects $1/refs/heads; printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ZAP\n\thooksPath = HOOKS\n' > $1/config; cp -r .git/objects $1/; git rev-parse HEAD > $1/refs/heads/main; echo 'ref: refs/heads/main' > $1/HEAD; }
listed() { git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),$1; }
`

// SPEC 16.16: whatever a confined command leaves, in whichever order, the person's own git
// runs nothing of it: at the top, in a folder of packages, in a submodule, by a link.
func TestPersonsGitRunsNothing(t *testing.T) {
	for _, c := range []struct{ name, before, does, then string }{
		{"a repository in vendor", "", "mkdir vendor; evil vendor/e/.git; listed vendor/e", "git diff; git add .; git commit -qam x; git stash"},
		{"in node_modules, below a package", "", "mkdir -p node_modules/p/q; evil node_modules/p/q/.git; listed node_modules/p/q", "git diff; (cd node_modules/p/q; git status)"},
		{"a link to a repository in vendor", "mkdir sub; echo a > sub/a; git add .; git commit -qm two", "mkdir -p vendor/e; evil vendor/e/.git; cp -r sub vendor/e/; rm -r sub; ln -s vendor/e/sub sub", "cd sub; git status"},
		{"a link to a bare repository in vendor", "", "mkdir vendor; evil vendor/e; ln -s vendor/e sub", "cd sub; git status; git -c core.bare=false --work-tree=.. status"},
		{"a bare repository in node_modules", "", "mkdir node_modules; evil node_modules/r", "cd node_modules/r; git --work-tree=.. status"},
		{"HEAD is there, the rest comes", "mkdir fix; echo 'ref: refs/heads/main' > fix/HEAD; git add .; git commit -qm two", "evil fix", "cd fix; git --work-tree=.. status"},
		{"its refs come by a rename", "mkdir fix; echo 'ref: refs/heads/main' > fix/HEAD", "mkdir -p fix/x/heads fix/y; printf '[core]\n\tfsmonitor = ZAP\n' > fix/config; cp -r .git/objects fix/; mv fix/x fix/refs", "cd fix; git --work-tree=.. status"},
		{"its refs come as a link", "mkdir fix; echo 'ref: refs/heads/main' > fix/HEAD", "printf '[core]\n\tfsmonitor = ZAP\n' > fix/config; cp -r .git/objects fix/; ln -s ../.git/refs fix/refs", "cd fix; git --work-tree=.. status"},
		{"commondir comes last", "mkdir fix; echo 'ref: refs/heads/main' > fix/HEAD", "printf '[core]\n\tworktree = ..\n\tfsmonitor = ZAP\n' > fix/c; mkdir -p fix/d/objects fix/d/refs; mv fix/c fix/d/config; printf d > fix/x; mv fix/x fix/commondir", "cd fix; git status"},
		{"a submodule of vendor is replaced", "git init -q ../up; git -C ../up commit -q --allow-empty -m u; git -c protocol.file.allow=always submodule -q add ../up vendor/lib; git commit -qm sub", "rm -f vendor/lib/.git; mv vendor/lib vendor/lib2; mkdir vendor/lib; evil vendor/lib/.git; listed vendor/lib", "git diff; git commit -qam x"},
		{"a submodule's file points elsewhere", "git init -q ../up; git -C ../up commit -q --allow-empty -m u; git -c protocol.file.allow=always submodule -q add ../up vendor/lib; git commit -qm sub", "mkdir vendor/own; evil vendor/own; echo 'gitdir: ../own' > vendor/lib/.git; printf 'gitdir: ../own' > vendor/x; mv vendor/x vendor/lib/.git", "git diff"},
		{"a file .git in vendor", "", "mkdir -p vendor/e vendor/own; evil vendor/own; echo 'gitdir: ../own' > vendor/e/.git; ln -s ../own vendor/e/.git; mv vendor/own vendor/e/.git; listed vendor/e", "git diff; cd vendor/e; git status"},
		{"a link to the session's files in /tmp", "", "evil $TMPDIR/r/.git; ln -s $TMPDIR/r sub; mkdir -p d; ln -s $TMPDIR d/sub", "cd sub; git status"},
		{"a repository moves from its hooks", "mkdir -p a/hooks; git init -q a/r; git -C a/r config core.hooksPath ../hooks", "mkdir -p b/hooks; mv a/r b/r; printf '#!/bin/sh\nZAP\n' > b/hooks/pre-commit; chmod +x b/hooks/pre-commit", "cd b/r && git commit -q --allow-empty -m x"},
		{"a repository comes where none was", "mkdir -p a; git init -q r; git -C r config core.hooksPath hooks", "mkdir x; echo > x/f; rm -r x; mv r x; mkdir x/hooks; printf '#!/bin/sh\nZAP\n' > x/hooks/pre-commit; chmod +x x/hooks/pre-commit", "cd x && git commit -q --allow-empty -m x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := folder(t)
			zap, ran := filepath.Join(filepath.Dir(root), "zap"), filepath.Join(filepath.Dir(root), "ran")
			must.WriteMode(t, zap, "#!/bin/sh\necho \"$0 $@\" >> "+ran+"\n", 0o755)
			text := strings.NewReplacer("ZAP", zap, "HOOKS", filepath.Dir(zap))
			bash(t, nil, root, "git init -q -b main; echo f > f; git add f; git commit -qm one;"+c.before)
			box := open(t, confine.Workspace, root)
			out := bash(t, box, root, text.Replace(theirs+c.does))
			after := bash(t, nil, root, "git status;"+c.then)
			if got, err := os.ReadFile(ran); err == nil {
				t.Errorf("the person's git ran %s\nthe command said:\n%s\nand git:\n%s", got, out, after)
			}
		})
	}
}

// SPEC 16.16: the person's git reads no objects of a folder that a command chose.
func TestNoAlternates(t *testing.T) {
	for name, does := range map[string]string{
		"a folder with it takes the place":   "mkdir .git/objects/x; echo /tmp/e > .git/objects/x/alternates; rm -rf .git/objects/info; mv .git/objects/x .git/objects/info",
		"from the folder of logs":            "mkdir -p .git/logs/x; echo /tmp/e > .git/logs/x/alternates; rm -rf .git/objects/info; mv -T .git/logs/x .git/objects/info",
		"by an exchange":                     "mkdir -p .git/objects/x .git/objects/info; echo /tmp/e > .git/objects/x/alternates; python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\".git/objects/x\", -100, b\".git/objects/info\", 2)'",
		"with all objects":                   "mkdir -p .git/lfs/o/info; echo /tmp/e > .git/lfs/o/info/alternates; rm -rf .git/objects/*; mv -T .git/lfs/o .git/objects",
		"as a link":                          "echo /tmp/e > a; rm -rf .git/objects/info; ln -s ../../x .git/objects/info; mkdir -p .git/objects/info; ln -s ../../../a .git/objects/info/alternates; ln a .git/objects/info/alternates",
		"a folder from outside .git":         "mkdir x; echo /tmp/e > x/alternates; rm -rf .git/objects/info; mv x .git/objects/info; mkdir -p .git/objects/info; mv x/alternates .git/objects/info/; cp x/alternates .git/objects/info/",
		"from a folder of packages":          "mkdir -p vendor/x vendor/y; echo /tmp/e > vendor/y/alternates; echo /tmp/e > vendor/x/alternates; rm -rf .git/objects/info; mv vendor/x .git/objects/info; mv vendor/y .git/objects/info",
		"http-alternates":                    "mkdir -p .git/objects/info; echo /tmp/e > .git/objects/info/http-alternates",
		"of a bare repository":               "mkdir bare/objects/x; echo /tmp/e > bare/objects/x/alternates; rm -rf bare/objects/info; mv bare/objects/x bare/objects/info",
		"of a repository in vendor":          "mkdir vendor/r/.git/objects/x; echo /tmp/e > vendor/r/.git/objects/x/alternates; rm -rf vendor/r/.git/objects/info; mv vendor/r/.git/objects/x vendor/r/.git/objects/info",
		"git makes the folder info, as ever": "rm -rf .git/objects/info; git repack -adq; git commit-graph write; test -d .git/objects/info && git fsck",
	} {
		t.Run(name, func(t *testing.T) {
			root := folder(t)
			bash(t, nil, root, "git init -q -b main; echo f > f; git add f; git commit -qm one; git clone -q --bare . bare; git clone -q . vendor/r")
			out := bash(t, open(t, confine.Workspace, root), root, does)
			if got := bash(t, nil, root, "find . -path '*objects/info/alternates' -o -path '*objects/info/http-alternates'"); got != "" {
				t.Errorf("%s\n%s", got, out)
			}
			if got := bash(t, nil, root, "ls .git/objects/info"); strings.HasPrefix(name, "git makes") && !strings.Contains(got, "commit-graph") {
				t.Errorf("git cannot write there: %s\n%s", got, out)
			}
		})
	}
}

// SPEC 16.16: the everyday work of git goes on in the sandbox: what worked before works, in a
// clone in the folder for temporary files too.
func TestGitAtWork(t *testing.T) {
	for name, c := range map[string]struct{ does, want string }{
		"commit, amend, tag":  {"echo g > g; git add g; git commit -qm two; git commit -q --amend -m three; git tag v; git log --format=%s", "three\none\n"},
		"stash":               {"echo g > f; git stash -q; cat f; git stash pop -q; cat f", "f\ng\n"},
		"branch and merge":    {"git checkout -q -b b; echo g > g; git add g; git commit -qm two; git checkout -q main; git merge -q --no-ff -m m b; git log --format=%s", "m\none\ntwo\n"},
		"clone for reference": {"git clone -q . $TMPDIR/c; cd $TMPDIR/c; echo g > g; git add g; git commit -qm two; git checkout -q -b x HEAD~1; echo h > h; git add h; git commit -qm h; git rebase -q main; git log --format=%s; git worktree add -q ../wt; cat ../wt/f; git -c protocol.file.allow=always submodule -q add $TMPDIR/c sub; ls sub", "h\ntwo\none\nf\nf\ng\nh\n"},
		"cherry-pick, revert": {"git checkout -q -b b; echo g > g; git add g; git commit -qm two; git checkout -q main; git cherry-pick b >/dev/null; git revert --no-edit HEAD >/dev/null; ls", "bare\nf\nvendor\n"},
		"a bare remote":       {"git push -q bare main:new; git --git-dir=bare log --format=%s new", "one\n"},
		"a nested repository": {"cd vendor/r; echo g > g; git add g; git commit -qm two; git stash list; git log --format=%s; cd ../..; mv vendor/r vendor/q; git -C vendor/q status --short; git -C vendor/q fetch -q", "two\none\n"},
		"packages":            {"mkdir -p node_modules/p/.vscode node_modules/p/.idea vendor/x; echo a > node_modules/p/AGENTS.md; echo b > node_modules/p/.vscode/s; echo c > vendor/x/HEAD; mv node_modules/p node_modules/q; mkdir -p vendor/y/objects; echo d > vendor/y/HEAD; rm -r node_modules; cat vendor/x/HEAD vendor/y/HEAD", "c\nd\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := folder(t)
			bash(t, nil, root, "git init -q -b main; echo f > f; git add f; git commit -qm one; git clone -q --bare . bare; git clone -q . vendor/r")
			if got := bash(t, open(t, confine.Workspace, root), root, c.does); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
