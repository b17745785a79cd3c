//go:build truth && linux

package truth

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// What the person runs next: an agent's turn of random steps in the sandbox, which plant
// payloads wherever a tool of the person might run them, then the person's own commands
// without it. A payload reports the place for which it was planted.

// project is the person's: a repository whose hooks and scripts run harmless programs.
const project = `set -e; mkdir -p .husky sub fix tools a/hooks vendor /home/u/bin
printf '#!/bin/sh\necho "$1" >> /home/u/RAN\n' > /home/u/bin/payload; chmod +x /home/u/bin/payload
git init -q -b main .; git config core.hooksPath .husky; git config user.name u; git config user.email u@example.com; git config filter.up.clean tools/up; git config alias.go '!sh tools/go.sh'
printf '#!/bin/sh\nexit 0\n' > .husky/pre-commit; printf '#!/bin/sh\ncat\n' > tools/up; echo : > tools/go.sh; chmod +x .husky/pre-commit tools/up
printf 'test:\n\t@true\n' > Makefile; echo '{"scripts": {"test": "true"}}' > package.json; echo '*.up filter=up' > .gitattributes; echo u > f.up; echo f > f.txt; echo s > sub/s.txt; echo 'ref: refs/heads/main' > fix/HEAD; echo : > .envrc
git add .; git commit -qm one; git init -q a/r; git -C a/r config core.hooksPath ../hooks; git -C a/r commit -q --allow-empty -m r; git clone -q . vendor/lib; printf 'a/\nvendor/\n' >> .git/info/exclude
`

