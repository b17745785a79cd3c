//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// What a confined command costs more than a plain one, in pairs, since the
// machine is never quiet: medians of both, their difference and their ratio.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct {
		name  string
		level confine.Level
		rules []process.PathRule
	}{
		{"read-only", confine.ReadOnly, nil},
		{"workspace", confine.Workspace, nil},
		{"workspace, edits ruled", confine.Workspace, []process.PathRule{{List: process.DeniesPath, Write: true, Pattern: "/w/secret/**", Rank: 1}}},
		{"workspace, reads ruled", confine.Workspace, []process.PathRule{{List: process.DeniesPath, Pattern: "/w/secret/**", Rank: 1}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			policy := confine.New(c.level, confine.Facts{Root: real(b.TempDir())})
			policy.Rules = c.rules
			box := must.Get(Open(policy))(b)
			defer box.Close()
			var plain, confined, more []time.Duration
			for b.Loop() {
				start := time.Now()
				must.Do(b, exec.Command("/bin/true").Run())
				middle := time.Now()
				c := must.Get(box.start(exec.Command("/bin/true"), holding{hold: answering(no).hold}))(b)
				must.Do(b, c.Wait())
				p, c2 := middle.Sub(start), time.Since(middle)
				plain, confined, more = append(plain, p), append(confined, c2), append(more, c2-p)
			}
			b.ReportMetric(median(plain), "plain-µs")
			b.ReportMetric(median(confined), "confined-µs")
			b.ReportMetric(median(more), "more-µs")
			b.ReportMetric(median(confined)/median(plain), "ratio")
		})
	}
}

func median(ds []time.Duration) float64 {
	slices.Sort(ds)
	return float64(ds[len(ds)/2].Nanoseconds()) / 1000
}
