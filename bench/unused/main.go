// Command unused measures what a start costs, from exec to the first request, with
// nothing of the ecosystem configured and with one thing of each: the program's
// instructions as perf counts them, which do not depend on the load.
//
//	go run ./bench/unused [-n 15] PAWL...
//
// The server that stands for the provider kills pawl when the request is there.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// world is what a person has: files below their home and the folder.
type world struct {
	name  string
	files map[string]string
	first []string // pawl is run once with these
}

var worlds = []world{
	{name: "nothing"},
	{"one MCP server", map[string]string{"home/.config/pawl/mcp.json": `{"mcpServers":{"s":{"command":"PAWL","args":["mcp","serve"]}}}`}, []string{"mcp", "test", "s"}},
	{"one hook", map[string]string{"home/.config/pawl/config.json": `{"hooks":{"PostToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}`}, nil},
	{"one skill", map[string]string{"home/.claude/skills/s/SKILL.md": "---\ndescription: Make a release.\n---\nTag it.\n"}, nil},
	{"one command", map[string]string{"home/.claude/commands/c.md": "Review it.\n"}, nil},
	{"one kind of agent", map[string]string{"home/.claude/agents/a.md": "---\nname: a\ndescription: Reads.\n---\nRead.\n"}, nil},
}

func main() {
	n := flag.Int("n", 15, "runs of each")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("usage: go run ./bench/unused [-n 15] PAWL...")
	}
	fmt.Printf("%-20s", "millions")
	for _, p := range flag.Args() {
		fmt.Printf(" %22s", filepath.Base(p))
	}
	fmt.Println()
	for _, w := range worlds {
		fmt.Printf("%-20s", w.name)
		for _, p := range flag.Args() {
			p, err := filepath.Abs(p)
			if err != nil {
				log.Fatal(err)
			}
			user, kernel, err := measure(p, w, *n)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("   %7.2f user %6.2f k", user, kernel)
		}
		fmt.Println()
	}
}

// measure returns the least of the instructions, in millions.
func measure(pawl string, w world, n int) (user, kernel float64, err error) {
	dir, err := os.MkdirTemp("", "pawl-unused-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	for _, d := range []string{"home", "work"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return 0, 0, err
		}
	}
	for name, text := range w.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return 0, 0, err
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "PAWL", pawl)), 0o600); err != nil {
			return 0, 0, err
		}
	}
	var perf atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		pid := perf.Load()
		of, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // it has ended
		if child, err := strconv.Atoi(strings.TrimSpace(string(of))); err == nil {
			if p, err := os.FindProcess(child); err == nil {
				_ = p.Kill()
			}
		}
	}))
	defer srv.Close()
	env := []string{
		"HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000",
		"ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-script",
	}
	if w.first != nil {
		c := exec.Command(pawl, w.first...)
		c.Dir, c.Env = filepath.Join(dir, "work"), env
		if out, err := c.CombinedOutput(); err != nil {
			return 0, 0, fmt.Errorf("%v: %s", err, out)
		}
	}
	var us, ks []float64
	for range n + 1 { // the first fills caches
		out := filepath.Join(dir, "perf")
		c := exec.Command("perf", "stat", "-x,", "-e", "instructions:u,instructions:k", "-o", out, "--", pawl, "run", "hello")
		c.Dir = filepath.Join(dir, "work")
		c.Env = env
		if err := c.Start(); err != nil {
			return 0, 0, err
		}
		perf.Store(int64(c.Process.Pid))
		_ = c.Wait() // it was killed
		counts, err := os.ReadFile(out)
		if err != nil {
			return 0, 0, err
		}
		for line := range strings.Lines(string(counts)) {
			f := strings.Split(line, ",")
			v, err := strconv.ParseFloat(f[0], 64)
			switch {
			case err != nil || len(f) < 3:
			case f[2] == "instructions:u":
				us = append(us, v/1e6)
			case f[2] == "instructions:k":
				ks = append(ks, v/1e6)
			}
		}
	}
	if len(us) < 2 || len(ks) < 2 {
		return 0, 0, fmt.Errorf("perf counted nothing (see kernel.perf_event_paranoid)")
	}
	return slices.Min(us[1:]), slices.Min(ks[1:]), nil
}
