//go:build linux

// Command recording makes doc/demo.svg, the picture in the README: it builds
// pawl, runs `pawl demo` on a pseudo-terminal of 100 by 30, and draws what a
// terminal emulator showed. With -check it writes nothing and reports where the
// picture differs from a new run in more than times and names.
//
//	go run ./bench/recording
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/frontend/tui/emulator"
)

const (
	columns, rows = 100, 30
	// step is the shortest time between two frames.
	step = 200 * time.Millisecond
	// quiet is how long nothing is written after the demo's end.
	quiet = 3 * time.Second
	most  = 3 * time.Minute
)

func main() {
	check := flag.Bool("check", false, "compare with the picture that is there")
	path := flag.String("o", "doc/demo.svg", "the picture")
	flag.Parse()
	if err := run(*path, *check); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(path string, check bool) error {
	dir, err := os.MkdirTemp("", "recording-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	frames, text, err := record(dir)
	if err != nil {
		return err
	}
	if !check {
		svg := drawSVG(frames, columns, rows, "pawl demo: the agent finds a bug in a small Go project, fixes it and proves the fix", text)
		return os.WriteFile(path, []byte(svg), 0o644)
	}
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	old, err := textOf(string(was))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	a, b := structure(old), structure(text)
	for i := range max(len(a), len(b)) {
		if x, y := at(a, i), at(b, i); x != y {
			return fmt.Errorf("%s is not what the demo shows now (go run ./bench/recording makes it anew):\n  was %s\n  is  %s", path, x, y)
		}
	}
	return nil
}

func at(parts []string, i int) string {
	if i < len(parts) {
		return parts[i]
	}
	return "(nothing)"
}

// record runs the demo and returns what was seen of it, and all of it as text.
func record(dir string) ([]frame, string, error) {
	program := filepath.Join(dir, "pawl")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/pawl").CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("%w: %s", err, out)
	}
	home := filepath.Join(dir, "home")
	settings := filepath.Join(home, ".config", "pawl")
	if err := os.MkdirAll(settings, 0o700); err != nil {
		return nil, "", err
	}
	// The same on machines with and without language servers.
	if err := os.WriteFile(filepath.Join(settings, "config.json"), []byte(`{"lsp": {"servers": {"gopls": {"disabled": true}}}}`), 0o600); err != nil {
		return nil, "", err
	}
	master, side, err := terminal()
	if err != nil {
		return nil, "", err
	}
	defer master.Close()
	cmd := exec.Command(program, "demo")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "PAWL_THEME=dark", "PAWL_CALM=1"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOROOT", "GOTOOLCHAIN"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			cmd.Env = append(cmd.Env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, side, side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	_ = side.Close() // the child has it
	frames, text, err := watch(master)
	if err != nil {
		_ = cmd.Process.Kill()
	}
	return frames, text, errors.Join(err, cmd.Wait())
}

func terminal() (master, side *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if side, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	return master, side, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
}

// watch shows what is written to a terminal in memory, answers what it asks,
// and leaves the screen when the demo is over.
func watch(master *os.File) ([]frame, string, error) {
	pieces := make(chan []byte)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 64<<10)
			n, err := master.Read(buf)
			if n > 0 {
				pieces <- buf[:n]
			}
			if err != nil {
				return // the program has ended
			}
		}
	}()
	term := emulator.New(columns, rows)
	_, _ = io.WriteString(term, "$ pawl demo\r\n")
	began, left := time.Now(), false
	frames := []frame{{Rows: term.Runs()}}
	idle := time.NewTimer(most)
	for {
		select {
		case p, more := <-pieces:
			if !more {
				frames = append(frames, frame{At: time.Since(began), Rows: term.Runs()})
				return frames, strings.TrimSpace(term.Text()), term.Err()
			}
			if _, err := term.Write(p); err != nil {
				return nil, "", err
			}
			if bytes.Contains(p, []byte("\x1b[c")) {
				_, _ = io.WriteString(master, "\x1b[?2026;2$y\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62c")
			}
			if now := time.Since(began); now-frames[len(frames)-1].At >= step {
				frames = append(frames, frame{At: now, Rows: term.Runs()})
			}
			if strings.Contains(term.Text(), "model replies, ") && !left {
				idle.Reset(quiet)
			}
		case <-idle.C:
			if left || time.Since(began) > most {
				return nil, "", fmt.Errorf("the demo did not end; seen:\n%s", term.Text())
			}
			frames = append(frames, frame{At: time.Since(began), Rows: term.Runs()})
			left = true
			idle.Reset(most)
			_, _ = io.WriteString(master, "\x04")
		}
	}
}
