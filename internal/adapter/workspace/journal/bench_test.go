package journal

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// big makes a tree of n files, ten in a folder.
func big(b *testing.B, n int, git bool) string {
	root := realTemp(b)
	for i := range n / 10 {
		dir := filepath.Join(root, fmt.Sprintf("m%02d", i%50), fmt.Sprintf("package%04d", i))
		must.Do(b, os.MkdirAll(dir, 0o755))
		for k := range 10 {
			must.Do(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file_%d.go", k)), fmt.Appendf(nil, "package p // %d %d\n", i, k), 0o644))
		}
	}
	if git {
		processtest.Commit(b, root)
	}
	return root
}

func benchLook(b *testing.B, git bool) {
	root := big(b, 50_000, git)
	// A file that was just written is read again at each snapshot: the clock is ahead.
	opt := Options{Dir: b.TempDir(), FirstSnapshot: time.Minute, Git: plainGit}
	past(&opt)
	j := New(root, opt)
	defer j.Close()
	var m0, m1 runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m0)
	start := time.Now()
	see(b, j, "")
	first := time.Since(start)
	see(b, j, "x") // written to disk once
	runtime.GC()
	runtime.ReadMemStats(&m1)
	for b.Loop() {
		if l := see(b, j, "x"); len(l.Effects) != 0 || l.Files != 50_000 {
			b.Fatal(len(l.Effects), l.Files)
		}
	}
	b.ReportMetric(float64(first.Milliseconds()), "first-ms")
	b.ReportMetric(float64(m1.HeapAlloc-m0.HeapAlloc)/1e6, "MB")
}

func BenchmarkLook(b *testing.B) {
	b.Run("plain", func(b *testing.B) { benchLook(b, false) })
	b.Run("git", func(b *testing.B) { benchLook(b, true) })
	b.Run("walkdir", func(b *testing.B) { // what it is compared with
		root := big(b, 50_000, false)
		for b.Loop() {
			n := 0
			_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
				if err == nil {
					_, err = d.Info()
				}
				n++
				return err
			})
		}
	})
}
