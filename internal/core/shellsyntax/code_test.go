package shellsyntax

import (
	"strings"
	"testing"
)

// unknown reports whether a line may run what its commands do not show: code
// that only run time knows, or a variable that bash obeys.
func unknown(cmds []Command) bool {
	for _, c := range cmds {
		if c.Code {
			return true
		}
		for _, a := range c.Assigns {
			if name, _, _ := strings.Cut(a, "="); UsedByBash(name) {
				return true
			}
		}
	}
	return false
}

// SPEC 4.15, 16.5: what evaluates text that is not known to be harmless is
// unknown code. Every line here was tried with bash 5.2; $(zap) stands for any
// command, f for a file of the repository.
func TestUnknownCode(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(`
echo "${x:-'$(zap)'}"
echo "a ${x:+${y:-'$(zap)'}} b"
: "${x/a/'$(zap)'}"
x="${y:-'$(zap)'}"
[[ -n "${x:-'$(zap)'}" ]]
readonly a[$(zap)] ls
readonly a[zap]
declare x a[$(zap)]
declare -x a[$(zap)]
typeset a[y]
export a[$(zap)]
f() { local a[$(zap)]; }; f
x='a[$(zap)]'; echo ${!x}
x='a[$(zap)]'; echo "${!x}"
x='a[$(zap)]'; echo ${!x:-1}
x='a[$(zap)]'; echo ${!x:=1}
x='a[$(zap)]'; echo ${!x:+1}
x='a[$(zap)]'; echo ${!x:?}
x='a[$(zap)]'; echo ${!x/a/b}
x='a[$(zap)]'; echo ${!x%%b}
x='a[$(zap)]'; echo ${!x#b}
x='a[$(zap)]'; echo ${!x^}
x='a[$(zap)]'; echo ${!x,,}
x='a[$(zap)]'; echo ${!x:0:1}
x='a[$(zap)]'; echo ${!x@Q}
x='a[$(zap)]'; echo ${!x[0]}
x='a[$(zap)]'; y=${!x}
x='a[$(zap)]'; [ -n "${!x}" ]
x='a[$(zap)]'; [[ -n ${!x} ]]
x='a[$(zap)]'; case ${!x} in *) ;; esac
x='a[$(zap)]'; for y in ${!x}; do :; done
x='a[$(zap)]'; cat <<< ${!x}
x='a[$(zap)]'; cat > ${!x}
read -r x < f; echo "${!x}"
x=$(cat f); echo ${!x}
for x in $(cat f); do echo ${!x}; done
echo ${!1}
echo ${!#}
echo ${!@}
echo ${!SOME}
x=$(cat f); echo $((x))
x=$(cat f); echo $[x]
x=$(cat f); echo $((x + 1))
x=$(cat f); echo $((1 + $x))
x=$(cat f); echo $(("x"))
x=$(cat f); y=x; echo $((y))
x=$(cat f); z=x; y=z; echo $((y * 2))
x=$(cat f); y='x+1'; echo $((y))
x='a[$(zap)]'; echo $((x))
x='a[$(zap)]'; ((x))
x='a[$(zap)]'; let x
x='a[$(zap)]'; let y=x
x='a[$(zap)]'; let "y = x"
x='a[$(zap)]'; let "$x"
let 'y=a[$(zap)]'
builtin let 'a[$(zap)]'
\let 'a[$(zap)]'
printf -v x 'a[\44(zap)]'; echo $((x))
x='a[$(zap)]'; if ((x)); then :; fi
x='a[$(zap)]'; until ((x)); do break; done
x='a[$(zap)]'; for ((;x;)); do break; done
x='a[$(zap)]'; for ((i=x;i<1;i++)); do :; done
x='a[$(zap)]'; for ((i=0;i<1;i+=x)); do :; done
x='a[$(zap)]'; [[ x -eq 1 ]]
x=$(cat f); [[ $x -eq 1 ]]
x=$(cat f); [[ 1 -lt $x ]]
x=$(cat f); y=x; [[ y -gt 1 ]]
[[ $(cat f) -eq 1 ]]
[[ $(cat f | wc) -eq 1 ]]
[[ $1 -eq 1 ]]
set -- 'a[$(zap)]'; echo $(( $1 ))
[[ -v $(cat f) ]]
[[ -v 'a[$(zap)]' ]]
[[ -v a[x$(zap)] ]]
[[ -R $x ]]
x=$(cat f); [[ -n ${a[x]} ]]
x=$(cat f); [[ -n ${f:x} ]]
x=$(cat f); echo ${f:0:x}
x=$(cat f); echo ${a[x]}
x=$(cat f); echo ${#a[x]}
x=$(cat f); echo "${a[$x]}"
x=$(cat f); a[x]=1
x=$(cat f); a[$x]=1
x=$(cat f); a=([x]=1)
x=$(cat f); a+=([x]=1)
x=$(cat f); declare a[x]=1
x=$(cat f); set -- 1; echo ${@:x}
x=$(cat f); echo $((a[x]))
a=($(cat f)); echo $((a[0]))
a=($(cat f)); echo $((a))
read -a a < f; echo $((a[1]))
mapfile a < f; echo $((a))
mapfile < f; echo $((MAPFILE))
read < f; echo $((REPLY))
[[ $(cat f) =~ .* ]]; echo $((BASH_REMATCH))
: 'a[$(zap)]'; echo $((_))
: 'a[$(zap)]'; [[ $_ -eq 1 ]]
x='a[$(zap)]'; ((0 && (x = 1))); ((x))
x='a[$(zap)]'; ((1 || (x = 1))); ((x))
x='a[$(zap)]'; ((0 ? (x = 1) : 2)); ((x))
x='a[$(zap)]'; ((y = 1/0, x = 1)); ((x))
readonly x='a[$(zap)]'; ((x = 1)); ((x))
readonly x='a[$(zap)]'; x=1; ((x))
x=1; if :; then x=$(cat f); fi; ((x))
x=1; for i in 1 2; do ((x)); x=$(cat f); done
while ((x)); do x=$(cat f); done
f() { echo $((x)); }; x='a[$(zap)]'; f
f() { echo $(($1)); }; f 'a[$(zap)]'
f() { local x=$1; ((x)); }; f "$(cat f)"
trap 'i=a[\$(zap)]' DEBUG; i=0; echo $((i))
x='a[$(zap)]'; export x; bash -c '((x))'
TERM='a[$(zap)]'; bash -c '((TERM))'
RANDOM='a[$(zap)]'
RANDOM=$(cat f)
SRANDOM='a[$(zap)]'
OPTIND='a[$(zap)]'
HISTCMD='a[$(zap)]'
SECONDS=$(cat f)
read RANDOM < f
read -a OPTIND < f
for RANDOM in 'a[$(zap)]'; do :; done
printf -v RANDOM 'a[$(zap)]'
: ${OPTIND:=x}; unset OPTIND; : ${OPTIND:=$(cat f)}
mapfile -t RANDOM < f
export RANDOM='a[$(zap)]'
RANDOM='a[$(zap)]' ls
declare -i n; n='a[$(zap)]'
declare -i n='a[$(zap)]'
typeset -i n; read n < f
local -i n=$(cat f)
n=1; declare -i n; n+='a[$(zap)]'
declare -xi n; for n in $(cat f); do :; done
f() { n=$(cat f); }; declare -i n; f
f() { n='a[$(zap)]'; }; eval 'declare -i n'; f
declare -n r='a[$(zap)]'; echo $r
declare -n r=PATH; r=sub
typeset -n r=$x
local -n r=$1
x='($(zap))'; declare -a a="$x"
x='($(zap))'; a=(); declare a="$x"
x='($(zap))'; readonly -a a="$x"
declare -a 'a=($(zap))'
declare -A 'a=([$(zap)]=1)'
declare 'a[$(zap)]=1'
declare "$x"
export $x
readonly "$(cat f)"
test $(cat f)
[ $(cat f) ]
[ "$(cat f)" "$(cat f)" ]
x=$(cat f); test $x
x=$(cat f); [ ! $x ]
f() { test "$@"; }; f -v 'a[$(zap)]'
f() { [ "$1" "$2" ]; }; f -v 'a[$(zap)]'
set -- -v 'a[$(zap)]'; test "$@"
test -v 'a[$(zap)]'
test -v "$x"
test ! -v "$x"
test -n a -a -v "$x"
[ -R "$x" ]
test *
[ -f * ]
[ "$a" "$b" -o c ]
read 'a[$(zap)]' < f
read -a "$x"
read $x
read -i "$x" -e y z$x
printf -v "$x" 1
printf -v 'a[$(zap)]' 1
printf '-va[$(zap)]' 1
printf "$x" 'a[$(zap)]'
unset 'a[$(zap)]'
unset -v "$x"
unset $x
getopts ab 'a[$(zap)]'
getopts ab "$x"
mapfile -C zap -c 1 a < f
mapfile "$x"
readarray -C zap a
wait -n -p 'a[$(zap)]'
wait -p "$x"
alias ls=zap
enable -f ./f.so f
enable -n test
complete -C zap x
compgen -W '$(zap)'
bind -x '"a": zap'
hash -p ./f ls
fc -s a=b
history -s "$x"
trap "$x" EXIT
shopt -s expand_aliases
shopt -s lastpipe
shopt -so keyword
set -k
set $x
source <(cat f)
. <(zap)
bash <(cat f)
eval "$x"
eval "$(cat f)"
PATH=sub
PATH=sub ls
for PATH in sub; do ls; done
read PATH <<< sub; ls
printf -v PATH %s sub; ls
printf -vPATH %s sub; ls
unset PATH; ls
: ${PATH:=sub}
: ${PATH=sub}
((PATH = 1))
let PATH=1
export PATH=sub
declare PATH=sub
select PATH in sub; do ls; done
getopts a PATH
mapfile PATH < f
wait -n -p PATH
exec {PATH}> /dev/null
coproc PATH { cat; }
builtin read PATH < f
command read PATH < f
\read PATH < f
PS4='$(zap)'; set -x; ls
for PS4 in '$(zap)'; do set -x; ls; done
read PS4 < f; set -x; ls
unset PS4; : ${PS4:=$(cat f)}; set -x
for IFS in a; do :; done
read BASH_ENV <<< f; bash -c ls
for ENV in f; do :; done
BASH_CMDS[ls]=./f; ls
BASH_ALIASES[ls]=zap
read GLOBIGNORE
FUNCNEST=1
BASHOPTS=x
read PROMPT_COMMAND < f
[[ a == @($(zap)|b) ]]
[[ a == !(`+"`zap`"+`) ]]
echo @($(zap))
exec {a[$(zap)]}>/dev/null
o=$(cat f); [ x$o ]
o=$(cat f); [ -z x$o ]
x='a[$(zap)]'; unset -f x; ((x))
x=('a[$(zap)]' 1); unset 'x[1]'; ((x))
x='a[$(zap)]'; local x; ((x))
eval 'x=a[\$(zap)]'; eval 'x=$((1/0))'; ((x))
shopt -s failglob
command $x
command $(cat f)
builtin $x
exec $x
nohup $x
echo ${x@P}
echo ${x[0]@P}
echo ${x[@]@P}
`), "\n") {
		cmds, err := Parse(line, Options{Dir: "/w", Home: "/h"}, few{})
		if err == nil && !unknown(cmds) {
			t.Errorf("%s: taken as known", line)
		}
	}
}

