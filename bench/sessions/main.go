// Command sessions measures what pawl costs where there are many sessions:
//
//	go run ./bench/sessions [-n 10000] [-mb 0] [-folders 2] [-runs 7] [-markdown] [-pawl FILE]
//
// It fills a log in a temporary folder with n sessions of 31 events each, spread
// over that many folders, and with mb megabytes of outputs in a few of them, and
// runs pawl in one of the folders: the start of a new session and of --continue
// up to their end, `sessions list`, `sessions list --all` and `sessions show`, beside the
// same with a log that has one session. Best and median of the runs, the first one
// apart. -markdown prints the table of bench/scale/README.md. Everything is deleted afterwards.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

func main() {
	n := flag.Int("n", 10000, "how many sessions there are")
	mb := flag.Int("mb", 0, "how many megabytes of outputs")
	folders := flag.Int("folders", 2, "of how many folders they are")
	runs := flag.Int("runs", 7, "how often each is measured")
	built := flag.String("pawl", "", "a pawl that was built before")
	flag.BoolVar(&markdown, "markdown", false, "print Markdown")
	flag.Parse()
	if err := run(*n, *mb, *folders, *runs, *built); err != nil {
		fmt.Fprintln(os.Stderr, "sessions:", err)
		os.Exit(1)
	}
}

var markdown bool

func run(n, mb, folders, runs int, built string) error {
	dir, err := os.MkdirTemp("", "pawl-sessions-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	bin := built
	if bin == "" {
		bin = filepath.Join(dir, "pawl")
		if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./cmd/pawl").CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	var works []string
	for i := range folders {
		w := filepath.Join(dir, fmt.Sprint("work", i))
		if err := os.Mkdir(w, 0o700); err != nil {
			return err
		}
		works = append(works, w)
	}
	homes := []string{filepath.Join(dir, "few"), filepath.Join(dir, "many")}
	for i, h := range homes {
		count, size := 1, 0
		if i == 1 {
			count, size = n, mb
		}
		began := time.Now()
		bytes, err := fill(filepath.Join(h, ".local", "state", "pawl", "pawl.db"), works, count, size)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%d sessions, log %.1f MB, made in %.1f s\n", count, float64(bytes)/1e6, time.Since(began).Seconds())
	}
	if markdown {
		fmt.Printf("| pawl | one session: first, median, best, ms | %d sessions, %d MB of outputs: first, median, best, ms |\n|---|---|---|\n", n, mb)
	}
	for _, args := range [][]string{
		{"run", "-m", "offline", "hello"}, {"run", "-m", "offline", "-c", "hello"},
		{"sessions", "list"}, {"sessions", "list", "--all"}, {"sessions", "show", "s0000000000000000000"},
	} {
		if markdown {
			fmt.Printf("| %s ", strings.Join(args, " "))
		}
		for i, h := range homes {
			var took []time.Duration
			for range runs + 1 {
				cmd := exec.Command(bin, args...)
				cmd.Dir, cmd.Env = works[0], []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h}
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				began := time.Now()
				exit := (*exec.ExitError)(nil) // the offline model refuses such a prompt
				if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
					return fmt.Errorf("%v: %w\n%s", args, err, out.String())
				}
				took = append(took, time.Since(began))
			}
			rest := slices.Sorted(slices.Values(took[1:]))
			if markdown {
				fmt.Printf("| %.1f, %.1f, %.1f ", ms(took[0]), ms(rest[len(rest)/2]), ms(rest[0]))
				continue
			}
			fmt.Printf("%-24s %-5s first %7.1f ms, best %7.1f ms, median %7.1f ms\n", strings.Join(args, " "), []string{"few", "many"}[i], ms(took[0]), ms(rest[0]), ms(rest[len(rest)/2]))
		}
		if markdown {
			fmt.Println("|")
		}
	}
	return nil
}

// fill makes sessions of the events of a short task, and returns the file's size.
func fill(path string, works []string, n, mb int) (int64, error) {
	ctx := context.Background()
	now := time.Now().Add(-time.Hour)
	st, err := sqlite.Open(ctx, path, sqlite.Options{Now: func() time.Time { now = now.Add(100 * time.Millisecond); return now }})
	if err != nil {
		return 0, err
	}
	defer st.Close()
	cost := 0.01
	random := rand.New(rand.NewPCG(1, 2))
	each := 0
	if mb > 0 {
		each = mb << 20 / min(n, 200) // of the last sessions
	}
	for i := range n {
		ds := []event.Draft{
			{Body: event.Opened{Dir: works[i%len(works)], Pawl: "bench", Mode: "ask", Front: "line"}},
			{Body: event.Rebased{Why: event.RebasedStart, Info: llm.Info{Provider: "anthropic", Model: "m"}}},
			{Body: event.Prompted{Source: event.Person, Text: fmt.Sprintf("task %d of many", i)}},
		}
		for k := range 5 {
			id := fmt.Sprint("c", k)
			text := fmt.Sprintf("output %d of session %d\nok", k, i)
			if each > 0 && i >= n-min(n, 200) {
				text = noise(random, each/5)
			}
			ds = append(ds,
				event.Draft{Body: event.Requested{Attempt: 1, Bytes: 9000, Model: "anthropic/m"}},
				event.Draft{Body: event.Replied{Cost: &cost, Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: "bash", Args: []byte(`{"command":"make"}`)}}}}, Usage: llm.Usage{Known: true, Input: 100, Output: 20}}}},
				event.Draft{Body: event.CallAsked{ID: id, Tool: "bash", Args: []byte(`{"command":"make"}`), Does: "exec", Title: "make"}},
				event.Draft{Body: event.CallStarted{ID: id}},
				event.Draft{Body: event.CallDone{ID: id, Tool: "bash", Outcome: event.OK, Command: "make", Does: "exec", Result: llm.Result{ID: id, Name: "bash", Text: text}}},
			)
		}
		ds = append(ds, event.Draft{Body: event.Requested{Attempt: 1, Bytes: 9000, Model: "anthropic/m"}},
			event.Draft{Body: event.Replied{Cost: &cost, Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("done")}}}}},
			event.Draft{Body: event.Ended{End: event.EndDone}})
		if _, err := st.Append(ctx, fmt.Sprintf("s%019d", i), 0, ds...); err != nil {
			return 0, err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// noise is a text that cannot be packed well.
func noise(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('!' + r.IntN(90))
	}
	return string(b)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
