package permission

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

const (
	root = "/home/me/w"
	home = "/home/me"
)

func policy(t *testing.T, mode Mode, from Source, allow, ask, deny []string) *Policy {
	t.Helper()
	p := New(Config{Mode: mode, Root: root, Home: home, Spill: "/home/me/.local/state/pawl/spill", State: "/home/me/.local/state/pawl", Sandbox: Sandbox{Off: true}})
	p.Trust() // the tables are of the judgement of syntax alone
	if err := p.Add(from, allow, ask, deny); err != nil {
		t.Fatal(err)
	}
	return p
}

func bash(line string) Call { return Call{Tool: "bash", Footprint: tool.Footprint{Shell: line}} }

// wanted reads a row's verdicts: one letter for each of ask, plan,
// accept-edits, auto, yolo: a allow, ? ask, d deny, R refusal.
func check(t *testing.T, rows string, rules ...string) int {
	t.Helper()
	n := 0
	for row := range strings.SplitSeq(strings.TrimSpace(rows), "\n") {
		want, line, ok := strings.Cut(strings.TrimLeft(row, "\t "), " ")
		if !ok || row == "" {
			continue
		}
		line = strings.NewReplacer("⏎", "\n", "⇥", "\t").Replace(line)
		n++
		for i, mode := range []Mode{Ask4All, Plan, AcceptEdits, Auto, Yolo} {
			p := policy(t, mode, User, rules, nil, nil)
			d := p.Decide(bash(line))
			got := map[Verdict]byte{Allow: 'a', Ask: '?', Deny: 'd'}[d.Verdict]
			if d.By == "refusal" {
				got = 'R'
			}
			if got != want[i] {
				t.Errorf("%s in %s: got %c, want %c (%s: %s)", line, mode, got, want[i], d.By, d.Reason)
			}
			if d.Reason == "" || strings.HasSuffix(d.Reason, ".") {
				t.Errorf("%s: reason %q", line, d.Reason)
			}
		}
	}
	return n
}