// The sisters of what is unknown that are harmless, and daily bread.
func TestKnownCode(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(`
echo ${!x@} ${!x*} "${!a[@]}" ${!a[*]}
x=HOME; echo ${!x}
echo ${x@Q} ${x@U} ${x@E} ${x@A}
x=1; echo $((x + 1)) $((x * 2 - 3 % 4))
x=1; y=x; echo $((y))
x=5; [[ x -gt 3 && $x -lt 9 ]]
echo $((1 + 2)) $((0x1f)) $((16#ff)) $((2 ** 8))
echo $((COLUMNS - 1)) $((UNSET + 1))
n=$(ls | wc -l); echo $((n + 1))
n=$(wc -l < f); [[ $n -gt 3 ]]
n=$(grep -c x f); echo $((n)); [[ $n -eq 0 ]]
n=$(grep -ci 'a b' f 2>/dev/null); ((n > 3))
n=$(cat f | grep -c x); if ((n)); then echo y; fi
[[ $(ls | wc -l) -gt 3 ]]
echo $(( $(wc -l < a) + $(wc -l < b) ))
n=$#; echo $((n)); [[ $# -gt 0 ]]
x=abc; n=${#x}; echo $((n + 1)); echo $((${#x} * 2))
echo $?; [[ $? -eq 0 ]]
i=0; while [[ $i -lt 5 ]]; do i=$((i + 1)); done
i=0; while [ $i -lt 5 ]; do echo $i; i=$((i + 1)); done
i=0; until ((i >= 3)); do ((i++)); done
for ((i = 0; i < 5; i++)); do echo "$i"; done
for i in 1 2 3; do echo $((i * i)); done
for i in {1..5}; do echo $((i % 2)); done
n=0; for f in *.go; do n=$((n + 1)); done; echo $n
n=0; for f in *.go; do ((n++)); done; echo $n
n=0; for f in *.go; do let n++; done; echo $n
let "n = 1 + 2"
let n=1 m=2
x=1; x=$((x + 1)); y=$((x / 2)); echo $((y))
x=0; if true; then x=1; fi; echo $((x + 1))
a=(1 2 3); echo $((a[0] + a[1])) ${a[1]} ${a[@]:1:2}
a=(x y z); echo ${a[0]} ${#a[@]} "${a[@]}"
a=(); for f in *.go; do a+=("$f"); done; echo ${#a[@]}
i=0; a[i]=x; a[$i]=y; a[0]=z; echo ${a[i]}
x=abcdef; echo ${x:0:3} ${x: -2} ${x#a} ${x%f} ${x/b/c} ${x^^}
n=2; echo ${x:n} ${x:0:$n}
f() { local i=0; i=$((i + 1)); echo $i; }; f
f() { for ((i = 0; i < 3; i++)); do echo $i; done; }; f
f() { echo "$1"; }; f a
test -f go.mod
[ -f go.mod ] && echo yes
[ -n "$X" ]
[ -z "$(git status --porcelain)" ]
[ "$X" = a ]
[ "$(cat f)" = "$(cat g)" ]
[ "$X" != a -a -f b ]
[ ! -d "$X" ]
[ ! "$X" = b ]
[ $? -eq 0 ]
[ $# -gt 1 ]
[ "$#" -eq 0 ]
[ "$X" ]
[ -v X ]
n=$(ls | wc -l); [ $n -gt 3 ]; test $n -eq 4
[[ -n $X && $X == a* ]]
[[ $X =~ ^[0-9]+$ ]]
[[ -f go.mod || -d x ]]
[[ $X == @(a|b) ]]
[[ -v X ]]
case $X in a|b) echo y;; *) echo n;; esac
read x; echo "$x"
read -r a b c < f
while read -r line; do echo "$line"; done < f
while IFS= read -r; do echo "$REPLY"; done < f
read -p 'x? ' -n 1 x
printf '%s\n' a b
printf "a $X"
printf -v x %s a
unset x y
unset -f f
unset 'a[0]'
mapfile -t lines < f
readarray -d '' -t lines < f
getopts ab opt
export X=1
local x=$1
declare -a a=(1 2)
declare -A m=([a]=1)
declare -r x=1
x=1; readonly x
export -p X
set -euo pipefail
set -- a b c
set -x; ls
shopt -s nullglob; ls *.go
trap 'rm -f x' EXIT
trap - EXIT
alias
hash -r
enable
wait
wait %1
sleep 1 & pid=$!; wait $pid
diff <(sort a) <(sort b)
comm -12 <(sort a) <(sort b)
cat <(ls)
echo foo > >(cat)
while read -r x; do echo "$x"; done < <(ls)
bash -c 'echo $((1 + 2))'
eval 'echo a'
cat <<E
$((1 + 2)) ${x:-y}
E
X=$(date) ; echo "$X"
exec {fd}< f; read -u $fd x
coproc cat
x=${y:-$(date)}; echo "${x%%.*}"
echo "${x:=1}"
echo "${HOME:?}"
for x in a b; do echo "$x"; done
for f in *; do echo "$f"; done
echo {1..3} {a,b}
time ls
`), "\n") {
		if strings.HasPrefix(line, "$((1") || line == "E" {
			continue
		}
		if line == "cat <<E" {
			line = "cat <<E\n$((1 + 2)) ${x:-y}\nE"
		}
		cmds, err := Parse(line, Options{Dir: "/w", Home: "/h"}, few{})
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if unknown(cmds) {
			var got []string
			for _, c := range cmds {
				got = append(got, shown(c))
			}
			t.Errorf("%s: taken as unknown: %s", line, strings.Join(got, "; "))
		}
	}
}
