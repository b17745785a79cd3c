//go:build linux

// Command tui measures the screen: what it writes, what it costs, and how soon a
// key is seen.
//
//	go run ./bench/tui [-pawl BINARY] [-replies 50] [-idle 10s] [-messages 10000] [-check]
//	go run ./bench/tui [-pawl BINARY] -again DIR
//
// It builds pawl, runs it on a pseudo-terminal of 120x40 with an empty home against a
// server on this machine that streams 1,000 words of Markdown in pieces of 5 bytes, 200 a
// second, and reads what pawl writes. Start, latency and CPU depend on the machine, so the
// load is printed beside them, and CPU is compared with that of a program that only copies
// the reply (copy.go). With -messages it then holds a conversation of that many messages,
// prompts and short replies, and compares its memory with that after 100. With -check it
// fails where a count or ratio is over its budget. With -again it takes up the long session
// that `go run ./bench/resume -dir DIR` has made, and does nothing else.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	pawl := flag.String("pawl", "", "the program; built where it is not given")
	replies := flag.Int("replies", 50, "how many replies before the second look at keys and memory")
	idle := flag.Duration("idle", 10*time.Second, "how long to watch it rest")
	messages := flag.Int("messages", 0, "of a long conversation, whose memory is watched; 0 for none")
	resume := flag.String("again", "", "only take up the session of a home that bench/resume -dir kept here")
	mux := flag.Bool("tmux", false, "only start it in tmux")
	link := flag.Bool("linked", false, "only tell what it costs a command that does not open it")
	reply := flag.String("copy", "", "only copy a reply of the server at this URL to the terminal")
	check := flag.Bool("check", false, "fail where a budget is not kept")
	flag.Parse()
	if *reply != "" {
		if err := copyReply(*reply); err != nil {
			fmt.Fprintln(os.Stderr, "tui:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*pawl, *resume, *mux, *link, *replies, *messages, *idle, *check); err != nil {
		fmt.Fprintln(os.Stderr, "tui:", err)
		os.Exit(1)
	}
}

func run(pawl, resume string, mux, link bool, replies, messages int, idle time.Duration, check bool) error {
	dir, err := os.MkdirTemp("", "pawl-bench-tui-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if pawl == "" {
		pawl = filepath.Join(dir, "pawl")
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", pawl, "./cmd/pawl")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return err
		}
	}
	srv := serve()
	defer srv.Close()
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("load %s\n", strings.TrimSpace(string(load)))

	switch {
	case resume != "":
		return again(pawl, resume, srv.URL, 5)
	case mux:
		return inTmux(pawl, dir, srv.URL, 9)
	case link:
		return linked(pawl, 21)
	}
	var starts []time.Duration
	for range 5 {
		t, err := start(pawl, dir, srv.URL)
		if err != nil {
			return err
		}
		took, err := t.until("\x1b[2C\x1b[?25h", "› ")
		if err != nil {
			return err
		}
		starts = append(starts, took)
		t.end()
	}
	slices.Sort(starts)
	fmt.Printf("start to prompt: %s (5 runs: %s to %s)\n", ms(starts[2]), ms(starts[0]), ms(starts[4]))

	t, err := start(pawl, dir, srv.URL)
	if err != nil {
		return err
	}
	defer t.end()
	if _, err := t.until("ask ·"); err != nil {
		return err
	}
	var over []string
	hold := func(what string, got, most float64, unit string) {
		fmt.Printf("%s: %.4g %s (at most %g)\n", what, got, unit, most)
		if got > most {
			over = append(over, what)
		}
	}
	time.Sleep(time.Second) // what the start left to do
	bytes, cpu := t.written(), t.cpu()
	time.Sleep(idle)
	hold("idle bytes", float64(t.written()-bytes), 0, "bytes")
	hold("idle CPU", 100*(t.cpu()-cpu).Seconds()/idle.Seconds(), 0.2, "% of a core")

	share, times, most := 100.0, 100.0, int64(0)
	for range 3 { // what else the machine does adds most to pawl: the least is its own
		copier, err := startCopy(dir, srv.URL)
		if err != nil {
			return err
		}
		before, cpu, began := t.written(), t.cpu(), time.Now()
		if err := t.reply("write"); err != nil {
			return err
		}
		used := t.cpu() - cpu
		share = min(share, 100*used.Seconds()/time.Since(began).Seconds())
		most = max(most, int64(t.written()-before))
		copied, err := copier.used()
		if err != nil {
			return err
		}
		times = min(times, used.Seconds()/copied.Seconds())
	}
	hold("bytes of a reply of 1,000 words", float64(most)/1000, 40, "KB")
	fmt.Printf("CPU of it, at least: %.4g %% of a core\n", share)
	hold("CPU of it, beside that of a program which only copies it to a terminal", times, 4.5, "times")
	keys, err := t.keys()
	if err != nil {
		return err
	}
	fmt.Printf("a key while a reply streams: %s\n", keys)
	first := t.memory()
	fmt.Printf("memory: %.1f MB\n", first)
	if _, err := t.send("!seq 10000\r").until("10000\r"); err != nil {
		return err
	}
	for range replies {
		if err := t.reply("quick"); err != nil {
			return err
		}
	}
	if keys, err = t.keys(); err != nil {
		return err
	}
	fmt.Printf("a key after %d replies and 10,000 lines: %s\n", replies, keys)
	fmt.Printf("memory then: %.1f MB (aim 45)\n", t.memory())
	hold("its own memory then", t.own(), ownMost, "MB")
	if strings.Contains(t.all(), "\x1b[2J") || strings.Contains(t.all(), "\x1b[3J") {
		over = append(over, "the screen was cleared")
	}
	if messages > 0 {
		if err := long(pawl, dir, srv.URL, messages, hold); err != nil {
			return err
		}
	}
	if check && len(over) > 0 {
		return fmt.Errorf("over budget: %s", strings.Join(over, ", "))
	}
	return nil
}

// ownMost is the limit of what pawl itself holds, in MB. How much of its program file is
// in memory too is the system's choice: builds of one source differ by 2 MB.
const ownMost = 13

// growthMost is by how much that may grow between message 100 and the end, in MB. What
// the system adds of the program file meanwhile is 1 to 2 MB; both together are to stay
// within 10 %.
const growthMost = 2.5

// long holds a conversation of many messages, and compares its memory with that
// after the first hundred.
func long(pawl, dir, url string, messages int, hold func(what string, got, most float64, unit string)) error {
	t, err := start(pawl, dir, url)
	if err != nil {
		return err
	}
	defer t.end()
	if _, err := t.until("ask ·"); err != nil {
		return err
	}
	first, own, began := 0.0, 0.0, time.Now()
	for n := 2; n <= messages; n += 2 { // a prompt and a reply
		if err := t.reply(fmt.Sprint("note ", n)); err != nil {
			return err
		}
		switch {
		case n == 100:
			first, own = t.memory(), t.own()
			fmt.Printf("memory at message %d: %.1f MB, %.1f MB of it its own\n", n, first, own)
		case n%1000 == 0:
			fmt.Printf("memory at message %d: %.1f MB, %.1f MB of it its own (%s)\n", n, t.memory(), t.own(), time.Since(began).Round(time.Second))
		}
	}
	fmt.Printf("memory at the end: %.1f MB (aim 45), %.1f %% more than after message 100 (aim 10)\n", t.memory(), 100*(t.memory()/first-1))
	hold("its own memory at the end", t.own(), ownMost, "MB")
	hold("which grew by", t.own()-own, growthMost, "MB")
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
