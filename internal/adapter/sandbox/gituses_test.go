//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.3, 16.12: what git's configuration runs or reads of a workspace.
func TestKeptByGit(t *testing.T) {
	root := folder(t)
	for _, name := range []string{"tools/merge.js", "scripts/deploy.sh", "src/main.go", "status", "node_modules/.bin/x", "fs.sh", "included", "deep"} {
		file := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, nil, 0o644))
	}
	must.Write(t, filepath.Join(root, "included"), "[include]\n\tpath = deep\n[include]\npath = included\n")
	must.Write(t, filepath.Join(root, "deep"), "[core]\nhooksPath = from-deep\n")
	for text, want := range map[string]string{
		"[core]\n\thooksPath = .githooks\n":                                          ".githooks",
		"[core] hookspath=\".githooks\" # ours":                                      ".githooks",
		"[CORE]\nHooksPath = .husky/_":                                               ".husky .husky/_",
		"[core]\n hooksPath = " + root + "/h":                                        "h",
		"[core]\n hooksPath = .git\\\nhooks":                                         ".githooks",
		"[core]\n\thooksPath = /usr/share/hooks\n[core]\nhooksPath = ../out":         filepath.Join(filepath.Dir(root), "out") + " /usr/share/hooks",
		"[include]\n\tpath = ../.gitconfig":                                          ".gitconfig",
		"[includeIf \"gitdir:~/a]b/\"]\npath = ../x":                                 "x",
		"[include]\npath = ../included":                                              "deep from-deep included",
		"[core]\nfsmonitor = ./fs.sh\n":                                              "fs.sh",
		"[core]\nfsmonitor = true\n":                                                 "",
		"[merge \"js\"]\n\tdriver = node tools/merge.js %O %A %B":                    "tools/merge.js",
		"[filter \"x\"]\nclean = 'tools/merge.js'\nsmudge=cat|tools/merge.js":        "tools/merge.js",
		"[alias]\n\td = !sh scripts/deploy.sh\n\ts = status src/main.go":             "scripts/deploy.sh",
		"[diff \"d\"]\n textconv = node_modules/.bin/x":                              "",
		"[remote \"origin\"]\nurl = src/main.go\nfetch = status\nuploadpack = fs.sh": "fs.sh",
		"[branch \"status\"]\nremote = status\n[user]\nname = status":                "",
		"; hooksPath = x\n# [core]\nhooksPath = x\n[broken\nhooksPath = y":           "",
		"[core]\nattributesFile = .attrs\nautocrlf = input":                          ".attrs",
	} {
		config := filepath.Join(root, ".git", "config")
		must.Write(t, config, text)
		var got []string
		for _, k := range NewGitUses(func(string) string { return "" }, root).paths() {
			got = append(got, strings.TrimPrefix(k, root+"/"))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// SPEC 16.3, 16.12: hooks and configuration that lie in the workspace stay, however
// they are tried, and what is beside them can be changed.
func TestHooksInTheWorkspaceStay(t *testing.T) {
	root := folder(t)
	bash(t, nil, root, `set -e; git init -q .; git config core.hooksPath tools/hooks; git config include.path ../.gitmore; git config --add include.path ../conf/none
		mkdir -p tools/hooks; echo mine > tools/hooks/pre-commit; printf '[alias]\n\tx = "!sh tools/x.sh"\n' > .gitmore; echo mine > tools/x.sh; echo mine > tools/free`)
	look := "cat tools/hooks/pre-commit .gitmore tools/x.sh; ls -A tools tools/hooks; ls conf 2>/dev/null; stat -c %a tools/hooks/pre-commit .gitmore"
	before := bash(t, nil, root, look)
	box := open(t, confine.Workspace, root)
	out := bash(t, box, root, `for f in tools/hooks/pre-commit .gitmore tools/x.sh; do
			echo evil >> $f; echo evil > $f; cp /bin/true $f; ln -sf /bin/true $f; rm -f $f; mv $f away; chmod 777 $f; truncate -s 0 $f; ln $f second && echo evil >> second; echo e > new; mv new $f
			python3 -c "import os; os.replace('tools/free', '$f')"
		done
		echo evil > tools/hooks/post-commit; mkdir tools/hooks/d; ln -s x tools/hooks/l; mv tools/hooks h; mv tools t; rm -rf tools/hooks; mkdir n; mv -T n tools; mkdir conf; echo evil > conf/none; ln -s tools/hooks lk; echo evil > lk/post-merge
		(cd tools/hooks && echo evil > update); rm -f second new lk`)
	if after := bash(t, nil, root, look); after != before {
		t.Errorf("before:\n%s\nafter:\n%s\n%s", before, after, out)
	}
	if got := bash(t, box, root, "set -e; echo new > tools/free; mkdir tools/sub; echo a > tools/sub/b; rm -r tools/sub; mkdir -p tools; cat tools/free; sh tools/x.sh 2>&1 | head -1; cat tools/hooks/pre-commit"); !strings.HasPrefix(got, "new\n") || !strings.HasSuffix(got, "mine\n") {
		t.Errorf("beside them: %s", got)
	}
}

// SPEC 16.3, 16.12: no link of the workspace makes a repository, or a protected
// file, of what lies in the sandbox's own folders, where every name is free.
func TestLinksToFreeFolders(t *testing.T) {
	root := folder(t)
	box := open(t, confine.Workspace, root)
	bash(t, box, root, `mkdir -p own d/e/f; git init -q $TMPDIR/r; git -C $TMPDIR/r config core.fsmonitor evil; R=$TMPDIR/r
		ln -s $R l1; ln -s $TMPDIR l2; ln -s / l3; ln -s p/q l4; ln -s $R p; ln -s $(dirname $TMPDIR) p; ln -s ../../../../../../../../..$R d/e/f/l5; mv d/e/f/l5 l5
		ln -s x/../$R l6; ln -s /usr/..$R l7; ln -s /usr x; ln -s $R $TMPDIR/l8; mv $TMPDIR/l8 l8; cp -P $TMPDIR/l8 l9; cp -a $TMPDIR l10
		python3 -c "import os; t=os.environ['TMPDIR']; os.symlink(t+'/r', 'l11'); os.symlink(t, 'l12')"; tar -C $TMPDIR -c r l8 | tar -x; mkdir y; ln -s y l13; rmdir y; ln -s $R y`)
	found := bash(t, nil, root, `for l in $(find . -type l; find . -type d); do test -e $l/config -o -e $l/.git && echo "$l"; done; true`)
	if found != "" {
		t.Errorf("repositories by a link:\n%s", found)
	}
	if got := bash(t, box, root, "set -e; ln -s own good; ln -s ../own d/good; ln -s /usr/bin/env tool; mv d/good d/e/good; ln -sf own good; readlink good tool; mkdir -p node_modules/.bin; ln -s ../p/cli.js node_modules/.bin/cli"); got != "own\n/usr/bin/env\n" {
		t.Errorf("ordinary links: %s", got)
	}
}

// SPEC 16.3, 16.12: wherever the configuration is, and however it names them.
func TestGitUses(t *testing.T) {
	for _, c := range []struct {
		name, make string            // a script that begins in the folder w
		root       string            // the workspace, w where it is ""
		env        map[string]string // T stands for the folder above w
		of         string            // a file that is asked about
		want       string            // of T/w
	}{
		{"a workspace in a folder of the repository", "git init -q; git config core.hooksPath sub/hooks; mkdir sub", "sub", nil, "", "sub/hooks"},
		{"hooks at the top", "git init -q; git config core.hooksPath .", "", nil, "", "pre-commit"},
		{"hooks of a link", "git init -q; git config core.hooksPath .husky; mkdir tools; ln -s tools .husky", "", nil, "", ".husky tools"},
		{"a link on the way", "git init -q; git config core.hooksPath a/l/../h; mkdir -p a b/c; ln -s ../b/c a/l", "", nil, "", "a/l b/h"},
		{"a linked worktree", "git init -q; git config core.hooksPath .hooks; git commit -qm x --allow-empty; git worktree add -q wt", "wt", nil, "", ".hooks wt/.hooks"},
		{"its own configuration", "git init -q; git config extensions.worktreeConfig true; git commit -qm x --allow-empty; git worktree add -q wt; git -C wt config --worktree core.hooksPath own", "wt", nil, "", "wt/own"},
		{"a linked worktree inside", "git init -q; git config extensions.worktreeConfig true; git commit -qm x --allow-empty; git worktree add -q wt; git -C wt config --worktree core.hooksPath ../above", "", nil, "", "above"},
		{"a submodule", "git init -q s; git -C s commit -qm x --allow-empty; git init -q; git -c protocol.file.allow=always submodule -q add ./s sub 2>&1; git -C sub config core.hooksPath ../shared", "", nil, "", "shared"},
		{"a bare repository inside", "git init -q; git init -q --bare b", "", nil, "b/x", "b/commondir b/config b/config.worktree b/gitdir b/hooks b/info/attributes"},
		{"a repository inside", "git init -q; git init -q in/r; git -C in/r config core.hooksPath h", "", nil, "in/r/h/x", "in/r/h"},
		{"the folder .git elsewhere", "git init -q --separate-git-dir=../g; git config core.hooksPath h", "", nil, "", "h"},
		{"the person's own", "git init -q; git config --global core.hooksPath '~/w/h'", "", nil, "", "h"},
		{"by XDG_CONFIG_HOME", "git init -q; mkdir -p ../x/git; git config -f ../x/git/config core.hooksPath h", "", map[string]string{"XDG_CONFIG_HOME": "T/x"}, "", "h"},
		{"by GIT_CONFIG_GLOBAL", "git init -q; git config -f ../gl alias.x '!sh ./x.sh'", "", map[string]string{"GIT_CONFIG_GLOBAL": "T/gl"}, "", "x.sh"},
		{"by GIT_CONFIG_COUNT", "git init -q", "", map[string]string{"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "Core.HooksPath", "GIT_CONFIG_VALUE_0": "h", "GIT_CONFIG_KEY_1": "include.path", "GIT_CONFIG_VALUE_1": "T/w/inc"}, "", "h inc"},
		{"by GIT_CONFIG_PARAMETERS", "git init -q", "", map[string]string{"GIT_CONFIG_PARAMETERS": "'core.hooksPath'='h' 'core.attributesfile=at'"}, "", "at h"},
		{"by GIT_SSH_COMMAND", "git init -q", "", map[string]string{"GIT_SSH_COMMAND": "./tools/ssh -x"}, "", "tools/ssh"},
		{"by GIT_DIR", "git init -q --bare ../b; git -C ../b config core.hooksPath h", "", map[string]string{"GIT_DIR": "T/b"}, "", "h"},
		{"no repository yet", "git config --global core.hooksPath .githooks", "", nil, "", ".githooks"},
		{"templates", "git init -q; git config --global init.templateDir ~/w/tmpl", "", nil, "", "tmpl"},
		{"a program that is not there yet", "git init -q; git config alias.d '!sh scripts/d.sh --x=origin/main'; git config filter.f.clean 'tools/f clean'; mkdir -p origin/main", "", nil, "", "scripts/d.sh tools/f"},
		{"settings that nobody listed", "git init -q; echo > j.sh; git config some.new.thing './j.sh'; git config gpg.ssh.defaultKeyCommand k/y.sh; git config remote.o.url 'ext::sh e/x.sh'", "", nil, "", "e/x.sh j.sh k/y.sh"},
		{"hooks that are links", "git init -q; ln -s ../../tools/h .git/hooks/pre-push", "", nil, "", ".git/hooks/pre-push tools/h"},
		{"hooks of pre-commit", "git init -q; echo 'exec python -mpre_commit hook-impl' > .git/hooks/pre-commit", "", nil, "", ".pre-commit-config.yaml .pre-commit-config.yml prek.toml"},
		{"hooks of husky that are hk's", "git init -q; git config core.hooksPath .husky/_; mkdir -p .husky/_; echo 'hk run pre-push' > .husky/pre-push", "", nil, "", ".config/hk.pkl .husky .husky/_ hk.pkl"},
		{"a hook that is the project's", "git init -q; echo 'make lint; npm test; go test ./...' > .git/hooks/pre-commit", "", nil, "", ""},
		{"settings that run nothing", "git init -q; echo > j; git config commit.template j; git config user.name j; git config branch.j.merge j; git config alias.s 'log j'; git config core.excludesFile j; git config remote.o.url j", "", nil, "", ""},
	} {
		top := folder(t)
		w := filepath.Join(top, "w")
		must.Do(t, os.Mkdir(w, 0o755))
		cmd := exec.Command("bash", "-ec", c.make)
		cmd.Dir, cmd.Env = w, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, out)
		}
		env := func(name string) string {
			if name == "HOME" {
				return top
			}
			return strings.ReplaceAll(c.env[name], "T/", top+"/")
		}
		var of []string
		if c.of != "" {
			of = []string{filepath.Join(w, c.of)}
		}
		var got []string
		for _, k := range NewGitUses(env, filepath.Join(w, c.root)).paths(of...) {
			if rel, ok := strings.CutPrefix(k, w+"/"); ok {
				got = append(got, rel)
			}
		}
		slices.Sort(got)
		if c.want == "pre-commit" && slices.Contains(got, "pre-commit") && slices.Contains(got, "post-merge") {
			continue
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// SPEC 16.3, 16.12: a person who changes git's configuration during a session is
// heard, and so are the repositories in the workspace.
func TestGitUsesChange(t *testing.T) {
	root := folder(t)
	bash(t, nil, root, "set -e; git init -q; mkdir old new; git init -q in; git -C in config core.hooksPath h; mkdir link; ln -s link .hk; git config core.hooksPath old")
	b := NewBoxes(os.Getenv, root, "", t.TempDir())
	t.Cleanup(func() { _ = b.Close() })
	try := func(file string) bool {
		box, _, err := b.box(process.Confine{Level: process.Workspace}, root)
		must.Do(t, err)
		bash(t, box, root, "rm -f "+file+"; echo evil > "+file)
		_, err = os.Stat(filepath.Join(root, file))
		return err == nil
	}
	if try("old/x") || !try("new/x") {
		t.Error("at first")
	}
	bash(t, nil, root, "rm new/x; git config core.hooksPath new")
	if try("new/x") || !try("old/y") {
		t.Error("after a change")
	}
	bash(t, nil, root, "git config core.hooksPath .hk")
	for _, file := range []string{".hk/x", "link/x", ".hk", "in/h", "in/h/x", "in/.git/hooks/x", ".HK/x"} {
		if at := filepath.Join(root, file); try(file) && file != ".hk" {
			t.Errorf("%s was written", at)
		}
	}
	if to, err := os.Readlink(filepath.Join(root, ".hk")); err != nil || to != "link" {
		t.Errorf("the link: %q, %v", to, err)
	}
}
