//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.3, 16.12: what git's configuration runs or reads of a workspace.
func TestKeptByGit(t *testing.T) {
	root := folder(t)
	for _, name := range []string{"tools/merge.js", "scripts/deploy.sh", "src/main.go", "status", "node_modules/.bin/x", "fs.sh", "included", "deep"} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "included"), []byte("[include]\n\tpath = deep\n[include]\npath = included\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "deep"), []byte("[core]\nhooksPath = from-deep\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"[core]\n\thooksPath = .githooks\n":                                          ".githooks",
		"[core] hookspath=\".githooks\" # ours":                                      ".githooks",
		"[CORE]\nHooksPath = .husky/_":                                               ".husky .husky/_",
		"[core]\n hooksPath = " + root + "/h":                                        "h",
		"[core]\n hooksPath = .git\\\nhooks":                                         ".githooks",
		"[core]\n\thooksPath = /usr/share/hooks\n[core]\nhooksPath = ../out":         "",
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
		if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range keptByGit(root, config, filepath.Join(root, "none")) {
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