// SPEC 4.15, 16.2, 16.3, 16.5: what each command may do in each mode, no rule
// given. The order of the letters: ask plan accept-edits auto yolo.
func TestCommands(t *testing.T) {
	n := check(t, `
aaaaa ls
aaaaa ls -la src
aaaaa cat README.md
aaaaa cat src/*.go
aaaaa head -n 5 a.go && tail -3 b.go
aaaaa grep -rn "/api/v1" src
aaaaa grep -e foo -e bar a b
aaaaa rg foo src
aaaaa rg -n 'a|b' --glob '*.go'
aaaaa find . -name '*.go' -type f
aaaaa git status
aaaaa git log --oneline -5
aaaaa git diff HEAD~1 -- a.go
aaaaa git show HEAD:a.go
aaaaa git branch --list
aaaaa git branch -a
aaaaa git rev-parse HEAD
aaaaa git -C sub status
aaaaa git --no-pager log
aaaaa git diff main..dev
aaaaa git grep /etc/passwd
aaaaa go version
aaaaa go env GOPATH
aaaaa go list ./...
aaaaa go doc fmt.Println
aaaaa pwd
aaaaa echo hello $USER
aaaaa echo "$(git rev-parse HEAD)"
aaaaa printf '%s\n' a
aaaaa true
aaaaa test -f a && echo yes || echo no
aaaaa [ -d src ] && ls src
aaaaa [[ -f a && $X == y ]]
aaaaa wc -l a | sort -n | uniq -c | cut -d' ' -f1 | tr a b
aaaaa diff a b
aaaaa sed -n '1,20p' a.go
aaaaa sed 's/a/b/g' a.go
aaaaa awk '{print $1}' a
aaaaa cat a 2>/dev/null
aaaaa ls 2>&1 | head
aaaaa ls > /dev/null
aaaaa cd src && ls
????a cd src; ls ..
aaaaa for f in a b *.go; do wc -l "$f"; done
aaaaa i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done
aaaaa if git diff --quiet; then echo clean; fi
aaaaa time ls
aaaaa timeout 5 cat a
aaaaa LC_ALL=C sort a
aaaaa export NO_COLOR=1; ls
aaaaa command -v go
aaaaa which go
aaaaa f() { ls; }; f
aaaaa sh -c 'ls'
aaaaa bash -lc "ls && pwd"
aaaaa eval ls
aaaaa cat <<EOF⏎hello⏎EOF
aaaaa X=src; ls "$X"
aaaaa ls {a,b}
aaaaa node --version
aaaaa jq .name package.json
aaaaa date +%s
aaaaa set -euo pipefail; ls
aaaaa cat ./a.go # comment; rm -rf /
aaaaa stat /home/me/w/a
aaaaa cat /home/me/w/../w/a
aaaaa echo 'rm -rf /'
aaaaa grep -rn 'curl x | sh' .
aaaaa git log --grep='rm -rf'
?daaa echo x > a.txt
?daaa echo x >> src/a.txt
?daaa echo x >| a
?daaa cat a &> out
?daaa cat > new.go <<'EOF'⏎package x⏎EOF
?daaa cat a | tee b
?daaa sed -i 's/a/b/' a.go
?daaa mkdir -p src/new
?daaa touch a
?daaa cp a b
?daaa gofmt -w .
?d?aa mv a b
?d?aa rm a.o
?d?aa rm -f build/*.o
?d?aa rmdir old
?d?aa ln -s a b
?daaa chmod +x run.sh
?daaa go test ./...
?daaa go test -run 'TestX$' -count=1 ./pkg
?daaa go build ./...
?daaa go build -o bin/x ./cmd/x
?daaa go vet ./...
?daaa cd sub && go test ./...
?daaa CGO_ENABLED=0 go build ./...
?daaa GOOS=linux go vet ./...
?daaa go test ./... 2>&1 | tail -20
?daaa timeout 60 go test ./...
?daaa npm test
?daaa npm run lint
?daaa npm run test:unit
?daaa npm run build -- --verbose
?daaa pnpm test
?daaa yarn lint
?daaa pytest -x -q
?daaa python -m pytest tests
?daaa python3 -m pytest -k name
?daaa cargo test
?daaa cargo clippy --all-targets
?daaa make test
?daaa make -j4 check lint
?daaa just test
?daaa go fmt ./...
?d?aa git add -A
?d?aa git add a && git commit -m 'fix: x'
?d?aa git stash
?d?aa git switch -c topic
?d?aa git checkout -b topic
?d?aa git branch topic
?d??a git push
?d??a git push --force
?d??a git pull
?d??a git fetch
?d??a git clone https://x/y
?d??a git commit --amend
?d??a git commit -n -m x
?d??a git reset --hard
?d??a git checkout .
?d??a git restore a
?d??a git clean -fdx
?d??a git rebase -i HEAD~3
?d??a git rebase --exec 'rm x' HEAD~3
?d??a git stash drop
?d??a git switch -f main
?d??a git branch -D topic
?d??a git -c core.pager='rm x' log
?d??a git -c alias.x='!sh' x
?d??a git --git-dir=/x/.git log
?d??a git --exec-path=/x log
?d??a git log --output=x
?d??a git diff --ext-diff
?d??a git grep -Orm foo
?d??a git grep --open-files-in-pager=rm foo
?d??a git submodule foreach rm x
?d??a git bisect run ./x
?d??a git difftool -x rm
?d??a rm -r build
?d??a rm -rf build
?d??a rm -rf *
?d??a npm install
?d??a npm run deploy
?d??a npm run --script-shell=./x test
?d??a npm --prefix /x test
?d??a go run .
?d??a go generate ./...
?d??a go get x
?d??a go mod tidy
?d??a go test -exec ./x ./...
?d??a go test --exec=./x ./...
?d??a go vet -vettool=./x
?d??a go build -toolexec ./x
?d??a go test -ldflags=-extld=./x
?d??a go list -toolexec ./x
?d??a go env -w GOFLAGS=x
?d??a go build -mod=mod
?d??a GOFLAGS=-exec=./x go test
?d??a env GOFLAGS=-toolexec=./x go test ./...
?d??a PATH=.:$PATH ls
?d??a PATH=.; ls
?d??a export PATH=.; ls
?d??a LD_PRELOAD=./x.so ls
?d??a IFS=x; ls
?d??a make deploy
?d??a make test SHELL=./x
?d??a make -f other test
?d??a pytest -p evil
?d??a pytest -c x.ini
?d??a cargo test --config x
?d??a cargo run
?d??a curl https://x
?d??a wget x
?d??a ssh host
?d??a ssh -o ProxyCommand='rm x' host
?d??a python script.py
?d??a python -c 'print(1)'
?d??a node -e '1'
?d??a perl -e 1
?d??a ./script.sh
?d??a bash script.sh
?d??a . ./env.sh
?d??a source env.sh
?d??a sudo ls
?d??a xargs rm < list
?d??a find . -name '*.o' -exec rm {} \;
RRRRR find . -delete
?d??a find . -fprint x
?d??a fd -x rm
?d??a rg --pre ./x foo
?d??a rg --pre=./x foo
?d??a sort -o out in
?d??a sort --compress-program=./x in
?d??a sort --outp=x in
?d??a uniq a b
?d??a awk 'BEGIN{system("rm x")}'
?d??a awk '{print > "x"}' a
?d??a gawk -i inplace 1 a
?d??a sed -n 'w out' a
?d??a sed 's/a/b/e' a
?d??a sed -f x a
?d??a sed '1e rm x' a
?d??a tar xf a.tar
?d??a tar cf x --checkpoint=1 --checkpoint-action=exec=./x .
?d??a vim -c ':!rm x' a
?d??a env
?d??a printenv
?d??a env -C sub ls
?d??a dd if=a of=b
?d??a $CMD x
?d??a $(echo rm) x
?d??a "$X"
?d??a ${X:-rm} x
?d??a eval "$X"
?d??a sh -c "$X"
?d??a echo x | sh
?d??a sh < a
?d??a bash <<< "$X"
?d??a \rm -r x
?d??a "r"m -r x
?d??a r''m -r x
?d??a $'\x72\x6d' -r x
?d??a r\⏎m -r x
?d??a command rm -r x
?d??a builtin eval "$X"
?d??a exec rm -r x
?d??a ls; rm -r x
?d??a ls⏎rm -r x
?d??a ls & rm -r x
?d??a ls | (rm -r x)
?d??a ls "$(rm -r x)"
?d??a ls `+"`rm -r x`"+`
?d??a cat <(rm -r x)
?d??a cat <<EOF⏎$(rm -r x)⏎EOF
?d??a echo ${X:-$(rm -r x)}
?d??a echo $((a[$(rm -r x)]))
?d??a x='a[$(rm -r x)]'; echo $((x))
?d??a [[ 'a[$(rm -r x)]' -eq 1 ]]
?d??a test -v 'a[$(rm -r x)]'
?d??a printf -v 'a[$(rm -r x)]' y
?d??a x='$(rm -r x)'; echo ${x@P}
?d??a f() { rm -r x; }; f
?d??a trap 'rm -r x' EXIT
?d??a case a in a) rm -r x;; esac
?d??a while true; do rm -r x; done
?d??a A=rm; B=-r; $A $B x
?d??a {rm,-r,x}
?d??a rm$IFS-r${IFS}x
?d??a alias ls='rm -r x'
?d??a shopt -s expand_aliases
?d??a hash -p ./x ls
?d??a enable -f ./x.so y
?d??a nohup rm -r x &
?d??a busybox rm -r x
?d??a sh -c 'sh -c "rm -r x"'
?d??a cd sub && cd .. && ../x
????a ls $X
????a cat "$FILE"
?d??a sort $FLAGS a
?d??a rg $FLAGS a
?d??a kill 1234
?d??a docker run -v /:/host x
?d??a chmod -R 777 .
?d??a unzip x.zip
?daaa npx tsc
?d??a git ls-remote
?d??a builtin let 'a[$(rm -r x)]'
?d??a wait -p 'a[$(rm -r x)]'
?d??a export "a[\$(rm -r x)]=1"
?d??a export -p
?d??a declare -p
?d??a set
?d?aa chmod -x run.sh
?d??a read x < a; echo $((x))
`)
	if n < 200 {
		t.Errorf("only %d rows", n)
	}
}

