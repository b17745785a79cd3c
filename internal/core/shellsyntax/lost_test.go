package shellsyntax

import (
	"strings"
	"testing"
)

// SPEC 16.5: wherever a command stands, it is in the answer.
func TestNothingLost(t *testing.T) {
	for _, line := range strings.Split(`eval ls > f
eval "eval ls > f"
eval -- 'ls > f'
command eval 'ls > f'
command -v ls > f
env ls > f
time -p ls > f
bash -c ls > f
sh -c 'ls > f'
bash <<< 'ls > f'
echo $(ls > f)
echo `+"`"+`ls > f`+"`"+`
echo "${x:-$(ls > f)}"
echo $((1 + $(ls > f)))
[[ $(ls > f) ]]
case $(ls > f) in a) ;; esac
for i in $(ls > f); do :; done
for ((i = $(ls > f); i < 1; i++)); do :; done
for ((i = 0; i < $(ls > f); i++)); do :; done
for ((i = 0; i < 1; i += $(ls > f))); do :; done
while ls > f; do break; done
until ls > f; do break; done
if ls > f; then :; fi
select i in $(ls > f); do break; done
a=($(ls > f))
a[$(ls > f)]=1
a+=($(ls > f))
a=([$(ls > f)]=1)
declare a=$(ls > f)
declare -a a=($(ls > f))
echo ${a[$(ls > f)]}
echo ${a:$(ls > f)}
echo ${a:0:$(ls > f)}
echo ${a/$(ls > f)/b}
echo ${a/b/$(ls > f)}
echo ${a#$(ls > f)}
echo ${a^$(ls > f)}
echo ${!a[$(ls > f)]}
echo ${#a[$(ls > f)]}
echo ${a[$(ls > f)]@Q}
echo ${a[$(ls > f)]:-b}
echo ${a[0]:-$(ls > f)}
echo ${a[0]#$(ls > f)}
echo ${a[0]:$(ls > f)}
echo ${@:-$(ls > f)}
echo ${*/$(ls > f)/b}
echo ${1:-$(ls > f)}
echo ${x:?$(ls > f)}
echo ${x:+$(ls > f)}
echo ${x:=$(ls > f)}
x=1; echo ${x:-$(ls > f)}
x=1; echo ${x:?$(ls > f)}
cat <(ls > f)
cat < <(ls > f)
coproc ls > f
coproc { ls > f; }
(ls > f)
{ ls > f; }
! ls > f
time ls > f
function g { ls > f; }; g
[[ a =~ $(ls > f) ]]
[[ -v a[$(ls > f)] ]]
let "x = $(ls > f)"
((x = $(ls > f)))
echo $[$(ls > f)]
echo {a,$(ls > f)}
echo {a..$(ls > f)}
cat <<< $(ls > f)
cat > $(ls > f)
echo $x{a,b}$(ls > f)
$(ls > f)
x=$(ls > f) ls
env X=$(ls > f) ls
command $(ls > f)
if :; then (case a in a) ls > f;; esac); fi
x='ls > f'; eval $x`, "\n") {
		cmds, err := Parse(line, Options{Dir: "/w"}, few{})
		found := 0
		for _, c := range cmds {
			for _, r := range c.Redirects {
				if r.Target.Text == "f" {
					found++
				}
			}
		}
		// Once: what is walked twice would double with each level.
		if err == nil && found != strings.Count(line, "> f") {
			t.Errorf("%s: found %d times", line, found)
		}
	}
}

// An expansion that fails ends its line, not the next: what the line sets may
// be as before.
func TestFailingLines(t *testing.T) {
	for _, line := range []string{
		"x=$((1/0))", ": $((1/0)); x=1", ": $((08)); x=1", ": $((HOME)); x=1", ": ${!y}; x=1", "a[-5]=1; x=1", "echo ${a[-5]}; x=1",
		"readonly z; z=1; x=1", "i=0; : $((i)) $((1 % i)); x=1", "y=09; : $((y)); x=1", "for i in 1; do : $((1/0)); x=1; done", "{ : $((z)); x=1\n}",
		"x=$((y)) z=1", "echo ${y:1/0}; x=1", "if :; then : $((1/0)); fi; x=1", "eval ': $((1/0))\nx=1'; x=1; : $((2**-1)); x=1",
	} {
		line = "x='a[$(zap)]'\n" + strings.ReplaceAll(line, `\n`, "\n") + "\n((x))"
		if cmds, err := Parse(line, Options{Dir: "/w"}, few{}); err == nil && !unknown(cmds) {
			t.Errorf("%s: taken as known", line)
		}
	}
	for _, line := range []string{
		"x=1\ny=$((x / 2))\n((y))", "x=1\nx=$((x + 1)); y=3\n((x + y))", "n=$(ls | wc -l)\nm=$((n * 2))\n[[ $m -gt 3 ]]", "i=0\nfor f in *; do i=$((i + 1)); done\n((i))",
	} {
		if cmds, err := Parse(line, Options{Dir: "/w"}, few{}); err != nil || unknown(cmds) {
			t.Errorf("%s: taken as unknown, %v", line, err)
		}
	}
}
