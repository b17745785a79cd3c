package tools

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// patchCase applies a patch in the *** form; file is the content of f. want has the
// files that differ afterwards; "-": removed; nil: the patch is refused.
type patchCase struct {
	name, file, patch string
	want              map[string]string
	says              string
}

func to(f string) map[string]string { return map[string]string{"f": f} }

// in is a patch of f.
func in(lines string) string {
	return "*** Begin Patch\n*** Update File: f\n" + lines + "*** End Patch\n"
}

var patchCases = []patchCase{
	// Blank lines belong to nothing before a marker.
	{"blank before End Patch", "a\nb\n", in("@@\n a\n-b\n+B\n\n"), to("a\nB\n"), ""},
	{"two blanks before End Patch", "a\nb\n", in("@@\n a\n-b\n+B\n\n\n"), to("a\nB\n"), ""},
	{"blank before the next file", "a\nb\n", in("@@\n a\n-b\n+B\n\n*** Update File: g\n@@\n-c\n+C\n"), map[string]string{"f": "a\nB\n", "g": "C\n"}, ""},
	{"blank before the next @@", "a\nb\nc\nd\n", in("@@\n-a\n+A\n\n@@\n-d\n+D\n"), to("A\nb\nc\nD\n"), ""},
	{"blank before End of File", "a\nb\n", in("@@\n-b\n+B\n\n*** End of File\n"), to("a\nB\n"), ""},
	{"blank behind End of File", "a\nb\n", in("@@\n+c\n*** End of File\n\n"), to("a\nb\nc\n"), ""},
	{"blank before the first file", "a\n", "*** Begin Patch\n\n*** Update File: f\n@@\n-a\n+A\n*** End Patch", to("A\n"), ""},
	{"blank behind the file's name", "a\n", in("\n@@\n-a\n+A\n"), to("A\n"), ""},
	{"blank behind @@", "a\nb\n", in("@@\n\n-a\n+A\n"), to("A\nb\n"), ""},
	{"blank with a space before End Patch", "a\nb\n", in("@@\n a\n-b\n+B\n \n"), to("a\nB\n"), ""},
	{"blank before Delete File", "a\n", in("@@\n-a\n+A\n\n*** Delete File: g\n"), map[string]string{"f": "A\n", "g": "-"}, ""},
	{"blank behind Delete File", "a\n", "*** Begin Patch\n*** Delete File: g\n\n*** Update File: f\n@@\n-a\n+A\n*** End Patch", map[string]string{"f": "A\n", "g": "-"}, ""},
	{"blank under Add File, at its end", "a\n", "*** Begin Patch\n*** Add File: n\n+one\n\n*** Update File: f\n@@\n-a\n+A\n*** End Patch", map[string]string{"f": "A\n", "n": "one\n"}, ""},
	{"blanks under Add File, before End Patch", "a\n", "*** Begin Patch\n*** Add File: n\n+one\n\n\n*** End Patch", map[string]string{"n": "one\n"}, ""},
	{"blank under Add File, within", "a\n", "*** Begin Patch\n*** Add File: n\n+one\n\n+two\n*** End Patch", map[string]string{"n": "one\n\ntwo\n"}, ""},
	{"blank under Add File, with its sign", "a\n", "*** Begin Patch\n*** Add File: n\n+one\n+\n*** End Patch", map[string]string{"n": "one\n\n"}, ""},
	{"a blank context line that lost its space", "a\n\nb\n", in("@@\n a\n\n-b\n+B\n"), to("a\n\nB\n"), ""},
	{"a blank line that the file has not", "a\nb\nc\n", in("@@\n a\n\n-b\n+B\n c\n"), nil, "not found"},
	{"a blank line that the hunk has not", "a\n\nb\nc\n", in("@@\n a\n-b\n+B\n c\n"), nil, "not found"},
	{"a blank line added", "a\nb\n", in("@@\n a\n+\n b\n"), to("a\n\nb\n"), ""},
	{"a blank line deleted", "a\n\nb\n", in("@@\n a\n-\n b\n"), to("a\nb\n"), ""},

	// Markers with spaces around.
	{"indented Update File", "a\n", "*** Begin Patch\n  *** Update File: f\n@@\n-a\n+A\n*** End Patch", to("A\n"), ""},
	{"indented second Update File", "a\n", in("@@\n-a\n+A\n  *** Update File: g\n@@\n-c\n+C\n"), nil, "not found"},
	{"indented End Patch", "a\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n *** End Patch", to("A\n"), ""},
	{"both ends indented", "a\n", " *** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n *** End Patch ", to("A\n"), ""},
	{"spaces behind", "a\n", "*** Begin Patch  \n*** Update File: f  \n@@  \n-a\n+A\n*** End Patch  \n", to("A\n"), ""},
	{"all of it indented", "a\nb\n", "    *** Begin Patch\n    *** Update File: f\n    @@\n     a\n    -b\n    +B\n    *** End Patch\n", to("a\nB\n"), ""},
	{"indented Add File", "a\n", "*** Begin Patch\n\t*** Add File: n\n+one\n*** End Patch", map[string]string{"n": "one\n"}, ""},
	{"indented Delete File", "a\n", "*** Begin Patch\n *** Delete File: g\n*** End Patch", map[string]string{"g": "-"}, ""},
	{"indented Move to", "a\n", "*** Begin Patch\n*** Update File: f\n *** Move to: h\n@@\n-a\n+A\n*** End Patch", map[string]string{"f": "-", "h": "A\n"}, ""},
	{"indented first @@", "a\n", in("  @@\n-a\n+A\n"), to("A\n"), ""},
	{"a context line that looks like a marker", "*** End Patch\na\n", in("@@\n *** End Patch\n-a\n+A\n"), to("*** End Patch\nA\n"), ""},
	{"a context line that looks like a file", "*** Update File: x\na\n", in("@@\n *** Update File: x\n-a\n+A\n"), to("*** Update File: x\nA\n"), ""},
	{"stars at the end", "a\n", "*** Begin Patch ***\n*** Update File: f ***\n@@\n-a\n+A\n*** End Patch ***", to("A\n"), ""},
	{"in a shell's here-document", "a\n", "apply_patch <<'EOF'\n" + in("@@\n-a\n+A\n") + "EOF\n", to("A\n"), ""},
	{"in a fence", "a\n", "```\n" + in("@@\n-a\n+A\n") + "```\n", to("A\n"), ""},
	{"in CRLF", "a\nb\n", strings.ReplaceAll(in("@@\n a\n-b\n+B\n\n"), "\n", "\r\n"), to("a\nB\n"), ""},

	// What follows @@.
	{"dots", "a\nOriginal\nb\n", in("@@ ... @@\n-Original\n+Modified\n"), to("a\nModified\nb\n"), ""},
	{"one sign of dots", "a\nOriginal\nb\n", in("@@ … @@\n-Original\n+Modified\n"), to("a\nModified\nb\n"), ""},
	{"dots, open", "a\nOriginal\nb\n", in("@@ ...\n-Original\n+Modified\n"), to("a\nModified\nb\n"), ""},
	{"dots in a diff", "Original\n", "--- f\n+++ f\n@@ ... @@\n-Original\n+Modified\n", to("Modified\n"), ""},
	{"numbers", "a\nb\n", in("@@ -7,2 +7,2 @@\n a\n-b\n+B\n"), to("a\nB\n"), ""},
	{"a line and the same as context", "def f\n x\nend\n", in("@@ def f\n def f\n- x\n+ y\n"), to("def f\n y\nend\n"), ""},
	{"a line in another whitespace", "\tdef f\n x\nend\n", in("@@   def f\n- x\n+ y\n"), to("\tdef f\n y\nend\n"), ""},
	{"a line that is nowhere", "a\n", in("@@ def f\n-a\n+A\n"), nil, "the line after @@ was not found"},
	{"the first behind the line", "f a\n x\nf b\n x\nf c\n x\n", in("@@ f b\n- x\n+ y\n"), to("f a\n x\nf b\n y\nf c\n x\n"), ""},

	// Marks and whitespace.
	{"a dash", "import asyncio  # local import – avoids top‑level dep\n", in("@@\n-import asyncio  # local import - avoids top-level dep\n+import asyncio  # HELLO\n"), to("import asyncio  # HELLO\n"), "dashes differed"},
	{"quotes in context", "say “x”\nb\n", in("@@\n say \"x\"\n-b\n+B\n"), to("say “x”\nB\n"), ""},
	{"quotes that stay", "p(“a”, b)\n", in("@@\n-p(\"a\", b)\n+p(\"a\", c)\n"), to("p(“a”, c)\n"), ""},
	{"NBSP", "a\u00a0b\nc\n", in("@@\n a b\n-c\n+C\n"), to("a\u00a0b\nC\n"), ""},
	{"one shift", "    a()\n    b()\n", in("@@\n a()\n-b()\n+c()\n"), to("    a()\n    c()\n"), "whitespace"},
	{"trailing blanks", "a  \nb\n", in("@@\n a\n-b\n+B\n"), to("a  \nB\n"), "whitespace"},
	{"two depths under one", "    a()\n        b()\n", in("@@\n a()\n b()\n+c()\n"), nil, "is unclear"},
	{"two places in another whitespace", "\ta()\n\tb()\n  a()\n  b()\n", in("@@\n a()\n-b()\n+c()\n"), nil, "2 times"},

	// Delete and add, in one patch.
	{"delete and add", "a\nb\n", "*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+x\n+y\n*** End Patch", to("x\ny\n"), "edited f"},
	{"delete and add of the same", "a\n", "*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+a\n*** End Patch", map[string]string{}, ""},
	{"delete and add in CRLF", "a\r\nb\r\n", "*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+x\n+b\n*** End Patch", to("x\r\nb\r\n"), ""},
	{"add and delete", "a\n", "*** Begin Patch\n*** Add File: n\n+x\n*** Delete File: n\n*** End Patch", nil, "added earlier"},
	{"delete and update", "a\n", "*** Begin Patch\n*** Delete File: f\n*** Update File: f\n@@\n-a\n+b\n*** End Patch", nil, "was deleted"},
	{"delete twice", "a\n", "*** Begin Patch\n*** Delete File: f\n*** Delete File: f\n*** End Patch", nil, "was deleted"},
	{"update twice", "a\nb\n", in("@@\n-a\n+A\n*** Update File: f\n@@\n-b\n+B\n"), to("A\nB\n"), ""},
	{"add over a file", "a\n", "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch", nil, "exists already"},

	// What is only added.
	{"at the end, then a removal", "line1\nline2\nline3\n", in("@@\n+after-context\n+second-line\n@@\n line1\n-line2\n-line3\n+line2-replacement\n"), to("line1\nline2-replacement\nafter-context\nsecond-line\n"), ""},
	{"at the end, twice", "a\n", in("@@\n+b\n@@\n+c\n"), to("a\nb\nc\n"), ""},
	{"at the end without a newline", "a", in("@@\n+b\n"), to("a\nb"), ""},
	{"to an empty file", "", in("@@\n+b\n"), to("b\n"), ""},
	{"behind a line", "a\nb\n", in("@@ a\n+x\n"), to("a\nx\nb\n"), ""},
	{"behind a line, then before it", "a\nb\nc\n", in("@@ c\n+x\n@@\n-a\n+A\n"), to("A\nb\nc\nx\n"), ""},
	{"is there already, at the end", "a\nbeta\n", in("@@\n+beta\n"), map[string]string{}, "applied already"},
	{"is there already, behind a line", "a\nx\nb\n", in("@@ a\n+x\n"), map[string]string{}, "applied already"},
	{"hunks in another order", "a\nb\nc\nd\n", in("@@\n-d\n+D\n@@\n-a\n+A\n"), to("A\nb\nc\nD\n"), ""},

	// Cut off.
	{"nothing under @@", "a\n", in("@@\n"), nil, "cut off"},
	{"nothing under @@ with a line", "a\n", in("@@ a\n"), nil, "cut off"},
	{"End of File under @@", "a\n", in("@@\n*** End of File\n"), nil, "cut off"},
	{"nothing under the second @@", "a\nb\n", in("@@\n-a\n+A\n@@\n"), nil, "cut off"},
	{"context only", "a\nb\n", in("@@\n a\n b\n"), nil, "cut off"},
	{"no End Patch", "a\nb\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n", nil, "cut off"},
	{"cut within a hunk", "a\nb\n", "*** Begin Patch\n*** Update File: f\n@@\n-a", nil, "cut off"},
	{"cut within a marker", "a\nb\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n*** End", nil, "not known"},
	{"cut within Add File", "a\n", "*** Begin Patch\n*** Add File: n\n+one\n+tw", nil, "cut off"},
	{"cut behind a name", "a\n", "*** Begin Patch\n*** Update File: f", nil, "cut off"},
	{"no Begin and no End", "a\n", "*** Update File: f\n@@\n-a\n+A\n", nil, "cut off"},
	{"no changes", "a\n", in(""), nil, "no changes"},
	{"two patches", "a\nb\n", in("@@\n-a\n+A\n") + in("@@\n-b\n+B\n"), nil, "second"},
	{"a diff without lines", "a\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n", nil, "cut off"},
	{"a diff cut behind a removal", "a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n", nil, "cut off"},
	{"a diff cut before its context", "a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n", nil, "cut off"},
	{"a placeholder", "a\nb\n", in("@@\n-a\n+A\n+// ... rest of methods ...\n b\n"), nil, "left out"},

	// Line endings.
	{"mixed, the replaced line's", "one\r\ntwo\nthree\r\nfour\n", in("@@\n-three\n+THREE\n"), to("one\r\ntwo\nTHREE\r\nfour\n"), ""},
	{"mixed, line by line", "one\r\ntwo\nthree\r\nfour\n", in("@@\n-one\n-two\n-three\n+1\n+2\n+3\n four\n"), to("1\r\n2\n3\r\nfour\n"), ""},
	{"mixed, what stays keeps its own", "one\r\ntwo\nthree\r\nfour\n", in("@@\n one\n+new\n two\n three\n"), to("one\r\nnew\r\ntwo\nthree\r\nfour\n"), ""},
	{"CRLF", "a\r\nb\r\n", in("@@\n a\n-b\n+B\n+C\n"), to("a\r\nB\r\nC\r\n"), ""},
	{"CRLF without the last", "a\r\nb", in("@@\n a\n-b\n+B\n+C\n"), to("a\r\nB\r\nC"), ""},
	{"BOM", bom + "a\nb\n", in("@@\n-a\n+A\n b\n"), to(bom + "A\nb\n"), ""},
	{"the last line goes", "a\nb", in("@@\n a\n-b\n"), to("a"), ""},

	// Sent twice.
	{"an insertion", "a\nbeta\nc\n", in("@@\n a\n+beta\n c\n"), map[string]string{}, "applied already"},
	{"an insertion with the line before only", "a\nbeta\nc\n", in("@@\n a\n+beta\n"), map[string]string{}, "applied already"},
	{"an insertion with the line behind only", "a\nbeta\nc\n", in("@@\n+beta\n c\n"), map[string]string{}, "applied already"},
	{"a deletion behind a line, with others below", "f\nx\nx\n", in("@@ f\n-x\n"), nil, "once more"},
	{"new nearer to the line than old", "f b\n return 2\n return 1\nf c\n return 1\n", in("@@ f b\n- return 1\n+ return 2\n"), nil, "already"},
}

// Every patch comes to the expected bytes, and sent twice to the same.
// SPEC 4.10; issue 9, item 1.
func TestPatchCases(t *testing.T) {
	t.Parallel()
	for _, c := range patchCases {
		files := map[string]string{"f": c.file, "g": "c\n"}
		env, fs := memEnv(maps.Clone(files))
		r := call(t, env, ApplyPatch(), m{"patch": c.patch})
		for p, s := range c.want {
			if files[p] = s; s == "-" {
				delete(files, p)
			}
		}
		if want := fmt.Sprintf("%q", files); fmt.Sprintf("%q", fs.files) != want || r.Error != (c.want == nil) || !strings.Contains(r.Text, c.says) {
			t.Errorf("%s: error %v, files\n%q, want\n%s\n%s", c.name, r.Error, fs.files, want, r.Text)
			continue
		}
		checkSeen(t, c.name, r, fs)
		call(t, env, ApplyPatch(), m{"patch": c.patch})
		if want := fmt.Sprintf("%q", files); fmt.Sprintf("%q", fs.files) != want {
			t.Errorf("%s: sent twice it gives\n%q, want\n%s", c.name, fs.files, want)
		}
	}
}
