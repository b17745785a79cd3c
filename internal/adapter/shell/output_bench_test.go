package shell

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 19.3: output of any size passes through in bounded memory and linear
// time: the ratio is of ten times the length, in one line, to its tenth.
func BenchmarkOutput(b *testing.B) {
	took := func(mb int) (time.Duration, uint64) {
		s := New(Options{Root: b.TempDir(), SpillDir: b.TempDir(), SpillMax: 1 << 20, Mask: func(p []byte) []byte { return p }})
		defer s.Close()
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		r, err := s.Run(b.Context(), tool.Run{Confine: process.Free, Command: fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", mb<<20)})
		if err != nil || r.Bytes != int64(mb)<<20 {
			b.Fatal(r.Bytes, err)
		}
		d := time.Since(start)
		runtime.GC()
		runtime.ReadMemStats(&after)
		return d, max(after.HeapInuse, before.HeapInuse) - before.HeapInuse
	}
	for b.Loop() {
		short, _ := took(10)
		long, held := took(100)
		b.ReportMetric(float64(long)/float64(short), "x/10x")
		b.ReportMetric(float64(held)/1024, "KiB-held")
	}
}
