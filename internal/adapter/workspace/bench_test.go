package workspace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// tree makes 50,000 files of source-like text, about 150 MB.
func bigTree(b *testing.B, git bool) *Workspace {
	b.Helper()
	w, root := open(b, nil)
	words := strings.Fields("func return error context package import value string config handler request response buffer index struct map range nil if for")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 50_000 {
		dir := filepath.Join(root, fmt.Sprintf("m%02d/p%02d/q%d", i%40, i/40%25, i/1000%5))
		if i < 5000 {
			must.Do(b, os.MkdirAll(dir, 0o777))
		}
		var t strings.Builder
		for range 40 + r.IntN(80) {
			for range 3 + r.IntN(6) {
				t.WriteString(words[r.IntN(len(words))])
				t.WriteByte(' ')
			}
			t.WriteByte('\n')
		}
		if i%5000 == 7 {
			t.WriteString("the needleInHaystack is here\n")
		}
		must.WriteMode(b, filepath.Join(dir, fmt.Sprintf("f%d.go", i)), t.String(), 0o644)
	}
	if git {
		processtest.RunGit(b, root, "init", "-q")
		processtest.RunGit(b, root, "add", "-A")
	}
	return w
}

func BenchmarkSearch(b *testing.B) {
	for _, git := range []bool{false, true} {
		w := bigTree(b, git)
		name := map[bool]string{false: "walk", true: "git"}[git]
		for _, q := range []tool.Query{
			{Pattern: "needleInHaystack"},
			{Pattern: "NEEDLEinhaystack", IgnoreCase: true},
			{Pattern: `needle\w+stack`},
			{Pattern: `[a-z]+InHay[a-z]+`},
			{Pattern: `\b[nm]eed[a-z]{2}In`},
			{Pattern: `[A-Z][a-z]+[A-Z]`},
			{Pattern: "context", FilesOnly: true, Limit: 100_000},
		} {
			b.Run(name+"/grep/"+q.Pattern, func(b *testing.B) {
				for b.Loop() {
					if m, err := w.Grep(context.Background(), q); err != nil || m.Hits < 10 {
						b.Fatal(m.Hits, err)
					}
				}
			})
			rg, err := exec.LookPath("rg")
			if err != nil {
				continue
			}
			b.Run(name+"/rg/"+q.Pattern, func(b *testing.B) {
				for b.Loop() {
					args := []string{"-n", "--hidden", "-e", q.Pattern, "."}
					if q.IgnoreCase {
						args = append(args, "-i")
					}
					if q.FilesOnly {
						args = append(args, "-l")
					}
					cmd := exec.Command(rg, args...)
					cmd.Dir = w.root
					if out, err := cmd.Output(); err != nil || len(out) == 0 {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(name+"/glob", func(b *testing.B) {
			for b.Loop() {
				if p, _, err := w.Glob(context.Background(), ".", "**/*7.go", 100); err != nil || len(p) != 100 {
					b.Fatal(len(p), err)
				}
			}
		})
		if rg, err := exec.LookPath("rg"); err == nil {
			b.Run(name+"/rg-files", func(b *testing.B) {
				for b.Loop() {
					cmd := exec.Command(rg, "--files", "--hidden", "-g", "*7.go", "--sort", "modified")
					cmd.Dir = w.root
					must.Done(b)(cmd.Output())
				}
			})
		}
	}
}