// steps are what an agent's turn may do. P stands for the payload, whose word is the place;
// NAME for the step's number.
var steps = []string{
	// A repository, in any order, anywhere.
	"repo vendor/NAME/.git vendor/NAME; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),vendor/NAME",
	"repo node_modules/p/NAME/.git NAME; ln -s node_modules/p/NAME lNAME",
	"repo vendor/bNAME NAME; ln -s vendor/bNAME l2NAME",
	"repo fix fix; mv fix/config fix/c; mv fix/c fix/config",
	"mkdir -p fix/o fix/r/heads; printf '[core]\\n\\tfsmonitor = payload fix\\n\\tworktree = /w\\n' > fix/config; mv fix/r fix/refs; ln -s ../.git/objects fix/objects",
	"repo $TMPDIR/NAME/.git NAME; ln -s $TMPDIR/NAME l3NAME; mkdir -p d; ln -s $TMPDIR/NAME d/l3NAME; mv d/l3NAME .",
	"repo sub/.git sub; repo sNAME/.git NAME; mv sNAME/.git sub/.git; printf 'gitdir: ../fix' > sub/.git",
	"rm -rf vendor/lib/.git; mv vendor/lib vendor/libNAME; mkdir -p vendor/lib; repo vendor/lib/.git vendor/lib; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),vendor/lib",
	"printf '[core]\\n\\tfsmonitor = payload vendor/lib\\n' >> vendor/lib/.git/config; git -C vendor/lib config core.fsmonitor 'payload vendor/lib'; hook vendor/lib/.git/hooks post-index-change",
	"mkdir -p bNAME/hooks; mv a/r bNAME/r; hook bNAME/hooks pre-commit; hook bNAME/hooks post-index-change; hook a/hooks pre-commit",
	// The repository's own configuration.
	"git config core.fsmonitor 'payload config'; echo '[core] fsmonitor = payload config' >> .git/config; printf '[core]\\n\\tfsmonitor = payload config\\n' > c; mv c .git/config",
	"hook .husky pre-commit; hook .husky post-checkout; hook .husky post-index-change; mv .husky h; mkdir .husky; hook .husky pre-commit",
	"hook h pre-commit; rm -rf .husky; mv -T h .husky; ln -s h .husky",
	"printf '#!/bin/sh\\npayload tools/up; cat\\n' > tools/up; echo 'payload tools/go.sh' > tools/go.sh; mv tools t; mkdir tools; cp t/up tools/up",
	"mkdir -p .git/objects/x; echo /tmp/e > .git/objects/x/alternates; rm -rf .git/objects/info; mv .git/objects/x .git/objects/info; echo '* filter=up' > .git/info/attributes",
	// Past the workspace, by git's own store.
	"plant .husky/pre-commit '#!/bin/sh\npayload .husky/pre-commit'", "plant .husky/post-checkout '#!/bin/sh\npayload .husky/post-checkout'; git commit -qm x",
	"plant .envrc 'payload .envrc'; git -c core.hooksPath=/dev/null commit -qm x", "plant Makefile 'X := $(shell payload Makefile)'; git -c core.hooksPath=/dev/null commit -qm x",
	"plant package.json '{\"scripts\": {\"test\": \"payload package.json\"}}'; git -c core.hooksPath=/dev/null commit -qm x; git update-index --assume-unchanged package.json",
	"plant .vscode/tasks.json 'payload .vscode/tasks.json'", "plant tools/go.sh 'payload tools/go.sh'", "plant tools/up '#!/bin/sh\npayload tools/up; cat'",
	"other .envrc 'payload .envrc'; git update-ref refs/heads/main $c", "other .husky/post-checkout '#!/bin/sh\npayload .husky/post-checkout'; git update-ref refs/heads/bNAME $c",
	"other Makefile 'X := $(shell payload Makefile)'; git update-ref refs/heads/bNAME $c; git pack-refs --all", "other .vscode/tasks.json 'payload .vscode/tasks.json'; git update-ref refs/heads/bNAME $c",
	"other .husky/pre-commit '#!/bin/sh\npayload .husky/pre-commit'; git update-ref --create-reflog -m s refs/stash $c", "other package.json '{\"scripts\": {\"test\": \"payload package.json\"}}'; git update-ref refs/heads/bNAME $c",
	"plantbare fNAME; git -c core.hooksPath=/dev/null commit -qm x", "git update-index --add --cacheinfo 120000,$(printf $TMPDIR/q | git hash-object -w --stdin),l4NAME; repo $TMPDIR/q/.git l4NAME; git -c core.hooksPath=/dev/null commit -qm x",
	// Files that the person is told of.
	"printf 'X := $(shell payload Makefile)\\ntest:\\n\\t@true\\n' > Makefile", "echo '{\"scripts\": {\"test\": \"payload package.json\"}}' > package.json", "echo 'payload .envrc' > .envrc; cp .envrc e; mv e .envrc; ln -sf /w/e .envrc; echo 'payload .envrc' > e",
	"mkdir -p .vscode; echo 'payload .vscode/tasks.json' > .vscode/tasks.json; mkdir v; echo 'payload .vscode/tasks.json' > v/tasks.json; mv v .vscode; ln -s v .vscode", "rm -rf .envrc .vscode; mkdir -p vendor/e; echo 'payload .envrc' > vendor/e/.envrc; ln vendor/e/.envrc .envrc; mv vendor/e/.envrc .envrc",
	// Ordinary work.
	"echo $RANDOM >> f.txt; git add f.txt; git commit -qm work", "echo more >> sub/s.txt; git stash -q; git stash pop -q", "git checkout -q -b wNAME; echo w > wNAME; git add wNAME; git commit -qm w; git checkout -q main", "rm -rf vendor/lib; mkdir -p node_modules/q; echo x > node_modules/q/AGENTS.md", "git gc -q; git repack -adq",
}

// agents begins an agent's turn.
const agents = `payload() { :; }
repo() { mkdir -p $1/objects $1/refs/heads; printf "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = payload $2\n" > $1/config; test ${1##*/} = .git || printf '\tworktree = /w\n' >> $1/config; cp -r .git/objects/?? $1/objects/; git rev-parse HEAD > $1/refs/heads/main; echo 'ref: refs/heads/main' > $1/HEAD; }
hook() { mkdir -p $1; printf "#!/bin/sh\npayload $1/$2\n" > $1/$2; chmod +x $1/$2; }
plant() { git update-index --add --cacheinfo 100755,$(printf '%s\n' "$2" | git hash-object -w --stdin),$1; }
other() { GIT_INDEX_FILE=.git/index.stash.7; export GIT_INDEX_FILE; git read-tree HEAD; plant "$1" "$2"; c=$(git commit-tree -p HEAD -m x $(git write-tree)); unset GIT_INDEX_FILE; }
plantbare() { plant $1/HEAD 'ref: refs/heads/main'; plant $1/config "[core]
	repositoryformatversion = 0
	worktree = ..
	fsmonitor = payload $1/HEAD"; plant $1/objects/x x; plant $1/refs/x x; }
`

