package workspace

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// SPEC 16.16: what a turn left in git and not in the workspace is told by name, however it
// came there: the person's next stash, checkout or reset would write it.
func TestInGit(t *testing.T) {
	const plant = `plant() { git update-index --add --cacheinfo ${2:-100755},$(echo evil | git hash-object -w --stdin),$1; }
		tree() { GIT_INDEX_FILE=$(git rev-parse --absolute-git-dir)/other; export GIT_INDEX_FILE; git read-tree HEAD; plant $1 $2; git write-tree; unset GIT_INDEX_FILE; }
		commit() { git commit-tree -p HEAD -m x $(tree $1 $2); }
		`
	for _, c := range []struct{ name, before, turn, want string }{
		{"the index", "", "plant .husky/pre-commit; plant a/.npmrc 100644", ".husky/pre-commit in the index, a/.npmrc in the index"},
		{"a commit", "", "plant Makefile; git commit -qm x", "Makefile in the index"},
		{"a commit past the index", "", "git update-ref HEAD $(commit .husky/pre-commit)", ".husky/pre-commit HEAD"},
		{"another branch", "", "git update-ref refs/heads/b $(commit .husky/pre-commit)", ".husky/pre-commit branch b"},
		{"a branch that is packed", "git update-ref refs/heads/old HEAD", "git update-ref refs/heads/b $(commit .husky/pre-commit); git pack-refs --all", ".husky/pre-commit branch b"},
		{"a packed branch that is moved", "git update-ref refs/heads/old HEAD; git pack-refs --all", "sed -i \"s,^.* refs/heads/old,$(commit Makefile) refs/heads/old,\" .git/packed-refs", "Makefile branch old"},
		{"a tag, a merge that stopped", "", "git update-ref refs/tags/t $(commit Makefile); commit .envrc > .git/MERGE_HEAD", ".envrc MERGE_HEAD, Makefile tag t"},
		{"a stash", "", "git update-ref --create-reflog -m s refs/stash $(commit .husky/pre-commit); git update-ref -m s refs/stash $(commit Makefile)", ".husky/pre-commit stash, Makefile refs/stash"},
		{"what was not tracked, in a stash", "", "u=$(commit .envrc); git update-ref --create-reflog -m s refs/stash $(git commit-tree -p HEAD -p HEAD -p $u -m s HEAD^{tree})", ".envrc refs/stash"},
		{"a link out of the workspace", "", "git update-index --add --cacheinfo 120000,$(printf /tmp/e | git hash-object -w --stdin),sub; git update-index --add --cacheinfo 120000,$(printf ../../e | git hash-object -w --stdin),a/l; git update-index --add --cacheinfo 120000,$(printf ../f | git hash-object -w --stdin),a/ok", "a/l in the index, sub in the index"},
		{"a bare repository", "", "plant fix/HEAD; plant fix/config", "fix/HEAD in the index"},
		{"a repository in the index", "git init -q n; git -C n commit -q --allow-empty -m n", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),n; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),none", "n in the index"},
		{"the first commit", "rm -rf .git; git init -q", "plant Makefile; git commit -qm x", "Makefile in the index"},
		{"without a branch", "git checkout -q --detach", "git update-ref HEAD $(commit Makefile)", "Makefile HEAD"},
		{"more packed branches than are read", "git pack-refs --all; for i in $(seq 20000); do echo \"$(printf %040d $i) refs/heads/none/$i\"; done >> .git/packed-refs", "plant Makefile; git commit -qm x; git update-ref HEAD $(commit .envrc)", ".envrc HEAD, Makefile in the index"},
		{"a linked worktree", "git worktree add -q ../t; cd ../t", "plant Makefile; git update-ref refs/heads/b $(commit .envrc)", ".envrc branch b, Makefile in the index"},
		{"an index that was changed in place", "", "touch -r .git/index ../time; cp .git/index ../i; GIT_INDEX_FILE=../i plant Makefile; cat ../i > .git/index; touch -r ../time .git/index", "Makefile in the index"},
		{"another name for the same", "", "plant .HUSKY/pre-commit; plant x/MAKEFILE", ".HUSKY/pre-commit in the index, x/MAKEFILE in the index"},

		{"ordinary work", "", "echo g > g; git add g; git commit -qm x; echo h > f; git stash -q; git stash pop -q; git branch b; git tag t", ""},
		{"what lies in the workspace", "", "echo all: > Makefile; git add Makefile; git commit -qm x; git checkout -q -b b; ln -s /usr l; git add l", ""},
		{"what the person had", "echo all: > Makefile; git add Makefile; git commit -qm x; echo b: > Makefile", "echo g > g; git add g; git commit -qm x", ""},
		{"what is removed", "echo all: > Makefile; git add Makefile; git commit -qm x", "git rm -q --cached Makefile; git commit -qm x", ""},
		{"nothing", "", "git status", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "w")
			must.Do(t, os.Mkdir(root, 0o755))
			run := func(line string) string {
				cmd := exec.Command("bash", "-c", plant+line)
				cmd.Dir = root
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v %s", line, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			run("git init -q -b main; echo f > f; git add f; git commit -qm one")
			if at := run(c.before + "\npwd"); filepath.IsAbs(at) {
				root = at
			}
			end := plainGit.InGit(root, func() func(string) string {
				return func(abs string) string {
					if filepath.Base(abs) == "HEAD" || filepath.Base(abs) == ".envrc" {
						return "protected"
					}
					rel, _ := filepath.Rel(root, abs)
					return guidance.Obeyed(filepath.ToSlash(rel))
				}
			})()
			out := run(c.turn)
			var got []string
			for _, f := range end(context.Background()) {
				got = append(got, strings.TrimSpace(f.Path+" "+f.In))
				if f.Path == "" {
					t.Error(f)
				}
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%q, want %q\n%s", got, c.want, out)
			}
		})
	}
}
