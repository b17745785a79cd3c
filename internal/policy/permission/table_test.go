package permission

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

const (
	root = "/home/me/w"
	home = "/home/me"
)

func policy(t *testing.T, mode Mode, from Source, allow, ask, deny []string) *Policy {
	t.Helper()
	p := New(Config{Mode: mode, Root: root, Home: home, Spill: "/home/me/.local/state/pawl/spill", State: "/home/me/.local/state/pawl", Sandbox: Sandbox{Off: true}})
	must.Do(t, p.Add(from, allow, ask, deny))
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
		for i, mode := range []Mode{AskMode, Plan, AcceptEdits, Auto, Yolo} {
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

// SPEC 4.15, 16.5: without a sandbox, a closed list of reading programs with literal words
// runs unasked; everything else asks. The order of the letters: ask plan accept-edits auto
// yolo.
func TestCommands(t *testing.T) {
	check(t, `
aaaaa ls -la src
aaaaa cat README.md
aaaaa head -n 5 a.go && tail -3 b.go
aaaaa grep -n "/api/v1" src/a.go
?d??a grep -rn x src
aaaaa grep -e foo -e bar a b
?d??a rg foo src
aaaaa git status
aaaaa git log --oneline -5
aaaaa git diff HEAD~1 -- a.go
aaaaa git show HEAD:a.go
aaaaa git branch --list
aaaaa git rev-parse HEAD
aaaaa pwd
aaaaa echo hello
aaaaa printf '%s\n' a
aaaaa test -f a && echo yes || echo no
aaaaa [ -d src ] && ls src
aaaaa wc -l a | sort -n
aaaaa diff a b
aaaaa cat a 2>/dev/null
aaaaa ls 2>&1 | head
aaaaa cd src && ls
aaaaa cat ./a.go # comment; rm -rf /
aaaaa stat /home/me/w/a
aaaaa cat /home/me/w/../w/a
aaaaa echo 'rm -rf /'
aaaaa grep -n 'curl x | sh' a
aaaaa git log --grep='rm -rf'
aaaaa cat AGENTS.md
aaaaa cat .env
aaaaa cat .env.example
?d??a sed -i 's/a/b/' a.go
?d??a mkdir -p src/new
?d??a rm -f build/*.o
?d??a go test ./...
?d??a npm run lint
?d??a make -j4 check lint
?d??a pytest -x -q
?d??a git add -A
?d??a git commit -m 'fix: x'
?d??a git push
?d??a git push --force
?d??a git checkout .
?d??a git clean -fdx
?d??a git -c core.pager='rm x' log
?d??a git log --output=x
?d??a git diff --ext-diff
?d??a git grep -Orm foo
?d??a npm install
?d??a go run .
?d??a go test -exec ./x ./...
?d??a PATH=.:$PATH ls
?d??a PATH=.; ls
?d??a LD_PRELOAD=./x.so ls
?d??a curl https://x
?d??a ssh host
?d??a python -c 'print(1)'
?d??a ./script.sh
?d??a . ./env.sh
?d??a sudo ls
?d??a xargs rm < list
?d??a find . -name '*.o' -exec rm {} \;
?d??a find . -fprint x
?d??a rg --pre ./x foo
?d??a sort -o out in
?d??a sort --compress-program=./x in
?d??a uniq a b
?d??a awk 'BEGIN{system("rm x")}'
?d??a sed -n 'w out' a
?d??a tar cf x --checkpoint=1 --checkpoint-action=exec=./x .
?d??a env
?d??a dd if=a of=b
?d??a $CMD x
?d??a $(echo rm) x
?d??a eval "$X"
?d??a sh -c "$X"
?d??a echo x | sh
?d??a bash <<< "$X"
?d??a \rm -r x
?d??a r''m -r x
?d??a $'\x72\x6d' -r x
?d??a command rm -r x
?d??a ls; rm -r x
?d??a ls⏎rm -r x
?d??a ls | (rm -r x)
?d??a ls "$(rm -r x)"
?d??a cat <(rm -r x)
?d??a cat <<EOF⏎$(rm -r x)⏎EOF
?d??a echo $((a[$(rm -r x)]))
?d??a x='a[$(rm -r x)]'; echo $((x))
?d??a [[ 'a[$(rm -r x)]' -eq 1 ]]
?d??a f() { rm -r x; }; f
?d??a ls() { rm -r x; }; ls
?d??a alias ls='rm -r x'
?d??a trap 'rm -r x' EXIT
?d??a {rm,-r,x}
?d??a hash -p ./x ls
?d??a kill 1234
?d??a docker run -v /:/host x
?daaa echo x > a.txt
?daaa echo x >> src/a.txt
?daaa cat > new.go <<'EOF'⏎package x⏎EOF
`)
}

// SPEC 4.15, 16.3: outside the workspace and what is protected.
func TestOutsideAndProtected(t *testing.T) {
	check(t, `
?d??a echo x > /tmp/x
?d??a echo x > ../x
?d??a echo x > ~/x
?d??a echo x > "$X"
?d??a cp a /tmp/x
?d??a cd .. && rm x
?d??a cd sub/../.. && touch x
?d??a go build -o /tmp/x ./...
????a cat /srv/passwd
????a cat ../x
????a cat ~/x
????a ls /
????a cd /tmp && ls
????a cat < /srv/hosts
????a grep --file=/srv/hosts x
????a cat config/secrets.yml
?d??? echo x > AGENTS.md
?d??? echo x > sub/CLAUDE.md
?d??? echo x > agents.md
?d??? echo x > .VSCode/tasks.json
?d??? cp a sub/.Cursor/hooks.json
?d??? touch .opencode/plugins/x.ts
?d??? mkdir .helix
?d??? echo x > mise.toml
?d??? tee .pawl/config.json
?d??? sed -i s/a/b/ AGENTS.md
?d??? rm -r .git
?d??? echo x > sub/../AGENTS.md
?d??? echo x > "AGENTS".md
?d??a git add AGENTS.md
`)
}
