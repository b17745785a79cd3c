package shellsyntax

import (
	"strings"
	"testing"
)

// SPEC 16.5: what a wrapper does besides running its command is told of the
// command; an option of it that is not known makes it unknown.
func TestWrappers(t *testing.T) {
	for line, want := range map[string]string{
		`env -iC sub a`:                       "[env] a @/w/sub",
		`env -vC sub a`:                       "[env] a @/w/sub",
		`env -Csub a`:                         "[env] a @/w/sub",
		`env -C sub env -C x a`:               "[env env] a @/w/sub/x",
		`env --chdir=../sib a`:                "[env] a @/sib",
		`env --ch ../sib a`:                   "[env] a @/sib",
		`env -C l/.. a`:                       "[env] a @/w/l/..",
		`env -C "$X" a`:                       "[env] a @?",
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
		`eval a > f`:                          ">f; a",
		`eval > f`:                            ">f",
		`builtin eval a < f`:                  "<f; a",
		`A=b eval a`:                          "{A=b} eval a CODE; a",
		`xargs --process-slot-var=PATH a`:     "[xargs] a ?…|| CODE",
		`sudo -zu me a`:                       "sudo -zu me a",
		`sudo -s a`:                           "sudo -s a",
		`sudo -nu me a`:                       "[sudo] a",
		`sudo -D /x a`:                        "sudo -D /x a",
		`find . -exec sh -c 'a "$1"' x {} \;`: "find . -exec sh -c 'a \"$1\"' x '{}' ';'; [find] sh -c 'a \"$1\"' x ?{}|| <[0]; a ?\"$1\"|| @? <[0]",
	} {
		facts(t, line, want)
	}
}

