package folder

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.1: forms of the shell and of other programs by which a hook runs a
// file: whether it is listed or every file counts, its change is one.
func TestHooksReachBySisters(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(`
. d/r.sh
[ -f d/r.sh ] && . d/r.sh
test -x d/r.sh && ./d/r.sh
trap './d/r.sh' EXIT
nohup ./d/r.sh &
coproc ./d/r.sh
time ./d/r.sh
! ./d/r.sh
printf x | ./d/r.sh
bash -O extglob d/r.sh
bash --rcfile d/r.sh -i
bash --init-file d/r.sh -ic true
bash <(cat d/r.sh)
sh d/r.sh <<EOF
zsh d/r.sh
dash -e d/r.sh
busybox sh d/r.sh
env -S 'sh d/r.sh'
env -C d ./r.sh
xargs -a list ./d/r.sh
echo d/r.sh | xargs sh
bash "$PWD/d/r.sh"
bash $(pwd)/d/r.sh
cd d && sh "$PWD"/r.sh
pushd d && ./r.sh
alias x=./d/r.sh; x
X=d/r.sh; sh $X
X=d; sh "$X/r.sh"
for f in d/*.sh; do sh "$f"; done
for f in d/*; do . "$f"; done
while read l; do sh $l; done < list
case x in x) ./d/r.sh;; esac
script -qc ./d/r.sh /dev/null
watch ./d/r.sh
parallel ./d/r.sh ::: 1
flock l ./d/r.sh
timeout 5 sh -c 'exec ./d/r.sh'
ssh localhost d/r.sh
git submodule foreach ../d/r.sh
git -c core.hooksPath=d commit
git -c alias.x='!./d/r.sh' x
git bisect run ./d/r.sh
git rebase -x ./d/r.sh main
gdb -x d/r.sh
vim -S d/r.sh
m4 d/r.sh
sed -f d/r.sh x
awk -fd/r.sh x
jq -f d/r.sh x
php d/r.sh
pwsh -File d/r.sh
java -jar d/r.sh
lua d/r.sh
deno run d/r.sh
bun d/r.sh
pnpm exec sh d/r.sh
yarn node d/r.sh
npm exec -- sh d/r.sh
poetry run python d/r.sh
mise exec -- d/r.sh
nix-shell --run ./d/r.sh
uv run d/r.sh
uvx --from ./d r
make -f d/r.sh
make SHELL=./d/r.sh hook
make --eval='x:;./d/r.sh' x
just -f d/r.sh
npm --prefix d run x
tar --checkpoint-action=exec=./d/r.sh -cf x y
rsync -e ./d/r.sh a b
grep -r x --pre ./d/r.sh
find . -exec ./d/r.sh {} +
perl -Id -Mr
perl -I d -e 'do "r.sh"'
ruby -r ./d/r.sh -e 1
python3 -c 'exec(open("d/r.sh").read())'
python3 -i d/r.sh
python3 - < d/r.sh
python3 <<< "$(cat d/r.sh)"
PYTHONPATH=d python3 -m r
LD_PRELOAD=d/r.sh ls
GIT_SSH_COMMAND=./d/r.sh git fetch
PAGER=./d/r.sh git log
EDITOR=./d/r.sh git commit
command -v x; builtin source d/r.sh
eval ./d/r.sh
eval "./d/$X.sh"
sh -s < d/r.sh
sh -c "sh \"$0\"" d/r.sh
bash -c 'source "$1"' x d/r.sh
bash -c '. "$0"' d/r.sh
sh ./link
./link
watchman -- trigger . x -- ./d/r.sh
go generate ./d
go run d/r.sh
go tool -modfile=d/r.sh x
cargo run --manifest-path d/r.sh
node --import ./d/r.sh x.js
node -r ./d/r.sh x.js
node -e 'require("./d/r.sh")'
node --env-file=d/r.sh x.js
tsx watch d/r.sh
env python3 d/r.sh
/usr/bin/env sh d/r.sh
/bin/sh d/r.sh
/usr/bin/python3 d/r.sh
d//r.sh
./d/../d/r.sh
d/./r.sh
'd/r.sh'
d/r\.sh
$'d/r.sh'
d/{r,q}.sh
{ ./d/r.sh; }
x=$(./d/r.sh)
[[ $(d/r.sh) ]]
echo `+"`./d/r.sh`"+`
diff <(./d/r.sh) x
: ${X:=$(./d/r.sh)}
(( $(./d/r.sh) ))
sudo -u me ./d/r.sh
doas ./d/r.sh
setsid ./d/r.sh
stdbuf -o0 ./d/r.sh
chroot . d/r.sh
unshare ./d/r.sh
strace ./d/r.sh
valgrind ./d/r.sh
expect d/r.sh
osascript d/r.sh
tmux new -d ./d/r.sh
at now -f d/r.sh
crontab d/r.sh
systemd-run ./d/r.sh
direnv exec d r.sh
direnv exec . ./d/r.sh
husky d/r.sh
`), "\n")
	missed := 0
	for _, line := range lines {
		dir := t.TempDir()
		command, _ := json.Marshal(line)
		write(t, dir, ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": `+string(command)+`}]}]}}`, "d/r.sh", "x\n", "list", "d/r.sh\n", "x.js", "", "d/package.json", `{"scripts": {"x": "sh r.sh"}}`)
		must.Do(t, os.Symlink("d/r.sh", dir+"/link"))
		hash := func() (string, string) {
			_, parts, err := Hooks(dir)
			if err != nil || len(parts) != 1 {
				t.Fatal(parts, err)
			}
			return parts[0].Hash, fmt.Sprint(parts[0].From)
		}
		was, from := hash()
		write(t, dir, "d/r.sh", "# evil\n")
		if now, _ := hash(); now == was {
			missed++
			t.Errorf("%s: a change of d/r.sh is none: %s", line, from)
		}
	}
	t.Log(len(lines), "lines,", missed, "missed")
}