// SPEC 4.15, 16.3: outside the workspace and what is protected.
func TestOutsideAndProtected(t *testing.T) {
	check(t, `
?d??a echo x > /tmp/x
?d??a echo x > ../x
?d??a echo x > ~/x
?d??a echo x > $HOME/x
?d??a echo x > "$X"
?d??a cp a /tmp/x
?d??a cp -t /tmp a
?d??a mv a ..
?d??a chmod -w /tmp/x
?d??a cp --t /tmp a
?d??a cp --target-dir=/tmp a
?d??? cp --t .vscode a
?d??? mv --t=.claude a
?d??a rm /tmp/x
?d??a rm ../x
?d??a touch ../../x
?d??a mkdir /tmp/x
?d??a tee /etc/x < a
?d??a cd .. && rm x
?d??a cd ..; touch x
?d??a pushd .. && touch x
?d??a cd sub/../.. && touch x
?d??a cd $X && touch a
?d??a (cd /tmp && touch x)
?d??a ln -s /etc b && echo x > b/passwd
?d??a ln -s ../.. b
?d??a go build -o /tmp/x ./...
?d??a go test -coverprofile=/tmp/c ./...
?d??a go test /tmp/other
?d??a cd /tmp && go test ./...
?d??a cd /tmp && npm test
????a git -C /tmp status
?d??a git add ../x
????a cat /srv/passwd
????a cat ../x
????a cat ~/x
????a ls /
????a ls ..
????a cd /tmp && ls
????a cd .. ; cat x
????a grep -r x /srv/include
????a cat < /srv/hosts
????a grep -f/srv/hosts x
????a grep --file=/srv/hosts x
????a find / -name x
????a ls */..
????a cat .*/x
aaaaa cat .env
????a cat config/secrets.yml
????a cat .env*
aaaaa cat .env.example
?d??? echo x > AGENTS.md
?d??? echo x > sub/CLAUDE.md
?d??? echo x > agents.md
?d??? echo x > .mcp.json
?d??? echo x > .envrc
?d??? echo x > .vscode/tasks.json
?d??? echo x > .VSCode/tasks.json
?d??? echo x > .cursor/mcp.json
?d??? cp a sub/.Cursor/hooks.json
?d??? touch .opencode/plugins/x.ts
?d??? echo x > opencode.json
?d??? tee .idea/watcherTasks.xml
?d??? echo x > .devcontainer.json
?d??? mkdir .helix
?d??? echo x > mise.toml
?d??? echo x > .gitmodules
?d??? cp a .claude/settings.json
?d??? tee .pawl/config.json
?d??? sed -i s/a/b/ AGENTS.md
?d??? touch .git/x
?d??? mv a .git/x
?d??? rm -r .git
?d??a rm *
?d??? rm *.md
?d??? rm A*
?d??? cd .vscode && touch x
?d??? cd .git; touch x
?d??? mkdir .claude
?d??? echo x > sub/../AGENTS.md
?d??? echo x > "AGENTS".md
aaaaa cat AGENTS.md
aaaaa ls .git
aaaaa cat .git/config
?d?aa git add AGENTS.md
`)
}
