package tools

import (
	"os"
	"path/filepath"
	"testing"
)

// SPEC 4.15, 16.5: what xargs hands on is told where no name on the disk is
// several words to it; where one is, it may name any file.
func TestNamesThatXargsBreaks(t *testing.T) {
	dir, files := pathRig(t)
	for _, f := range []string{"ok/a.go", "ok/deep/b.go", "ok/c.txt", "bad/x /etc/passwd", "half/a.go", "half/a b.txt", "quoted/a'b.go"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pathRows(t, dir, files, nil, `
aaaaa find ok -name '*.go' | xargs grep foo
aaaaa find ok -name '*.go' | xargs cat
aaaaa find ok -type f | xargs grep -l x | head
aaaaa find ok -name '*.go' -o -name '*.txt' | xargs cat
aaaaa find half -name '*.go' | xargs grep foo
aaaaa grep -rl x ok | xargs grep -n x
aaaaa grep -rlI x ok | xargs cat
aaaaa cd ok && find . -name '*.go' | xargs sed -n 1,5p
?d??a find half -type f | xargs cat
?d??a find half -name '*.txt' | xargs cat
?d??a find bad -name passwd | xargs cat
?d??a find quoted -name '*.go' | xargs cat
?d??a find . -name passwd | xargs cat
?d??a grep -rl x half | xargs cat
?d.?a mkdir -p 'ok/x ' && find ok -type f | xargs cat
?d??a find ok -name '*.go' | xargs sh
?d??a find ok -name '*.go' | xargs -I{} sh -c '{}'
?d??a find ok -name '*.go' | xargs rm
?d??a find ok -name '*.go' | sort | xargs cat
?d??a find -L ok -name '*.go' | xargs cat
????a find ../sib -name '*.go' | xargs cat
?d??a cat list | xargs cat
`)
}