// SPEC 16.8: ".." stays behind what may be a link; cd goes by the path as it
// is written, and where that is no folder, as the kernel does.
func TestFolders(t *testing.T) {
	for line, want := range map[string]string{
		`cd l/.. && a`:          "cd l/..; a",
		`cd -P l/.. && a`:       "cd -P l/..; a @/w/l/..",
		`cd -LP l/.. && a`:      "cd -LP l/..; a @?",
		`cd l/../x && a`:        "cd l/../x; a @/w/x,/w/l/../x",
		`cd l && cd .. && a`:    "cd l; cd .. @/w/l; a",
		`cd l && cd -P .. && a`: "cd l; cd -P .. @/w/l; a @/w/l/..",
		`cd l && cd ../x && a`:  "cd l; cd ../x @/w/l; a @/w/x,/w/l/../x",
		`cd .. && a`:            "cd ..; a @/",
		`cd ../x && a`:          "cd ../x; a @/x",
		`cd -P .. && a`:         "cd -P ..; a @/",
		`cd /l/.. && a`:         "cd /l/..; a @/",
		`cd -P /l/.. && a`:      "cd -P /l/..; a @/l/..",
		`cd -P l/.. && cd x; a`: "cd -P l/..; cd x @/w/l/..; a @/w/l/../x,/w,/w/l/..",
	} {
		facts(t, line, want)
	}
	for line, want := range map[string]string{
		"cat l/../x": "/w/x", "cat ../x": "/x", "cd l && cat ../x": "/w/x", "cat <(a)": "", "cat */x": "/w/*",
	} {
		cs := parse(t, line)
		c := cs[len(cs)-1]
		if got, _ := c.Paths(c.Words[1]); strings.Join(got, " ") != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// SPEC 16.5: what is known of a word that only run time knows.
func TestWordFacts(t *testing.T) {
	for line, want := range map[string]Word{
		`a <(b)`:                         {Text: "<(b)", Prefix: "/dev/fd/", Blank: "/dev/fd/", One: true, Proc: true},
		`a x<(b)`:                        {Text: "x<(b)", Prefix: "x", Blank: "x", One: true},
		`a "$X"`:                         {Text: `"$X"`, One: true},
		`a $X`:                           {Text: "$X"},
		`a "$@"`:                         {Text: `"$@"`},
		`a "${X[@]}"`:                    {Text: `"${X[@]}"`},
		`a $#`:                           {Text: "$#", Blank: "0", One: true, Num: true},
		`a $((1 + 1))`:                   {Text: "$((1 + 1))", Blank: "0", One: true, Num: true},
		`a ${#X}`:                        {Text: "${#X}", Blank: "0", One: true, Num: true},
		`a -$#`:                          {Text: "-$#", Prefix: "-", Blank: "-0", One: true, Num: true},
		`a x$#`:                          {Text: "x$#", Prefix: "x", Blank: "x0", One: true},
		`a $(b | wc -l)`:                 {Text: "$(b | wc -l)", Blank: "0", One: true, Num: true},
		`a $(grep -c b c)`:               {Text: "$(grep -c b c)", Blank: "0", One: true, Num: true},
		`a $(wc -l < b)`:                 {Text: "$(wc -l < b)", Blank: "0", One: true, Num: true},
		`a $(wc -l b)`:                   {Text: "$(wc -l b)"},
		`a $(wc -lc < b)`:                {Text: "$(wc -lc < b)"},
		`a $(wc < b)`:                    {Text: "$(wc < b)"},
		`a $(wc -l $X)`:                  {Text: "$(wc -l $X)"},
		`a $(wc -l < b 2>&1)`:            {Text: "$(wc -l < b 2>&1)"},
		`a $(wc -l < b; c)`:              {Text: "$(wc -l < b; c)"},
		`a $(./wc -l < b)`:               {Text: "$(./wc -l < b)"},
		`wc() { b; }; a $(wc -l)`:        {Text: "$(wc -l)"},
		`a $(grep -c b c d)`:             {Text: "$(grep -c b c d)"},
		`a $(grep -rc b)`:                {Text: "$(grep -rc b)"},
		`a $(grep -c "$X" b)`:            {Text: `$(grep -c "$X" b)`},
		`a $(grep -c b *)`:               {Text: "$(grep -c b *)"},
		`a $(grep -cH b c)`:              {Text: "$(grep -cH b c)"},
		`a $(wc -l < b | cat)`:           {Text: "$(wc -l < b | cat)"},
		`a $(! wc -l < b)`:               {Text: "$(! wc -l < b)", Blank: "0", One: true, Num: true},
		`IFS=0; a $#`:                    {Text: "$#", Blank: "0"},
		"a 'b\rc'":                       {Text: "b\rc", Known: true},
		"a \"b\rc\"":                     {Text: "b\rc", Known: true},
		"a $'b\rc'":                      {Text: "b\rc", Known: true},
		`x=a; a ${x}b`:                   {Text: "ab", Known: true},
		"x='b\r'; a \"$x\"":              {Text: "b\r", Known: true},
		`a ${X:-b}`:                      {Text: "${X:-b}", Blank: "b"},
		`n=1; n+=2; a $n`:                {Text: "12", Known: true},
		`n=$#; n+=2; a $n`:               {Text: "$n", One: true, Num: true, Blank: "0"},
		`x=a:~/b; a "$x"`:                {Text: `"$x"`, One: true},
		`for x in 1 2; do :; done; a $x`: {Text: "$x"},
	} {
		cs := parse(t, line)
		c := cs[len(cs)-1]
		if got := c.Words[len(c.Words)-1]; got != want {
			t.Errorf("%s\n got %+v\nwant %+v", line, got, want)
		}
	}
	cs := parse(t, "a <<E\nb\rc\nE\nd > 'e\rf'")
	if cs[1].Redirects[0].Target.Text != "e\rf" {
		t.Errorf("%+v", cs[1].Redirects)
	}
}

// A plain sh has fewer commands than bash: what those would set is not known.
func TestPlainShell(t *testing.T) {
	for _, line := range []string{
		`sh -c 'd=../sib; declare d=.; cat $d'`, `sh -c 'd=../sib; typeset d=.; cat $d'`, `sh -c 'd=../sib; d+=x; cat $d'`, `dash -c 'd=../sib; printf -v d .; cat $d'`,
		`sh -c 'd=.; d=../sib :; cat $d'`,
		`\time cd sub && cat ../x`,
	} {
		cs := parse(t, line)
		c := cs[len(cs)-1]
		if c.Dir.Text != "/w" || c.Words[1].Known && strings.Contains(line, "sh -c") {
			t.Errorf("%s: %+v", line, c)
		}
	}
}

func facts(t *testing.T, line, want string) {
	t.Helper()
	var got []string
	for _, c := range parse(t, line) {
		got = append(got, shown(c))
	}
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("%s\n got %s\nwant %s", line, s, want)
	}
}
