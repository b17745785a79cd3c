// Command cost measures pawl's own cost, without the model and the tools:
//
//	go run ./bench/cost [-n 1000] [-sandbox off] [-line 'echo %d | tee f'] [-files 50000]
//
// It builds pawl, runs it against a scripted model server on this machine that
// asks for n `echo` calls, one a reply, and prints: start to the first request,
// the time between the end of a reply and the next request at turn 10 and at
// the last ones with their ratio, the tool's own process measured beside it,
// the share of each request that the next begins with, peak memory,
// connections, bytes sent, and bytes written to disk. It asserts nothing.
// -sandbox is given to pawl, for pairs of runs with and without; -line is the
// command instead of echo; -files is how many files the workspace has, in git;
// -pawl is a program that was built before, for pairs of runs.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/bench/filetree"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

func main() {
	n := flag.Int("n", 1000, "how many calls")
	box := flag.String("sandbox", "", "what --sandbox gives pawl: off, workspace or read-only")
	line := flag.String("line", "", "the command line, with %d for a number, instead of echo")
	files := flag.Int("files", 0, "how many files the workspace has")
	built := flag.String("pawl", "", "a pawl that was built before")
	flag.Parse()
	if err := run(*n, *files, *box, *line, *built); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// meter watches the scripted model's traffic.
type meter struct {
	mu       sync.Mutex
	arrived  []time.Time // of request i
	replied  []time.Time // end of reply i
	first    int         // bytes of the first request
	sent     int64       // bytes of all requests
	last     []byte      // the request before, markers taken out
	minShare float64
	conns    map[net.Conn]bool
	peakKB   int
	pid      int
}

// markers are what a cache marker looks like in an Anthropic request.
var markers = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"[^}]*\}`)

// took records request i.
func (s *meter) took(i int, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived = append(s.arrived, time.Now())
	s.sent += int64(len(body))
	if i == 0 {
		s.first = len(body)
	}
	plain := markers.ReplaceAll(body, nil)
	if i > 0 {
		s.minShare = min(s.minShare, share(s.last, plain))
	}
	s.last = plain
	s.peakKB = max(s.peakKB, peak(s.pid))
}

// share returns the fraction of a that is a common prefix with b. The end of a request
// (its closing brackets and limits) is not part of the conversation.
func share(a, b []byte) float64 {
	k := 0
	for k < len(a) && k < len(b) && a[k] == b[k] {
		k++
	}
	return float64(k) / float64(len(a))
}

// peak returns a process's largest resident size so far, in KB.
func peak(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(v), " kB")) // 0 if it is missing
			return kb
		}
	}
	return 0
}

func run(n, files int, box, line, built string) error {
	dir, err := os.MkdirTemp("", "pawl-cost-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "pawl")
	if built != "" {
		bin = built
	} else if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./cmd/pawl").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	if st, err := os.Stat(bin); err == nil {
		fmt.Printf("binary                         %8.1f MB\n", float64(st.Size())/1e6)
	}
	version := best(20, func() error { return exec.Command(bin, "--version").Run() })
	nothing := best(20, func() error { return exec.Command("/bin/true").Run() })
	fmt.Printf("pawl --version                 %8.1f ms   (an empty process: %.1f ms)\n", ms(version), ms(nothing))

	s := &meter{conns: map[net.Conn]bool{}, minShare: 1}
	model := &llmtest.Server{
		Reply: func(i int, body []byte) llmtest.Turn {
			s.took(i, body)
			if i == n {
				return llmtest.Say("done")
			}
			if line != "" {
				return llmtest.Use("bash", fmt.Sprintf(`{"command":%q}`, strings.ReplaceAll(line, "%d", strconv.Itoa(i))))
			}
			return llmtest.Use("bash", fmt.Sprintf(`{"command":"echo %d"}`, i))
		},
		Done: func(int) {
			s.mu.Lock()
			s.replied = append(s.replied, time.Now())
			s.mu.Unlock()
		},
	}
	web := httptest.NewUnstartedServer(model)
	web.Config.ConnState = func(c net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.mu.Lock()
			s.conns[c] = true
			s.mu.Unlock()
		}
	}
	web.Start()
	defer web.Close()

	work := filepath.Join(dir, "work")
	home := filepath.Join(dir, "home")
	for _, d := range []string{work, home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if files > 0 {
		if err := filetree.Make(work, files, false); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "run", "-m", "anthropic/claude-bench", "--allow", "bash(echo *)", "--output-format", "json", "--sandbox", first(box, "workspace"), "echo a lot")
	cmd.Dir = work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ANTHROPIC_API_KEY=bench-key", "ANTHROPIC_BASE_URL=" + web.URL}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	s.mu.Lock()
	if err := cmd.Start(); err != nil {
		s.mu.Unlock()
		return err
	}
	s.pid = cmd.Process.Pid
	s.mu.Unlock()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("pawl: %w\n%s\n%s", err, errs.String(), out.String())
	}
	whole := time.Since(start)
	if got := len(s.arrived); got != n+1 {
		return fmt.Errorf("%d requests, want %d\n%s", got, n+1, out.String())
	}

	tool := best(50, func() error {
		c := exec.Command("bash", "--noprofile", "--norc", "-c", "echo 1")
		c.Stdout = io.Discard
		return c.Run()
	})
	var gaps []time.Duration // between the end of reply i and request i+1
	for i := range n {
		gaps = append(gaps, s.arrived[i+1].Sub(s.replied[i]))
	}
	early, late := median(gaps[min(5, n-1):min(25, n)]), median(gaps[max(0, n-20):])
	fmt.Printf("start to first request         %8.1f ms\n", ms(s.arrived[0].Sub(start)))
	fmt.Printf("a turn near 10                 %8.2f ms   (the tool's own process: %.2f ms)\n", ms(early), ms(tool))
	fmt.Printf("a turn near %-6d             %8.2f ms   ratio %.2f\n", n, ms(late), float64(late)/float64(early))
	fmt.Printf("least share of the prefix      %8.2f %%\n", 100*s.minShare)
	fmt.Printf("first request                  %8.1f KB\n", float64(s.first)/1e3)
	fmt.Printf("sent in all                    %8.1f MB\n", float64(s.sent)/1e6)
	fmt.Printf("connections                    %8d\n", len(s.conns))
	fmt.Printf("peak memory                    %8.1f MB\n", float64(s.peakKB)/1e3)
	var log int64
	err = filepath.Walk(home, func(_ string, st os.FileInfo, err error) error {
		if err == nil && st.Mode().IsRegular() {
			log += st.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("log on disk                    %8.1f MB\n", float64(log)/1e6)
	if u, ok := written(cmd); ok {
		fmt.Printf("written to disk (blocks)       %8.1f MB\n", float64(u)/1e6)
	}
	fmt.Printf("the whole run                  %8.1f s    (CPU: %.1f s, with its commands)\n", whole.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	return nil
}

func best(n int, f func() error) time.Duration {
	out := time.Hour
	for range n {
		t := time.Now()
		if err := f(); err != nil {
			return 0
		}
		out = min(out, time.Since(t))
	}
	return out
}

func median(ds []time.Duration) time.Duration {
	ds = slices.Sorted(slices.Values(ds))
	return ds[len(ds)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
