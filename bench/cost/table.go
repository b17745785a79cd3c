package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// result is what one run cost.
type result struct {
	binary               float64 // MB
	version, nothing     time.Duration
	start, again         time.Duration // to the first request, in a new home and in a known one
	tool                 time.Duration // a command's own process
	early, late          time.Duration // a turn
	own                  time.Duration // pawl's processor's time for a turn
	share                float64
	first, conns, peakKB int
	sent, log, written   int64
	whole, cpu           time.Duration
}

func (r result) print(n int) {
	fmt.Printf("binary                         %8.1f MB\n", r.binary)
	fmt.Printf("pawl --version                 %8.1f ms   (an empty process: %.1f ms)\n", ms(r.version), ms(r.nothing))
	fmt.Printf("start to first request         %8.1f ms   (in a home that it knows: %.1f ms)\n", ms(r.start), ms(r.again))
	fmt.Printf("a turn near 10                 %8.2f ms   (the tool's own process: %.2f ms)\n", ms(r.early), ms(r.tool))
	fmt.Printf("a turn near %-6d             %8.2f ms   ratio %.2f   (pawl's own CPU: %.2f ms)\n", n, ms(r.late), float64(r.late)/float64(r.early), ms(r.own))
	fmt.Printf("least share of the prefix      %8.2f %%\n", 100*r.share)
	fmt.Printf("first request                  %8.1f KB\n", float64(r.first)/1e3)
	fmt.Printf("sent in all                    %8.1f MB\n", float64(r.sent)/1e6)
	fmt.Printf("connections                    %8d\n", r.conns)
	fmt.Printf("peak memory                    %8.1f MB\n", float64(r.peakKB)/1e3)
	fmt.Printf("log on disk                    %8.1f MB\n", float64(r.log)/1e6)
	if r.written > 0 {
		fmt.Printf("written to disk (blocks)       %8.1f MB\n", float64(r.written)/1e6)
	}
	fmt.Printf("the whole run                  %8.1f s    (CPU: %.1f s, with its commands)\n", r.whole.Seconds(), r.cpu.Seconds())
}

// lines are the commands of the table.
var lines = []struct{ name, line string }{
	{"echo", ""},
	{"overwrites a file", "echo %d | tee m00/package00000/file_0.go"},
	{"runs a script", "sh ./noop.sh %d"},
}

// table makes one table of several sizes, with what bench/journal measures of
// snapshots in the same tree: following what the system tells, and looking at
// every file.
func table(sizes string, n int, box, built string) error {
	load, _ := os.ReadFile("/proc/loadavg") // none on other systems
	fmt.Fprintf(os.Stderr, "%d calls each; load %s\n", n, load)
	fmt.Println("| files | command | start to first request, ms | a turn, ms | pawl's own CPU a turn, ms | peak, MB |" +
		" first snapshot, ms | nothing changed, CPU ms | 10 files changed | after `git add` of one | every file | index, MB |\n" + strings.Repeat("|---", 12) + "|")
	for s := range strings.SplitSeq(sizes, ",") {
		if err := tableOf(s, n, box, built); err != nil {
			return fmt.Errorf("%s files: %w", s, err)
		}
	}
	return nil
}

func tableOf(size string, n int, box, built string) error {
	files, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pawl-cost-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "work")
	if err := workspace(work, files); err != nil {
		return err
	}
	snapshots := exec.Command("go", "run", "./bench/journal", "-sizes", size, "-dir", work, "-n", "7", "-cells")
	snapshots.Stderr = os.Stderr
	out, err := snapshots.Output()
	if err != nil {
		return fmt.Errorf("bench/journal: %w", err)
	}
	cells := strings.TrimSpace(string(out))
	for _, l := range lines {
		r, err := run(n, files, work, box, l.line, built)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		fmt.Printf("| %s | %s | %.1f | %.2f | %.2f | %.1f | %s |\n", thousands(files), l.name, ms(r.start), ms(r.late), ms(r.own), float64(r.peakKB)/1e3, cells)
		cells = "| | | | |" // once for a size
	}
	return nil
}

// thousands is a number as people write it.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
