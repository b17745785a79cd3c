package command

import (
	"strings"
	"testing"
)

// SPEC 4.1, 4.15: what everybody reads with is on the closed list.
func TestReadOnly(t *testing.T) {
	for line := range strings.SplitSeq(`ls -la
cat a | grep -n b > /dev/null
cat *.go 2>/dev/null | wc -l
cd sub && ls *.md
git status && git diff --stat
git --no-pager log --oneline -5 -- a.go
git show HEAD:a.go
git branch -a
git branch --list 'x*'
git tag
git remote -v
git stash list
git grep -n x
git rev-parse --abbrev-ref HEAD
sed -n '10,20p' a.go
sort -t, -k2,2n a | uniq -c
head -n 5 < a
rg -n --glob '*.go' foo internal/*
find . -name '*.go' -not -path './x/*' -type f
diff -u a b
date -u +%F
test -f a && echo yes || printf '%s 100%%\n' no
[ -d x ]
command -v go
timeout 5 ls
LC_ALL=C sort a
stat -c %s a; du -sh .; df -h; file a; which go; pwd; uname -a; true
sleep 5`, "\n") {
		if !ReadOnly(parse(t, line)...) {
			t.Errorf("%s", line)
		}
	}
	if ReadOnly() {
		t.Error("nothing is no reading command")
	}
}

// SPEC 4.15, 16.5: what could change something, or run a program of the folder, is not.
func TestNotReadOnly(t *testing.T) {
	for line := range strings.SplitSeq(`ls > a
ls; rm a
./ls
sub/cat a
"cat head"
$X
ls $X
cat "$(./x)"
ls() { rm a; }; ls
alias ls='rm a'; ls
PATH=.; ls
PATH=. ls
LD_PRELOAD=./x.so ls
PAGER=./x git log
GIT_EXTERNAL_DIFF=./x git diff
LC_A[1]=x ls
timeout 5 ./x
env ls
sudo ls
xargs cat
bash -c ls
. ./a
hash -p ./x ls; ls
exec ls
nice -n 5 ./x
cat < /dev/tcp/example.org/80
cat <> a
ls &> a
ls 3> a
tee a
env
printenv
git
git -c core.pager=./x log
git -c alias.status='!./x' status
git -C ../other status
git --git-dir=x status
git --work-tree=x status
git --exec-path=. status
git -p log
git lg
git config --list
git config core.pager ./x
git diff --ext-diff
git log -p --ext-d
git diff --output=a
git log --outp=a
git show --textconv
git cat-file --textconv HEAD:a
git grep -Oless x
git grep --open-files-in-pager=./x x
git log --show-signature
git log --format=%G?
git archive HEAD
git branch x
git branch -d x
git branch -f --list x
git branch -m y
git branch --set-upstream-to=o/x
git branch --edit-description
git tag v1
git tag -d v1
git remote add o x
git remote -v update
git stash
git stash list -p --ext-diff
git fetch
git checkout a
git bisect run ./x
git ls-remote ext::./x
git rev-parse --parseopt
rg --pre ./x a
rg --pre=./x a
rg --hostname-bin ./x a
rg -z a
rg -nz a
rg foo *
sort -o a b
sort a -ob
sort -uo b a
sort --output=b a
sort --outp b a
sort --compress-program=./x a
sort --compress-prog=./x a
sort -T . a
sort --files0-from=x
sort *
uniq a b
uniq - b
uniq -- -a -b
uniq in*
uniq -f 1 a b
diff --to-file=a b
diff -l a b
diff --paginate a b
diff -u *
file -C -m x
file -Cm x
file --comp
file -z a
find . -delete
find . -exec ./x {} +
find . -execdir ./x \;
find . -ok ./x \;
find . -fprint a
find . -fls a
find -files0-from x
find * -name a
sed -i s/a/b/ c
sed -n 1pw a
sed -n '1,5p;w a' a
sed -n -i 1p a
sed -n 1p -i a
sed 1e a
sed -n -f x a
date -s x
date 010203
date --set=x
date -f x
printf -v PATH .
printf '12345%n' PATH
printf '%-5n' PATH
printf "$X"
test -v 'a[$(./x)]'
[ -R x ]
test $X
test *
command ./x
command -p ls
cd a b
awk 1 a
tree -o a
less a
tar -tf a
go list ./...
npm ls
python3 -V
if true; then ./x; fi`, "\n") {
		if cs, err := Parse(line, "/w"); err == nil && ReadOnly(cs...) {
			t.Errorf("%s", line)
		}
	}
}