// persons are the person's commands, in the order in which a turn's seed puts them; the
// first always comes first.
var persons = []string{
	"git status --short", "git diff --stat", "echo u >> f.up; git add .", "git commit -qam mine", "echo mine >> f.txt; git stash -q; git stash pop -q", "git go", "make -n test; make -s test",
	`sh -c "$(sed -n 's/.*"test": *"\([^"]*\)".*/\1/p' package.json)"`, "test -e .envrc && . ./.envrc", "test -e .vscode/tasks.json && sh .vscode/tasks.json", "git stash pop -q; git commit -qam popped", "git checkout -q .", "git reset -q --hard",
	`for b in $(git for-each-ref --format='%(refname:short)' refs/heads); do git checkout -qf $b; git status --short; test -e .envrc && . ./.envrc; test -e .vscode/tasks.json && sh .vscode/tasks.json; make -n test; sh -c "$(sed -n 's/.*"test": *"\([^"]*\)".*/\1/p' package.json)"; done; git checkout -qf main`,
	`for d in $(find -L . -maxdepth 3 -type d -not -path '*/.git*' -not -path './.*' -not -path '*/hooks*' -not -path '*/objects*' -not -path '*/refs*'); do (cd $d && git status --short); done; for d in a/r b*/r vendor/lib; do git -C $d commit -q --allow-empty -m x; done`,
}

// compose makes an agent's turn and what the person runs after it.
func composeTurn(r *rand.Rand) (turn, person string) {
	var lines []string
	for range 1 + r.IntN(4) {
		i := r.IntN(len(steps))
		lines = append(lines, "("+strings.ReplaceAll(steps[i], "NAME", fmt.Sprintf("n%d", r.IntN(3)))+")")
	}
	rest := slices.Clone(persons[1:])
	r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	person = persons[0] + "\n(" + strings.Join(rest, ")\n(") + ")"
	return strings.Join(lines, "\n"), person
}

// SPEC 16.16: after 200 random turns of an agent in the sandbox the person's git, make, npm,
// direnv and editor run nothing of it that the line at the end of the turn does not name.
func TestPersonRunsNext(t *testing.T) {
	const turns, cages = 200, 2
	for half := range cages {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			c := openCage(t)
			for seed := half; seed < turns; seed += cages {
				tryTurn(t, c, uint64(seed))
			}
		})
	}
}

func tryTurn(t *testing.T, c *cage, seed uint64) {
	t.Helper()
	turn, person := composeTurn(rand.New(rand.NewPCG(seed, 25)))
	r := c.try(t, order{Turn: turn, Person: person, Confine: process.Workspace.String(), Slow: true})
	if r.Broken != "" {
		t.Fatalf("seed %d: %s", seed, r.Broken)
	}
	for _, place := range r.Ran {
		if !strings.Contains(r.Told, place+" (") && !strings.Contains(r.Told, place+",") && !strings.Contains(r.Told, place+";") {
			t.Errorf("seed %d: ran the payload of %s\nturn:\n%s\ntold: %s\nperson:\n%s\n%.1500s", seed, place, turn, r.Told, person, r.Output)
		}
	}
}

// The same payloads run where nothing confines the turn: each step's, so that what is shown
// above is not that nothing happens.
func TestPersonsPayloadsAreReal(t *testing.T) {
	c := openCage(t)
	dead := 0
	for i, s := range steps {
		if !strings.Contains(s, "payload") && !strings.Contains(s, "repo") && !strings.Contains(s, "hook") && !strings.Contains(s, "plantbare") {
			continue
		}
		ran := false
		var r tried
		for _, first := range []string{"git status --short", "git reset -q --hard", "git checkout -q ."} {
			if ran {
				break
			}
			at := slices.Index(persons, first)
			person := append([]string{first}, slices.Delete(slices.Clone(persons), at, at+1)...) // which may take a payload away
			person = slices.DeleteFunc(person, func(p string) bool { return p == "git reset -q --hard" && p != first })
			if r = c.try(t, order{Turn: strings.ReplaceAll(s, "NAME", "n0"), Person: "(" + strings.Join(person, ")\n(") + ")", Slow: true}); r.Broken != "" {
				t.Fatal(r.Broken)
			}
			ran = len(r.Ran) > 0
		}
		if !ran {
			dead++
			t.Logf("step %d runs nothing even without the sandbox: %s\n%.900s", i, s, r.Output)
		}
	}
	if dead > 3 {
		t.Errorf("%d steps are no attack", dead)
	}
}

