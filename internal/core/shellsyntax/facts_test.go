package shellsyntax

import (
	"strings"
	"testing"
)

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
		`a $(wc < b)`:                    {Text: "$(wc < b)"},
		`a $(wc -l $X)`:                  {Text: "$(wc -l $X)"},
		`a $(wc -l < b 2>&1)`:            {Text: "$(wc -l < b 2>&1)"},
		`a $(wc -l < b; c)`:              {Text: "$(wc -l < b; c)"},
		`a $(./wc -l < b)`:               {Text: "$(./wc -l < b)"},
		`wc() { b; }; a $(wc -l)`:        {Text: "$(wc -l)"},
		`a $(grep -c "$X" b)`:            {Text: `$(grep -c "$X" b)`},
		`a $(grep -c b *)`:               {Text: "$(grep -c b *)"},
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
