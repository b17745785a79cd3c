package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// SPEC 16.5: what a wrapper does besides running its command is told of the
// command; an option of it that is not known makes it unknown.
func TestWrappers(t *testing.T) {
	for line, want := range map[string]string{
		`env -S 'a b'`: "[env] a b",
		`find . -exec a {} \; -o -execdir b {} +`: "find . -exec a '{}' ';' -o -execdir b '{}' +; [find] a ?{}|| <[0]; [find] b ?{}|| <[0]",
		`command -v a`:                        "command -v a",
		`env A=b timeout -s KILL 5 a b`:       "[env timeout] {A=b} a b",
		`nice -n 5 nohup stdbuf -oL a`:        "[nice nohup stdbuf] a",
		`sudo -u me a`:                        "[sudo] a",
		`xargs -n 1 a b`:                      "[xargs] a b ?…||",
		`command -p "$x" a`:                   `command -p ?"$x"|| a CODE`,
		`xargs -I "$x" a b`:                   `xargs -I ?"$x"|| a b CODE`,
		`env -iC sub a`:                       "[env] a @/w/sub",
		`env -vC sub a`:                       "[env] a @/w/sub",
		`env -Csub a`:                         "[env] a @/w/sub",
		`env -C sub env -C x a`:               "[env env] a @/w/sub/x",
		`env --chdir=../sib a`:                "[env] a @/sib",
		`env --ch ../sib a`:                   "[env] a @/sib",
		`env -C l/.. a`:                       `[env] a`,
		`env -C "$X" a`:                       `env -C ?"$X"|| a CODE`,
		`env -C $X a`:                         "env -C ?$X|| a CODE",
		`env -i A=b a`:                        "[env] {A=b} a",
		`env - a`:                             "[env] a",
		`env --zap a`:                         "[env] a CODE",
		`env -uX a`:                           "[env] a",
		`env -S"a b" c`:                       "[env] a b c",
		`env -S 'a "b"'`:                      "env -S 'a \"b\"'",
		`env --split-string='a -v' b`:         "[env] a -v b",
		`\time -po f a`:                       "[time] a >f",
		`\time -o f -a a`:                     "[time] a >f",
		`\time -of a`:                         "[time] a >f",
		`command time --output=f a`:           "[command time] a >f",
		`\time --out f a`:                     "[time] a >f",
		`\time -f %e a`:                       "[time] a",
		`\time --zap a`:                       "[time] a CODE",
		`nice -5 a`:                           "[nice] a",
		`nice -n5 a`:                          "[nice] a",
		`nice --adjustment=5 a`:               "[nice] a",
		`nice -z a`:                           "[nice] a CODE",
		`timeout -vk 1 5 a`:                   "[timeout] a",
		`timeout --foreground 5 a`:            "[timeout] a",
		`timeout --zap 5 a`:                   "[timeout] a CODE",
		`timeout -- 5 a`:                      "[timeout] a",
		`stdbuf -oL -e0 a`:                    "[stdbuf] a",
		`stdbuf --zap a`:                      "[stdbuf] a CODE",
		`setsid -fw a`:                        "[setsid] a",
		`setsid -z a`:                         "[setsid] a CODE",
		`nohup -z a`:                          "[nohup] a CODE",
		`exec -a x a`:                         "[exec] x a CODE",
		`exec -l a`:                           "[exec] a CODE",
		`exec -c a`:                           "[exec] a",
		`command -p a`:                        "[command] a",
		`command -z a`:                        "[command] a CODE",
		`command -pv a`:                       "command -pv a",
		`builtin -z a`:                        "[builtin] a CODE",
		`busybox a b`:                         "[busybox] a b",
		`xargs -0n1 a b`:                      "[xargs] a b ?…||",
		`xargs -I{} a {} b/{}`:                "[xargs] a ?{}|| ?b/{}|b/|b/",
		`xargs -I % sh -c 'a %'`:              "[xargs] sh -c ?a %|a |a  CODE",
		`xargs -i sh -c 'a {}'`:               "[xargs] sh -c ?a {}|a |a  CODE",
		`xargs --replace=R a R`:               "[xargs] a ?R||",
		`xargs -a f a`:                        "[xargs] a ?…|| <f",
		`xargs --arg-file=f a`:                "[xargs] a ?…|| <f",
		`eval a > f`:                          `eval a >f; a`,
		`eval > f`:                            `eval >f`,
		`builtin eval a < f`:                  `[builtin] eval a <f; a`,
		`A=b eval a`:                          `{A=b} eval a CODE`,
		`xargs --process-slot-var=PATH a`:     "[xargs] a ?…|| CODE",
		`sudo -zu me a`:                       "sudo -zu me a",
		`sudo -s a`:                           "sudo -s a",
		`sudo -nu me a`:                       "[sudo] a",
		`sudo -D /x a`:                        "sudo -D /x a",
		`find . -exec sh -c 'a "$1"' x {} \;`: "find . -exec sh -c 'a \"$1\"' x '{}' ';'; [find] sh -c 'a \"$1\"' x ?{}|| @? <[0]; a ?\"$1\"|| @? <[0]",
	} {
		var got []string
		for _, c := range parse(t, line) {
			got = append(got, shown(c))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s\n got %s\nwant %s", line, s, want)
		}
	}
}

// shown writes down what a line tells of a command.
func shown(c shellsyntax.Command) string {
	var parts []string
	if len(c.Wrappers) > 0 {
		parts = append(parts, "["+strings.Join(c.Wrappers, " ")+"]")
	}
	if len(c.Assigns) > 0 {
		parts = append(parts, "{"+strings.Join(c.Assigns, " ")+"}")
	}
	for _, w := range c.Words {
		if w.Known {
			parts = append(parts, shellsyntax.Quote(w.Text))
		} else {
			parts = append(parts, "?"+w.Text+"|"+w.Prefix+"|"+w.Blank)
		}
	}
	for _, r := range c.Redirects {
		parts = append(parts, r.Op+r.Target.Text)
	}
	if c.Dir.Text != "/w" {
		parts = append(parts, "@"+c.Dir.Text)
	}
	if c.Code {
		parts = append(parts, "CODE")
	}
	if len(c.From) > 0 {
		parts = append(parts, fmt.Sprintf("<%v", c.From))
	}
	return strings.Join(parts, " ")
}
