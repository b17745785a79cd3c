package tools

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/policy/edits"
)

func TestApplyPatch(t *testing.T) {
	t.Parallel()
	long := "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		patch string
		want  map[string]string // nil: unchanged
		says  string
	}{
		{"unified", map[string]string{"f": long}, "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n l2\n-l3\n+L3\n l4\n", map[string]string{"f": strings.Replace(long, "l3", "L3", 1)}, "edited f"},
		{"without prefixes", map[string]string{"f": long}, "--- f\n+++ f\n@@ -2,3 +2,3 @@\n l2\n-l3\n+L3\n l4\n", map[string]string{"f": strings.Replace(long, "l3", "L3", 1)}, "edited f"},
		{"wrong counts", map[string]string{"f": long}, "--- a/f\n+++ b/f\n@@ -2,9 +2,1 @@\n l2\n-l3\n+L3\n l4\n@@ -8 +8 @@\n-l8\n+L8\n", map[string]string{"f": strings.NewReplacer("l3", "L3", "l8", "L8").Replace(long)}, "edited f"},
		{"wrong line", map[string]string{"f": long}, "--- a/f\n+++ b/f\n@@ -7,3 +7,3 @@\n l2\n-l3\n+L3\n l4\n", map[string]string{"f": strings.Replace(long, "l3", "L3", 1)}, "line 7 was found at line 2"},
		{"no numbers", map[string]string{"f": long}, "--- a/f\n+++ b/f\n@@\n l2\n-l3\n+L3\n l4\n", map[string]string{"f": strings.Replace(long, "l3", "L3", 1)}, "edited f"},
		{"lost space", map[string]string{"f": "a\n\nb\n"}, "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", map[string]string{"f": "a\n\nc\n"}, "edited f"},
		{"ambiguous", map[string]string{"f": "x\ny\nx\ny\n"}, "--- a/f\n+++ b/f\n@@ -9,2 +9,2 @@\n x\n-y\n+z\n", nil, "2 times, at line 1, 3"},
		{"the line number decides", map[string]string{"f": "x\ny\nx\ny\n"}, "--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n x\n-y\n+z\n", map[string]string{"f": "x\ny\nx\nz\n"}, "edited f"},
		{"CRLF", map[string]string{"f": "a\r\nb\r\n"}, "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n", map[string]string{"f": "a\r\nc\r\nd\r\n"}, "edited f"},
		{"BOM", map[string]string{"f": bom + "a\nb\n"}, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n", map[string]string{"f": bom + "c\nb\n"}, "edited f"},
		{"final newline added", map[string]string{"f": "a\nb"}, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", map[string]string{"f": "a\nb\n"}, "edited f"},
		{"final newline removed", map[string]string{"f": "a\nb\n"}, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", map[string]string{"f": "a\nb"}, "edited f"},
		{"indentation", map[string]string{"f": "\tif x {\n\t\ty()\n\t}\n"}, "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n     if x {\n         y()\n+        z()\n     }\n", map[string]string{"f": "\tif x {\n\t\ty()\n\t\tz()\n\t}\n"}, "dashes differed"},
		{"add, delete, rename", map[string]string{"old": "a\n", "gone": "g\n"}, "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+n1\n+n2\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\ndiff --git a/old b/moved\nsimilarity index 50%\nrename from old\nrename to moved\n--- a/old\n+++ b/moved\n@@ -1 +1 @@\n-a\n+b\n", map[string]string{"new": "n1\nn2\n", "moved": "b\n"}, "moved old to moved"},
		{"delete of other content", map[string]string{"gone": "g\nh\n"}, "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n", nil, "lines that the patch does not"},
		{"one hunk fails", map[string]string{"f": long, "g": "g\n"}, "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-g\n+G\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-nothing like this\n+x\n", nil, "not found"},
		{"applied already", map[string]string{"f": "first\nsecond new\nthird\n"}, "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n first\n-second\n+second new\n third\n", nil, "applied already"},
		{"missing file", map[string]string{"dir/f": "x\n"}, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n", nil, "dir/f"},
		{"no patch", map[string]string{"f": "x\n"}, "please change x to y", nil, "patch"},
		{"binary", map[string]string{"f": "x\n"}, "diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n", nil, "binary"},

		{"blocks", map[string]string{"f": long, "gone": "g\n", "from": "m\n"}, "*** Begin Patch\n*** Update File: f\n@@\n l2\n-l3\n+L3\n*** Add File: n/x\n+one\n+\n+two\n*** Delete File: gone\n*** Update File: from\n*** Move to: to\n@@\n-m\n+M\n*** End Patch\n", map[string]string{"f": strings.Replace(long, "l3", "L3", 1), "n/x": "one\n\ntwo\n", "to": "M\n"}, "created n/x"},
		{"only a move", map[string]string{"from": "m\n"}, "*** Begin Patch\n*** Update File: from\n*** Move to: to\n*** End Patch\n", map[string]string{"to": "m\n"}, "moved from to to"},
		{"behind a line", map[string]string{"f": "func a\n x\nend\nfunc b\n x\nend\n"}, "*** Begin Patch\n*** Update File: f\n@@ func b\n- x\n+ y\n*** End Patch", map[string]string{"f": "func a\n x\nend\nfunc b\n y\nend\n"}, "edited f"},
		{"seek twice", map[string]string{"f": "class A\ndef f\n x\nclass B\ndef f\n x\n"}, "*** Begin Patch\n*** Update File: f\n@@ class B\n@@ def f\n- x\n+ y\n*** End Patch", map[string]string{"f": "class A\ndef f\n x\nclass B\ndef f\n y\n"}, "edited f"},
		{"seek is no guide", map[string]string{"f": "a\nx\na\nx\n"}, "*** Begin Patch\n*** Update File: f\n@@ a\n-x\n+y\n*** End Patch", nil, "2 times"},
		{"ambiguous block", map[string]string{"f": "x\ny\nx\n"}, "*** Begin Patch\n*** Update File: f\n@@\n-x\n+z\n*** End Patch", nil, "2 times"},
		{"end of file", map[string]string{"f": "x\ny\nx\n"}, "*** Begin Patch\n*** Update File: f\n@@\n-x\n+z\n*** End of File\n*** End Patch", map[string]string{"f": "x\ny\nz\n"}, "edited f"},
		{"append", map[string]string{"f": "x"}, "*** Begin Patch\n*** Update File: f\n@@\n+z\n*** End Patch", map[string]string{"f": "x\nz"}, "edited f"},
		{"insert behind a line", map[string]string{"f": "a\nb\n"}, "*** Begin Patch\n*** Update File: f\n@@ a\n+z\n*** End Patch", map[string]string{"f": "a\nz\nb\n"}, "edited f"},
		{"two hunks, one file", map[string]string{"f": long}, "*** Begin Patch\n*** Update File: f\n@@\n-l2\n+L2\n+L2b\n@@\n-l9\n+L9\n*** End Patch", map[string]string{"f": strings.NewReplacer("l2", "L2\nL2b", "l9", "L9").Replace(long)}, "edited f"},
		{"add over an existing file", map[string]string{"f": "x\n"}, "*** Begin Patch\n*** Add File: f\n+y\n*** End Patch", nil, "exists already"},
		{"add of what is there", map[string]string{"f": "x\n"}, "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch", nil, "already applied"},
		{"bad line", map[string]string{"f": "x\n"}, "*** Begin Patch\n*** Update File: f\n@@\nx\n*** End Patch", nil, "line 4 of the patch"},
		{"unknown block", map[string]string{"f": "x\n"}, "*** Begin Patch\n*** Rename File: f\n*** End Patch", nil, "not known"},
		{"no changes", map[string]string{"f": "x\n"}, "*** Begin Patch\n*** Update File: f\n*** End Patch", nil, "no changes"},
		{"mask", map[string]string{"f": "x\n"}, "*** Begin Patch\n*** Update File: f\n@@\n-x\n+[masked:key]\n*** End Patch", nil, "hides a secret"},
	} {
		before := fmt.Sprint(c.files)
		env, fs := memEnv(c.files)
		r := call(t, env, ApplyPatch(), m{"patch": c.patch})
		want := fmt.Sprint(c.want)
		if c.want == nil {
			want = before
		}
		fails := c.want == nil && !strings.Contains(c.says, "already applied") && !strings.Contains(c.says, "applied already")
		if got := fmt.Sprint(fs.files); got != want || r.Error != fails || !strings.Contains(r.Text, c.says) {
			t.Errorf("%s: error %v, files %q, want %q\n%s", c.name, r.Error, got, want, r.Text)
		}
		checkSeen(t, c.name, r, fs)
	}
}

// Applying a generated diff produces the target, even if its line numbers or counts
// are wrong, or its line ends are CRLF.
func TestPatchOfDiff(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{"a", "b", "c", "-- x", "++ y", "@@ z", "", " ", "\tt", `\ No`, "*** q", "é"})
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			ls := rapid.SliceOfN(line, 0, 25).Draw(t, name)
			s := strings.Join(ls, "\n")
			if s != "" && rapid.Bool().Draw(t, name+" newline") {
				s += "\n"
			}
			return s
		}
		from, to := text("from"), text("to")
		if from == to || from == "" || to == "" {
			return
		}
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		if eol == "\r\n" && (!strings.Contains(from, "\n") || !strings.HasSuffix(from, "\n") != !strings.HasSuffix(to, "\n")) {
			return // no line ending to keep
		}
		patch, _, _ := edits.Diff("a/f", "b/f", []byte(from), []byte(to))
		env, fs := memEnv(map[string]string{"f": withEnding(from, eol)})
		r := call(t, env, ApplyPatch(), m{"patch": patch})
		if r.Error || fs.files["f"] != withEnding(to, eol) {
			t.Fatalf("got %q, want %q\n%s\n%s", fs.files["f"], withEnding(to, eol), patch, r.Text)
		}
	})
}

// Parsing never panics, and applying a patch never half-applies it.
func FuzzApplyPatch(f *testing.F) {
	f.Add("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n")
	f.Add("*** Begin Patch\n*** Update File: f\n@@ x\n-x\n+y\n*** End of File\n*** End Patch")
	f.Add("*** Begin Patch\n*** Update File: f\n+000\n ")
	f.Add("diff --git a/f b/g\nrename from f\nrename to g\n")
	f.Fuzz(func(t *testing.T, patch string) {
		env, fs := memEnv(map[string]string{"f": "x\ny\n", "g": "x\n"})
		r := call(t, env, ApplyPatch(), m{"patch": patch})
		if r.Error && (fs.files["f"] != "x\ny\n" || fs.files["g"] != "x\n" || len(fs.files) != 2) {
			t.Errorf("%q\n%s", fs.files, r.Text)
		}
	})
}
