package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// rootOnly is a workspace that has only a root: the rest is on disk.
type rootOnly struct {
	tool.Files
	root string
}

func (r rootOnly) Root() string { return r.root }

// Read finds no file.
func (r rootOnly) Read(context.Context, string, int64) (tool.File, error) {
	return tool.File{}, os.ErrNotExist
}

// List takes .env for ignored, as git would.
func (r rootOnly) List(_ context.Context, dir string) ([]tool.Entry, error) {
	return []tool.Entry{{Name: ".env", Ignored: true}}, nil
}

// pathRig is a workspace on disk with links of all kinds, a folder beside it,
// and nothing that a command line could harm: none of them is run.
func pathRig(t *testing.T) (dir string, files tool.Files) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(top, "w")
	for _, d := range []string{"w/.git/hooks", "w/.claude", "w/src/deep", "w/sub", "w/a", "w/docs", "w/certs", "w/secret", "w/big", "w/plain", "w/node_modules/m", "w/keys", "sib/sub", "home/.ssh"} {
		if err := os.MkdirAll(filepath.Join(top, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for f, text := range map[string]string{
		"w/f.txt": "f", "w/src/a.go": "package a", "w/src/b.go": "package a", "w/README.md": "r", "w/AGENTS.md": "rules", "w/.env": "TOKEN=x", "w/.env.example": "TOKEN=",
		"w/certs/server.pem": "k", "w/certs/ca.txt": "c", "w/plain/a.txt": "a", "w/plain/.env.sample": "x", "w/secret/x": "s", "w/secrets.yaml": "k: v", "w/config.yaml": "k: v",
		"w/.git/config": "[core]", "w/.git/HEAD": "ref: refs/heads/main", "w/.git/hooks/pre-push": "#", "w/node_modules/m/test.pem": "k", "w/docs/guide.md": "g",
		"sib/secret.txt": "s", "sib/f": "f", "home/.ssh/id_rsa": "k", "w/h1": "h",
	} {
		if err := os.WriteFile(filepath.Join(top, f), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"w/hooks": ".git/hooks", "w/notes.md": "AGENTS.md", "w/l": "../sib/sub", "w/out": "../sib", "w/outf": "../sib/secret.txt", "w/a/up2": "../../sib", "w/a/lnk": "../f.txt",
		"w/two": "hooks", "w/abs": filepath.Join(top, "sib"), "w/in": "src", "w/src/root": "..", "w/loop": "loop", "w/nowhere": "../sib/new", "w/null": "/dev/null",
		"w/cl": ".claude", "w/tocert": "certs/server.pem", "w/docs/gh": "../.git", "w/keys/key": filepath.Join(top, "home/.ssh/id_rsa"), "w/src/deep/ok": "../a.go", "w/den": "secret",
	} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(top, "w/h1"), filepath.Join(top, "sib/h2")); err != nil {
		t.Fatal(err)
	}
	return dir, rootOnly{root: dir}
}

// pathRows checks lines against verdicts by mode, one letter for each of ask,
// plan, accept-edits, auto and yolo: a allow, ? ask, d deny, R refusal. "." is
// any: what is not the matter of the row.
func pathRows(t *testing.T, dir string, files tool.Files, deny []string, rows string) int {
	t.Helper()
	t.Setenv("HOME", filepath.Join(filepath.Dir(dir), "home"))
	n := 0
	for row := range strings.SplitSeq(strings.TrimSpace(rows), "\n") {
		want, line, ok := strings.Cut(strings.TrimSpace(row), " ")
		if !ok || strings.HasPrefix(want, "#") {
			continue
		}
		n++
		line = strings.ReplaceAll(line, "⏎", "\n")
		args, _ := json.Marshal(map[string]string{"command": line})
		fp, err := Bash().Footprint(tool.Env{Files: files}, args)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range []permission.Mode{permission.Ask4All, permission.Plan, permission.AcceptEdits, permission.Auto, permission.Yolo} {
			if want[i] == '.' {
				continue
			}
			p := permission.New(permission.Config{Mode: m, Root: dir, Home: filepath.Join(filepath.Dir(dir), "home"), Sandbox: permission.Sandbox{Off: true}})
			p.Trust()
			if err := p.Add(permission.User, nil, nil, deny); err != nil {
				t.Fatal(err)
			}
			d := p.Decide(permission.Call{Tool: "bash", Footprint: fp})
			got := map[permission.Verdict]byte{permission.Allow: 'a', permission.Ask: '?', permission.Deny: 'd'}[d.Verdict]
			if d.By == "refusal" {
				got = 'R'
			}
			if got != want[i] {
				t.Errorf("%s in %s: got %c, want %c (%s: %s) %+v", line, m, got, want[i], d.By, d.Reason, fp.Resolved)
			}
		}
	}
	return n
}

// SPEC 16.3, 16.8: a path of a command is judged where it lands.
func TestLandings(t *testing.T) {
	dir, files := pathRig(t)
	n := pathRows(t, dir, files, nil, `
# links of the repository, to protected names
RRRRR echo x > hooks/post-commit
RRRRR echo x >> hooks/post-commit
RRRRR cp f.txt hooks/post-commit
RRRRR cp f.txt hooks
RRRRR cp f.txt hooks/
RRRRR tee hooks/pre-commit < f.txt
RRRRR sed -i s/a/b/ hooks/pre-push
RRRRR touch hooks/post-commit
RRRRR mkdir -p hooks/x
RRRRR mv f.txt hooks/post-commit
RRRRR mv f.txt hooks
RRRRR echo x > two/post-commit
RRRRR echo x > docs/gh/hooks/x
RRRRR echo x > docs/gh/config
RRRRR echo x > src/root/hooks/x
RRRRR echo x > in/root/.git/hooks/x
RRRRR cd hooks && echo x > post-commit
RRRRR echo x > ./src/../hooks/post-commit
RRRRR (cd docs/gh; echo x > config)
RRRRR rm hooks/pre-push
RRRRR chmod +x hooks/pre-push
RRRRR ln f.txt hooks/post-commit
RRRRR dd if=f.txt of=hooks/post-commit
RRRRR install f.txt hooks/post-commit
RRRRR sort -o hooks/x f.txt
RRRRR python3 gen.py hooks/post-commit
?d??? echo obey >> notes.md
?d??? echo obey | tee -a notes.md
?d??? cp f.txt notes.md
?d??? echo x > cl/settings.json
?d??? cp -r src cl
?d??? touch cl/x
?d??? echo x > docs/gh/info/exclude
aaaaa cat hooks/pre-push
aaaaa cat notes.md
aaaaa ls hooks
# links that the line makes
RRRRR ln -s .git/hooks hk; echo x > hk/post-commit
RRRRR ln -sfn .git/hooks hk && tee hk/x < f.txt
RRRRR ln -s .git g; echo x > g/hooks/x
RRRRR ln -s "$PWD/.git" g && echo x > g/config
RRRRR ln -s hooks hk; cp f.txt hk/x
RRRRR ln -s ../.git/hooks src/hk; echo x > src/hk/x
RRRRR ln -t src -s ../.git/hooks; echo x > src/hooks/x
RRRRR ln --symb .git/hooks hk; echo x > hk/x
RRRRR cp -P hooks hk; echo x > hk/post-commit
RRRRR cp -d hooks hk; echo x > hk/post-commit
RRRRR cp -a hooks src/; echo x > ./src/hooks/x; ln -s ../.git src/.git
RRRRR mv hooks hk; echo x > hk/x
RRRRR for i in 1 2; do echo x > hk/x; ln -s .git/hooks hk; done
RRRRR ln -s .git/hooks hk | echo x > hk/x
RRRRR f() { echo x > hk/x; }; ln -s .git/hooks hk; f
RRRRR ln .git/hooks/pre-push h; echo x > h
RRRRR cp -l .git/hooks/pre-push h; echo x > h
RRRRR cp -s .git/hooks/pre-push h; echo x > h
RRRRR cp -r docs d2; echo x > d2/gh/hooks/x
RRRRR mv docs d2; echo x > d2/gh/config
RRRRR cp -r docs/. d2; echo x > d2/gh/config
RRRRR rsync -a docs/ d2; echo x > d2/gh/config
?d??? ln -s AGENTS.md n; echo x > n
?d??? ln -s .claude c; mkdir c/commands
?d??a cp -P a/up2 up3; echo x > up3/new
?d??a mv a/up2 .; echo x > up2/new
?d??a cp -a a/up2 .; cp f.txt up2/
?d??a cp -r a b; echo x > b/up2/new
?daaa cp -r a src; echo x > src/a/up2/new
?d??a cd a && mv up2 .. && cd .. && echo x > up2/new
?d??a ln -s .. up; echo x > up/sib/n
?d??a ln -s ../sib s; mkdir -p s/n
?d??a cd sub && ln --symb ../.. up; echo x > up/n
?d??a git mv a/up2 .; echo x > up2/new
?d??a cp a/* sub/ -P; echo x > sub/up2/new
?d??a tar xf f.tar; echo x > new
?d??a tar xf f.tar && cp f.txt d/
?d??a unzip f.zip; sed -i s/a/b/ d/f
?d??a git switch topic && echo x > f.txt
?d??a git stash pop; cat README.md
?d??a ls | xargs ln -s; echo x > f.txt
?d?aa git switch -c topic && echo x > f.txt
?d?aa git stash; echo x > f.txt
?d?aa mv src/a.go src/c.go; sed -i s/a/b/ src/c.go
?daaa cp -r src s2; echo x > s2/n.go
?daaa cp src/a.go src/c.go && sed -i s/a/b/ src/c.go
?d?aa mv sub s3 && echo x > s3/n
# the border, writing
?d??a echo x > l/../new
?d??a touch l/../n
?d??a mkdir -p l/../n
?d??a cp f.txt l/../n
?d??a sed -i s/a/b/ l/../f
?d??a mv f.txt l/../n
?d??a rm l/../secret.txt
?d??a echo x > out/new
?d??a echo x > outf
?d??a echo x > nowhere
?d??a echo x > abs/n
?d??a cp f.txt out
?d??a cp f.txt a/up2/
?d??a touch src/root/out/n
?d??a go build -o out/t .
?d??a go test -coverprofile out/c ./...
?d??a go test -c -o l/../t
?d??a echo x > h1
?d??a cd out && echo x > new
?d??a for i in out*; do echo x > "$i/n"; done
?daaa echo x > loop/x
?d?aa rm out
?d?aa mv out src/
?d?aa rm -f outf
# the border, reading
????a cat l/../secret.txt
????a cat outf
????a cat out*
????a cat out/*
????a cat */secret.txt
????a sort out[f]
????a head -n 1 outf out/f
????a for i in out*; do cat "$i"; done
????a cat o?tf
????a cat ab?/secret.txt
????a grep x out/f
????a grep -R x a
????a grep -rR x a
????a grep --deref x a
????a diff -r a plain
????a ls out/
????a cat < outf
????a diff f.txt outf
????a cat src/root/out/f
????a cat a/up2/f
aaaaa wc -l loop/x
RRRRR cat keys/key
RRRRR cat keys/*
RRRRR cat ke?s/key
RRRRR grep -R x .
RRRRR grep --dereference-recursive x .
RRRRR grep -R x keys
aaaaa wc -l src/*
????a ls keys/*
aaaaa cat src/deep/ok
aaaaa cat in/a.go
aaaaa cat in/*.go
aaaaa cat */*.go
aaaaa cat src/root/f.txt
aaaaa cat a/lnk
aaaaa ls
aaaaa ls -la src
# secret-looking files
aaaaa cat .env
????a cat .e*
????a cat tocert
????a cat certs/*
????a head -c 100 ./*.yaml
????a cat *
????a grep TOKEN *.yaml
????a grep -r TOKEN .
????a grep -rn TOKEN
????a grep -r TOKEN . --include='*.pem'
????a grep --recursive TOKEN .
????a grep -r x certs
????a egrep -r x certs
????a grep -d recurse x .
????a rg --hidden --no-ignore TOKEN
????a rg -uuu TOKEN
????a rg k secrets.yaml
????a rg k
????a git grep k
????a diff -r certs plain
????a for f in *.yaml; do cat "$f"; done
????a cd certs && cat *
aaaaa cat .env.example
aaaaa grep -r TOKEN plain
aaaaa grep -rn foo src
aaaaa grep -rn foo . --include='*.go'
aaaaa grep -rn --include=*.go foo .
aaaaa grep -r foo . --exclude='.env*' --exclude='*.pem' --exclude=secrets.yaml
aaaaa grep -r foo . --exclude=.env --exclude-dir=certs --exclude=secrets.yaml
aaaaa rg foo src
aaaaa rg -t go foo
aaaaa rg -g '*.go' foo
aaaaa rg -g '*.{go,ts}' foo
aaaaa rg --files
aaaaa git grep k -- '*.go'
aaaaa git grep k src
aaaaa grep -r x node_modules
aaaaa head *.md
aaaaa cat src/*
aaaaa wc -l certs/*
aaaaa ls -la certs/*
????a wc -l *
aaaaa cat config.yaml
aaaaa grep foo config.yaml README.md
# harmless devices
aaaaa ls 2>/dev/null
aaaaa ls >/dev/null
aaaaa ls &>/dev/null
aaaaa ls > /dev/null 2>&1
aaaaa ls >/dev/stderr
aaaaa echo x > /dev/stdout
aaaaa echo x >&2
aaaaa echo x > /dev/fd/2
aaaaa cat < /dev/null
aaaaa head -c 8 /dev/urandom
aaaaa find . -name x 2> /dev/null | head
aaaaa grep -rn foo src 2>/dev/null || true
?daaa echo x > f.txt 2>/dev/null
?d... echo x > null
?daaa go test ./... 2>/dev/null
?d??a echo x > /dev/sdx/../tty
`)
	if n < 120 {
		t.Errorf("%d rows", n)
	}
	t.Log(n, "rows")
}

// SPEC 4.15: deny rules on paths hold for whatever leads there.
func TestLandingsDenied(t *testing.T) {
	dir, files := pathRig(t)
	pathRows(t, dir, files, []string{"edit(secret/**)"}, `
ddddd echo x > secret/x
ddddd echo x > den/x
ddddd cp f.txt den/
ddddd cp f.txt secret
ddddd sed -i s/a/b/ den/x
ddddd rm secret/x
ddddd rm den/x
ddddd mv secret/x y
ddddd echo x > SECRET/x
.dddd ln -s secret s3; echo x > s3/x.txt
.dddd cp -P den s3; echo x > s3/x
.dddd mv secret s4; echo x > s4/x
.d??? dd of=secret/x
.d??? dd of=den/x if=f.txt
.d??? install f.txt secret/x
.d??? install -t secret f.txt
.d??? find secret -delete
.d??? find . -path './secret/*' -delete -o -exec rm {} +
.d??? git rm secret/x
.d??? git mv secret/x y
.d??? git checkout -- secret/x
.d??? git restore secret
.d??? sort -o secret/x f.txt
.d??? split f.txt secret/x
.d??? python3 gen.py secret/x
.d??? rsync -a src/ secret/
.d??? tar xf a.tar -C secret
.d??? ls secret | xargs rm
.d??? mytool --out=secret/x
.d??? cp f.txt $(echo secret)/x
.d??? mytool "$X"
RRRRR rm -r .
aaaaa cat secret/x
aaaaa ls secret
.d..a python3 gen.py src/a.go
?daaa echo x > src/n
`)
}
