package offline

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/offline/demo"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 5.2: the demo's bug, and others that are planted instead, are found by
// the same run; nothing in it is a recording.
func TestDemo(t *testing.T) {
	for _, bug := range []int{0, 9} {
		b := demo.Bugs()[bug]
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			sound := workspace(t)
			r := workspace(t)
			must.Do(t, demo.Write(sound.dir, demo.Sound))
			must.Do(t, demo.Write(r.dir, bug))
			all, last := r.do("Find the bug that makes the tests fail, and fix it.")
			t.Log(all)
			if out := r.bash("go test ./..."); !strings.HasSuffix(out, "exit code 0") {
				t.Errorf("the tests still fail:\n%s", out)
			}
			contains(t, last, b.File, "exit code 0", "plausible, not correct")
			changed := 0
			for f, text := range r.tree() {
				if text != sound.tree()[f] {
					changed++
					t.Logf("%s is not as it was before the bug", f)
				}
			}
			if len(r.files()) != len(sound.files()) {
				t.Errorf("files were left behind: %v", r.files())
			}
			if changed > 1 {
				t.Errorf("%d files differ", changed)
			}
		})
	}
}
