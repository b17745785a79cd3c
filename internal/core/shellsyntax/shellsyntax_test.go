package shellsyntax

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func parse(t *testing.T, line string) []Command {
	t.Helper()
	cs, err := Parse(line, Options{Dir: "/w", Home: "/h"}, few{})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return cs
}

// shown writes a command down with all that matters in a test.
func shown(c Command) string {
	var parts []string
	for _, w := range c.Words {
		switch {
		case w.Known:
			parts = append(parts, Quote(w.Text))
		case w.Glob:
			parts = append(parts, "<"+w.Text+">")
		default:
			parts = append(parts, "?"+w.Text+"|"+w.Prefix+"|"+w.Blank)
		}
	}
	s := strings.Join(parts, " ")
	if len(c.Assigns) > 0 {
		s = strings.TrimSpace("{" + strings.Join(c.Assigns, " ") + "} " + s)
	}
	if len(c.Wrappers) > 0 {
		s = "[" + strings.Join(c.Wrappers, " ") + "] " + s
	}
	for _, r := range c.Redirects {
		s += " " + r.Op + r.Target.Text
	}
	if !c.Dir.Known {
		s += " @?"
	} else if c.Dir.Text != "/w" || len(c.Alt) > 0 {
		s += " @" + strings.Join(append([]string{c.Dir.Text}, c.Alt...), ",")
	}
	if c.Code {
		s += " CODE"
	}
	if c.Evaluates {
		s += " EVAL"
	}
	if len(c.From) > 0 {
		s += fmt.Sprintf(" <%v", c.From)
	}
	if c.Background {
		s += " &"
	}
	return strings.TrimSpace(s)
}

// SPEC 16.5: every simple command by itself, its words as far as known.
func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		`ls -la`:                                   "ls -la",
		`\rm "r"f 'a b' $'\x41\n'`:                 "rm rf 'a b' 'A\n'",
		`a"b"'c'd\ e`:                              "'abcd e'",
		`echo ~ ~/x ~root "~"`:                     "echo /h /h/x ?~root||~root '~'",
		`echo $HOME "$HOME/x" $X "$X/a"`:           `echo /h /h/x ?$X|| ?"$X/a"||/a`,
		`echo a{b,c}{1..3} {x} {a..c} {3..1}`:      "echo ?a{b,c}{1..3}|a|a{b,c}{1..3} '{x}' ?{a..c}||{a..c} ?{3..1}||{3..1}",
		`echo *.go a/*/b .* "*" [ab] [`:            "echo <*.go> <a/*/b> ?.*|.|.* '*' <[ab]> '['",
		`x=1; echo $x ${x} "${x:-y}"`:              `{x=1}; echo ?$x|| ?${x}|| ?"${x:-y}"||y`,
		`x="-r /"; rm $x "$x"`:                     `{x=-r /}; rm ?$x|| ?"$x"||`,
		`x=1 y=$x cmd $x`:                          "{x=1 y=$x} cmd ?$x||",
		`x=a; if true; then x=b; fi; rm $x`:        "{x=a}; true; {x=b}; rm ?$x||",
		`false && x=a; rm $x`:                      "false; {x=a}; rm ?$x||",
		`for i in a b; do c $i; done`:              "{i=}; c ?$i||",
		`for i in $X; do c $i; done`:               "{i=}; c ?$i||",
		`while read x; do c $x; done < f`:          "<f; read x; c ?$x||",
		`x=a; while c $x; do x=b; done`:            "{x=a}; c ?$x||; {x=b}",
		`read x; c $x`:                             "read x; c ?$x||",
		`a | b && c || d; e & f`:                   "a; b <[0]; c; d; e &; f",
		`(a; b) | c`:                               "a; b; c <[0 1]",
		`if a; then b; elif c; then d; else e; fi`: "a; b; c; d; e",
		`case x in a) b;; *) c;; esac`:             "b; c",
		`f() { a; }; f`:                            "a; f",
		`a $(b) "$(c)" ` + "`d`":                   `b; c; d; a ?$(b)|| ?"$(c)"|| ?` + "`d`|| <[0 1 2]",
		`a <(b) >(c)`:                              "b; c; a ?<(b)|| ?>(c)|| <[0 1]",
		"a <<E\n$(b)\nE":                           "b; a <[0]",
		"a <<'E'\n$(b)\nE":                         "a",
		`a >f 2>&1 <g >>h &>i`:                     "a >f <g >>h &>i",
		`a >&f`:                                    "a >&f",
		`cd s; a`:                                  "cd s; a @/w/s,/w",
		`cd s && a`:                                "cd s; a @/w/s",
		`cd s && a; b`:                             "cd s; a @/w/s; b @/w/s,/w",
		`cd s || exit; a`:                          "cd s; exit @/w/s,/w; a @/w/s",
		`cd ..; cd ..`:                             "cd ..; cd .. @/,/w",
		`(cd s); a`:                                "cd s; a",
		`cd $X; a`:                                 "cd ?$X||; a @?",
		`cd; a`:                                    "cd; a @/h,/w",
		`cd -; a`:                                  "cd -; a @?",
		`pushd s && a; popd; b`:                    "pushd s; a @/w/s; popd @/w/s,/w; b @?",
		`CDPATH=/x; cd s; a`:                       "{CDPATH=/x}; cd s; a @?",
		`f() { cd s; }; f; a`:                      "cd s @?; f; a @?",
		`eval 'cd s' && a`:                         "cd s; a @/w/s,/w",
		`eval "a $X"`:                              `eval ?"a $X"|a |a  CODE`,
		`sh -c 'a; b'`:                             "sh -c 'a; b'; a; b",
		`x=1; sh -c 'a $x'`:                        "{x=1}; sh -c 'a $x'; a ?$x||",
		`bash -c "$X"`:                             `bash -c ?"$X"|| CODE`,
		`a | sh`:                                   "a; sh CODE <[0]",
		`bash <<< 'a b'`:                           "bash; a b",
		"sh <<E\na b\nE":                           "sh; a b",
		`bash x.sh`:                                "bash x.sh",
		`exec a`:                                   "[exec] a",
		`trap 'a' EXIT`:                            "a; trap a EXIT",
		`IFS=,; x=a,b; c $x`:                       "{IFS=,}; {x=a,b}; c ?$x||",
		`time a`:                                   "a",
		`! a`:                                      "a",
		`x=(a $(b)); c "${x[@]}"`:                  `b; {x=(a $(b))} EVAL <[0]; c ?"${x[@]}"|| EVAL`,
		`export A=b; c $A`:                         "{A=b} export; c ?$A||",
		`a; # rm -rf /`:                            "a",
		`rm ${X:?}/a`:                              "rm ?${X:?}/a||\x00/a",
		`rm ${X:-/}`:                               "rm ?${X:-/}||/",
		`echo $((a[$(b)])); [[ x -eq y ]]; ((i++))`: "b; echo ?$((a[$(b)]))|| EVAL <[0]; EVAL; EVAL",
		`HOME=/x; c $HOME`:                          "{HOME=/x}; c ?$HOME||",
		``:                                          "",
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