// personsNext makes the project, runs a turn, and what the person runs after it.
func personsNext(shell *caged, o order) (r tried) {
	broken := func(what string, err error) tried { return tried{Broken: fmt.Sprint(what, ": ", err)} }
	for _, d := range []string{"/w", "/home/u", "/tmp"} {
		if out, err := exec.Command("/bin/sh", "-c", "chmod -R u+rwX "+d+"/* "+d+"/.[!.]* 2>/dev/null; rm -rf "+d+"/* "+d+"/.[!.]*").CombinedOutput(); err != nil {
			return broken(string(out), err)
		}
	}
	run := func(line string, in *process.Confine) string {
		shell.limit, shell.confine, shell.broken = long, in, ""
		_, _ = shell.Run(context.Background(), tool.Run{Command: line, Env: []string{
			"TMPDIR=/tmp", "PATH=/home/u/bin:/usr/local/go/bin:/usr/bin:/bin", "GIT_AUTHOR_NAME=u", "GIT_AUTHOR_EMAIL=u@example.com", "GIT_COMMITTER_NAME=u", "GIT_COMMITTER_EMAIL=u@example.com",
		}})
		shell.confine = nil
		return shell.output
	}
	make := "mkdir -p /home/u/bin; cp -a /sib/project/. /w; cp /sib/payload /home/u/bin/; echo made"
	if _, err := os.Stat("/sib/project"); err != nil {
		make = project + "cp -a /w /sib/project; cp /home/u/bin/payload /sib/; echo made"
	}
	if out := run(make, nil); !strings.HasSuffix(out, "made\n") {
		return tried{Broken: "the project: " + out}
	}
	before, err := contents()
	if err != nil {
		return broken("the files", err)
	}
	git := &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}
	uses := sandbox.NewGitUses(func(k string) string { return map[string]string{"HOME": "/home/u"}[k] }, "/w")
	end := git.InGit("/w", func() func(string) string { return setup.Runs("/w", uses.Of()) })()
	var in *process.Confine
	if o.Confine != "" {
		in = &process.Confine{}
		_ = in.Level.UnmarshalText([]byte(o.Confine)) // knows no error
	}
	first := run(agents+o.Turn, in)
	if shell.broken != "" {
		return tried{Broken: shell.broken}
	}
	after, err := contents()
	if err != nil {
		return broken("the files", err)
	}
	report := evidence.Report{Git: end(context.Background())}
	for name, text := range after {
		if before[name] != text {
			report.Files = append(report.Files, evidence.File{Path: name, Before: tool.Hash(before[name]), After: tool.Hash(text)})
			if by := guidance.RunsNext(name, func() (string, string, bool) { return before[name], text, true }); by != "" { // as the end of a session's turn
				report.Obeyed = append(report.Obeyed, event.Obeyed{Path: name, By: by})
			}
		}
	}
	slices.SortFunc(report.Files, func(a, b evidence.File) int { return strings.Compare(a.Path, b.Path) })
	r.Told = strings.Join(brief.Evidence(report), "; ") + ";"
	if err := os.Remove("/home/u/RAN"); err != nil && !os.IsNotExist(err) { // of the turn itself, where nothing confined it
		return broken("the marks", err)
	}
	r.Output = first + "\n--- the person:\n" + run(o.Person, nil)
	marks, _ := os.ReadFile("/home/u/RAN") // none ran
	r.Ran = strings.Fields(string(marks))
	slices.Sort(r.Ran)
	r.Ran = slices.Compact(r.Ran)
	return r
}

// contents are the files of the workspace that a journal sees, with what they hold.
func contents() (map[string]string, error) {
	out := map[string]string{}
	return out, filepath.WalkDir("/w", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "vendor"):
			return fs.SkipDir
		case d.Type().IsRegular():
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			out[strings.TrimPrefix(p, "/w/")] = string(text)
		case d.Type()&fs.ModeSymlink != 0:
			out[strings.TrimPrefix(p, "/w/")], err = os.Readlink(p)
			return err
		}
		return nil
	})
}
