package shellsyntax

import (
	"bytes"
	"fmt"
	"math/rand"
	"os/exec"
	"strings"
	"testing"
)

func TestDiffBash(t *testing.T) {
	pieces := []string{"a", "b", " ", "'", "\"", "\\", "$x", "${x}", "$y", "${y:-d}", "{", "}", ",", "..", "1", "3", "~", "/", "*", "$'\\x41'", "$HOME", "\\n", "=", "#", "$", "z", "'q r'", "\"$x\"", "\\ ", "$(echo s)", "${x:+k}", "{a,b}", "{1..3}", "x=2 ;", "; x=n;", "&& x=m &&", "|| x=l;", "[", "]", "?", "!", "-", "if true; then x=t; fi;", "(x=g);", "for x in p q; do printf '%s\\0' \"$x\"; done;"}
	r := rand.New(rand.NewSource(testSeed))
	dir := t.TempDir()
	var script strings.Builder
	type tc struct{ line, want string }
	var cases []tc
	for range 20000 {
		var b strings.Builder
		b.WriteString("x='v w'; printf '%s\\0' ")
		for range 1 + r.Intn(6) {
			b.WriteString(pieces[r.Intn(len(pieces))])
		}
		line := b.String()
		cs, err := Options{Dir: dir, Home: "/h"}.Parse(line)
		if err != nil {
			continue
		}
		var want strings.Builder
		ok := true
		for _, c := range cs {
			if len(c.Words) == 0 {
				continue
			}
			if c.Words[0].Text != "printf" {
				ok = ok && c.Words[0].Known && c.Words[0].Text == "true"
				continue
			}
			for _, w := range c.Words[2:] {
				ok = ok && w.Known
				want.WriteString(w.Text + "\x00")
			}
			if len(c.Words) == 2 {
				want.WriteString("\x00")
			}
			if len(c.Redirects) > 0 {
				ok = false
			}
		}
		if !ok || strings.Contains(line, "||") {
			continue
		}
		cases = append(cases, tc{line, want.String()})
		fmt.Fprintf(&script, "( eval %s ) 2>/dev/null; printf '\\1'\n", Quote(line))
	}
	cmd := exec.Command("bash", "-s")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=/h", "PATH=/usr/bin:/bin"}
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.Output()
	if err != nil {
		t.Log(err)
	}
	got := bytes.Split(out, []byte{1})
	t.Log(len(cases), len(got))
	bad := 0
	for i, c := range cases {
		if i < len(got) && string(got[i]) != c.want {
			if bad++; bad < 25 {
				t.Errorf("%s\n bash %q\n ours %q", c.line, got[i], c.want)
			}
		}
	}
	t.Log("bad", bad)
}

const testSeed = 11