// SPEC 16.5: what cannot be parsed is an error and no commands.
func TestFailsClosed(t *testing.T) {
	deep := strings.Repeat("( ", 200) + "a" + strings.Repeat(")", 200)
	many := strings.Repeat("a;", maxCommands+1)
	for line, want := range map[string]error{
		"a 'b": ErrSyntax, "a $(b": ErrSyntax, "if a": ErrSyntax, "a\x00b": ErrSyntax, "a\r\nb": ErrSyntax, "a )": ErrSyntax,
		"sh -c 'a $('": ErrSyntax, "eval 'a ('": ErrSyntax, ":(){ :|:& };:": ErrForkBomb, "f() { f & }; f": ErrForkBomb,
		deep: ErrTooLarge, many: ErrTooLarge, strings.Repeat("(", maxOpeners+1): ErrTooLarge, strings.Repeat("a", maxBytes+1): ErrTooLarge,
		"echo " + strings.Repeat("{a,b}", 40): nil,
	} {
		cs, err := Parse(line, Options{Dir: "/w"}, few{})
		if !errors.Is(err, want) || want != nil && cs != nil {
			t.Errorf("%.40q: %v, %d commands", line, err, len(cs))
		}
	}
}

// The text of a command reads back as the same command.
func TestString(t *testing.T) {
	for _, line := range []string{"a b", "a 'b c' '' \"'\"", `a \* \$x`, "A=1 b"} {
		c := parse(t, line)[0]
		again := parse(t, c.String())
		if len(again) != 1 || !slices.Equal(again[0].Words, c.Words) {
			t.Errorf("%s became %s", line, c.String())
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"ls", "a | b && c", "x=1; echo $x", "for i in a b; do c $i; done", ":(){ :|:& };:", "sh -c 'a; b'", "a <<E\n$(b)\nE", "cd s && a",
		"env timeout a", "find . -exec a {} +", "a ${x:-$(b)}", "echo $((a[$(b)]))", "[[ a -eq b ]]", "case a in b) c;; esac", "a{b,c{d,e}}{1..9}",
		"eval eval eval a", "trap 'a' EXIT", "export A=b", "coproc a", "select x in a; do b; done", "let a=1", "${x@P}", "$'\\x41'", "a &> b >& c <> d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, posix := range []bool{false, true} {
			cs, err := Parse(line, Options{Dir: "/w", Home: "/h", POSIX: posix}, few{})
			if err != nil {
				if cs != nil || !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrForkBomb) {
					t.Fatalf("%v with %d commands", err, len(cs))
				}
				continue
			}
			if len(cs) > maxCommands {
				t.Fatal(len(cs))
			}
			for i, c := range cs {
				if len(c.Words)+len(c.Assigns)+len(c.Redirects) == 0 && !c.Evaluates && !c.Code {
					t.Fatalf("%q: an empty command", line)
				}
				for _, j := range c.From {
					if j < 0 || j >= len(cs) {
						t.Fatalf("%q: command %d is from %d", line, i, j)
					}
				}
				_ = c.String()
				for _, w := range c.Words {
					if w.Known && (w.Prefix != "" || w.Blank != "" || w.Glob) {
						t.Fatalf("%q: %+v", line, w)
					}
				}
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		_, _ = Parse(`cd sub && go test ./... 2>&1 | tail -20 && for f in a b; do echo "$f"; done`, Options{Dir: "/w"}, few{})
	}
}
