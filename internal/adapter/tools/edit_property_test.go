package tools

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// randomFile draws a file of few words, so that lines come again, in every
// indentation, with every line ending.
func randomFile(t *rapid.T, name string, least int) string {
	word := rapid.SampledFrom([]string{"a", "b()", "if x:", "return 1", "x = f(a,", "b)", "}", "“q”", "n = 10", ""})
	in := rapid.SampledFrom([]string{"", "", "  ", "    ", "        ", "\t", "\t\t", "\t  "})
	eols := rapid.SampledFrom([][]string{{"\n"}, {"\n"}, {"\r\n"}, {"\n", "\r\n"}}).Draw(t, name+" endings")
	eol := rapid.SampledFrom(eols)
	var b strings.Builder
	for range rapid.IntRange(least, 8).Draw(t, name+" lines") {
		b.WriteString(in.Draw(t, "in") + word.Draw(t, "word"))
		b.WriteString(rapid.SampledFrom([]string{"", "", "", " "}).Draw(t, "trail"))
		b.WriteString(eol.Draw(t, "eol"))
	}
	s := b.String()
	if rapid.IntRange(0, 3).Draw(t, "open") == 0 {
		s = strings.TrimRight(s, "\r\n")
	}
	return s
}

// bent is a text as a model may give it back: in another indentation, line
// ending or spacing, or as it is.
func bent(t *rapid.T, s, shift string) string {
	s = withEnding(s, "\n")
	lines := plainLines(s)
	how := rapid.IntRange(0, 6).Draw(t, "how")
	for i, l := range lines {
		switch how {
		case 1:
			lines[i] = strings.TrimPrefix(l, shift)
		case 2:
			lines[i] = shift + l
		case 3:
			lines[i] = strings.TrimRight(l, " ")
		case 4:
			lines[i] = strings.ReplaceAll(l, "\t", "    ")
		case 5:
			if i == 0 {
				lines[i] = strings.TrimLeft(l, " \t")
			}
		}
	}
	if how == 6 {
		lines = slices.DeleteFunc(lines, blank)
	}
	return strings.Join(lines, "\n") + "\n"
}

// SPEC 4.10: the result is exactly the one replacement, or a refusal; the same
// edit twice is the same as once; every byte outside of the replaced lines
// stays, and no line is joined, cut or made longer that is not old's.
func TestEditProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := randomFile(t, "file", 1)
		mark := rapid.SampledFrom([]string{"", "", bom}).Draw(t, "mark")
		lines := splitLines(file)
		if len(lines) == 0 {
			return
		}
		from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		to := rapid.IntRange(from, min(len(lines)-1, from+3)).Draw(t, "to")
		part := strings.Join(lines[from:to+1], "")
		fresh := part
		if rapid.Bool().Draw(t, "change") {
			fresh = strings.Replace(part, rapid.SampledFrom([]string{"a", "x", "1", "b", " ", "\n"}).Draw(t, "was"), rapid.SampledFrom([]string{"NEW", "a", "1", "", "\n"}).Draw(t, "is"), 1)
		} else {
			fresh = randomFile(t, "new", 0)
		}
		shift := rapid.SampledFrom([]string{" ", "    ", "\t"}).Draw(t, "shift")
		old, text := part, fresh
		if rapid.Bool().Draw(t, "bend") {
			how := rapid.IntRange(0, 1).Draw(t, "both")
			if old = bent(t, part, shift); how == 1 {
				text = bent(t, fresh, shift)
			}
		}
		all := rapid.IntRange(0, 5).Draw(t, "all") == 0
		env, fs := memEnv(map[string]string{"f": mark + file})
		args := m{"path": "f", "old": old, "new": text, "replace_all": all}
		r := call(t, env, Edit(), args)
		once := fs.files["f"]
		if (r.Error || strings.Contains(r.Text, "already applied")) && once != mark+file {
			t.Fatalf("refused, and the file is %q\n%s", once, r.Text)
		}
		call(t, env, Edit(), args)
		if fs.files["f"] != once {
			t.Fatalf("%q: once %q, twice %q\nold %q new %q", file, once, fs.files["f"], old, text)
		}
		if once == mark+file || all {
			return
		}
		body, plain := strings.TrimPrefix(once, mark), withEnding(file, "\n")
		fo, ft := folded(old), strings.TrimRight(folded(text), "\r")
		if strings.Count(plain, fo) == 1 {
			// Byte for byte, but for line endings.
			if want := strings.Replace(plain, fo, ft, 1); folded(body) != folded(want) {
				t.Fatalf("%q became %q, want %q\n%s", file, body, want, r.Text)
			}
		} else if !strings.Contains(r.Text, "note: ") {
			t.Fatalf("a fitting is not told: %s", r.Text)
		}
		outside(t, file, body, r.Text)
		sameEndings(t, file, body)
	})
}

