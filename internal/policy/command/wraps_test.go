package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// SPEC 16.5: a wrapper is taken off only with options that are known; else the command is
// the wrapper's.
func TestWrappers(t *testing.T) {
	for line, want := range map[string]string{
		`env A=b timeout -s KILL 5 a b`: `[env timeout] {A=b} a b`,
		`nice -n 5 nohup stdbuf -oL a`:  `[nice nohup stdbuf] a`,
		`env -i A=b a`:                  `[env] {A=b} a`,
		`env - a`:                       `[env] a`,
		`env -uX a`:                     `[env] a`,
		`env -u ls rm a`:                `[env] rm a`,
		`env --unset ls rm a`:           `[env] rm a`,
		`env --unset=ls rm a`:           `[env] rm a`,
		`sudo -u me a`:                  `[sudo] a`,
		`sudo -nu me a`:                 `[sudo] a`,
		`sudo A=b a`:                    `[sudo] {A=b} a`,
		`\time -f %e a`:                 `[time] a`,
		`nice -5 a`:                     `[nice] a`,
		`nice -n5 a`:                    `[nice] a`,
		`nice --adjustment=5 a`:         `[nice] a`,
		`timeout -vk 1 5 a`:             `[timeout] a`,
		`timeout --foreground 5 a`:      `[timeout] a`,
		`timeout -- 5 a`:                `[timeout] a`,
		`stdbuf -oL -e0 a`:              `[stdbuf] a`,
		`setsid -w a`:                   `[setsid] a`,
		`command -p a`:                  `[command] a`,
		`busybox a b`:                   `[busybox] a b`,
		`exec a b`:                      `[exec] a b`,
		// With another option, or a word that is not known, it is no wrapper.
		`env -S 'a b'`:      `env -S 'a b'`,
		`env -C sub a`:      `env -C sub a`,
		`env --zap a`:       `env --zap a`,
		`env --uns X a`:     `env --uns X a`,
		`\time -o f a`:      `time -o f a`,
		`nice -z a`:         `nice -z a`,
		`timeout --zap 5 a`: `timeout --zap 5 a`,
		`timeout "$x" a`:    `timeout ?"$x"|| a`,
		`nohup -z a`:        `nohup -z a`,
		`exec -a x a`:       `exec -a x a`,
		`command -v a`:      `command -v a`,
		`command -p "$x" a`: `command -p ?"$x"|| a`,
		`sudo -s a`:         `sudo -s a`,
		`sudo -D /x a`:      `sudo -D /x a`,
		`sudo -zu me a`:     `sudo -zu me a`,
		// What these run stays among their words.
		`xargs -n 1 a b`:      `xargs -n 1 a b`,
		`find . -exec a {} +`: `find . -exec a '{}' +`,
		`eval a > f`:          `eval a >f; a`,
		`eval > f`:            `eval >f`,
		`builtin eval a < f`:  `[builtin] eval a <f; a`,
		`A=b eval a`:          `{A=b} eval a CODE`,
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