// outside: where the whole lines that both begin and end with are set aside,
// what is left of the old file are lines that the edit may change: the first
// and last stand whole in one of them.
func outside(t *rapid.T, before, after, said string) {
	a, b := splitLines(before), splitLines(after)
	pre := 0
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	post := 0
	for post < len(a)-pre && post < len(b)-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	if len(a)-pre-post > 5 { // of at most four lines, and one joined to them
		t.Fatalf("%q became %q: %d lines changed\n%s", before, after, len(a)-pre-post, said)
	}
}

// sameEndings: a file of one line ending has no other afterwards.
func sameEndings(t *rapid.T, before, after string) {
	crlf, lf := endings(before)
	crlf2, lf2 := endings(after)
	if crlf > 0 && lf == 0 && lf2 > 0 || lf > 0 && crlf == 0 && crlf2 > 0 {
		t.Fatalf("%q became %q: line endings", before, after)
	}
}

// A fitted replacement is the exact one of the same edit, given in the file's
// own indentation: whatever the file's depth, the result is shifted and no more.
func TestFittedIsExact(t *testing.T) {
	t.Parallel()
	landed := 0
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{6}\(\)`)
		in := rapid.SampledFrom([]string{"", "    ", "        "})
		block := func(name string, n int) (out []string) {
			for range n {
				out = append(out, in.Draw(t, name+" in")+word.Draw(t, name))
			}
			return out
		}
		olds, news := block("old", rapid.IntRange(2, 5).Draw(t, "n")), block("new", rapid.IntRange(1, 5).Draw(t, "k"))
		if rapid.Bool().Draw(t, "shared") {
			news = append(news, olds[len(olds)-1])
		}
		shift := rapid.SampledFrom([]string{"  ", "    ", "\t", "        "}).Draw(t, "shift")
		put := func(ls []string) string {
			var b strings.Builder
			for _, l := range ls {
				b.WriteString(shift + l + "\n")
			}
			return b.String()
		}
		head, tail := "head {\n", "} tail\n"
		plain := func(ls []string) string { return strings.Join(ls, "\n") + "\n" }
		r, miss := replace(head+put(olds)+tail, plain(olds), plain(news), false, false)
		if miss != nil || r.already {
			return
		}
		landed++
		if want := head + put(news) + tail; r.body != want {
			t.Fatalf("%q, want %q", r.body, want)
		}
	})
	if landed == 0 {
		t.Error("nothing ever landed")
	}
}

// A hunk of a random change, given in any bent form, makes the change or is
// refused; sent twice it is the same as once.
func TestHunkProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		file := randomFile(t, "file", 1)
		lines := plainLines(withEnding(file, "\n"))
		if len(lines) == 0 {
			return
		}
		var b strings.Builder
		b.WriteString("*** Begin Patch\n*** Update File: f\n")
		shift := rapid.SampledFrom([]string{" ", "    ", "\t"}).Draw(t, "shift")
		next := 0
		for range rapid.IntRange(1, 2).Draw(t, "hunks") {
			if next >= len(lines) {
				break
			}
			from := rapid.IntRange(next, len(lines)-1).Draw(t, "from")
			to := rapid.IntRange(from, min(len(lines)-1, from+3)).Draw(t, "to")
			b.WriteString("@@\n")
			side := plainLines(bent(t, strings.Join(lines[from:to+1], "\n"), shift))
			for i, l := range side {
				op := rapid.SampledFrom([]string{" ", " ", "-"}).Draw(t, "op")
				b.WriteString(op + l + "\n")
				if i == len(side)-1 || rapid.IntRange(0, 3).Draw(t, "add") == 0 {
					b.WriteString("+added(" + l + ")\n")
				}
			}
			next = to + 1
		}
		b.WriteString("*** End Patch")
		env, fs := memEnv(map[string]string{"f": file})
		r := call(t, env, ApplyPatch(), m{"patch": b.String()})
		once := fs.files["f"]
		if r.Error && once != file {
			t.Fatalf("refused, and the file is %q\n%s", once, r.Text)
		}
		call(t, env, ApplyPatch(), m{"patch": b.String()})
		if fs.files["f"] != once {
			t.Fatalf("%q: once %q, twice %q\n%s", file, once, fs.files["f"], b.String())
		}
		sameEndings(t, file, once)
		if strings.HasSuffix(file, "\n") != strings.HasSuffix(once, "\n") && once != "" && strings.Contains(file, "\n") {
			t.Fatalf("%q became %q: the final newline", file, once)
		}
	})
}
