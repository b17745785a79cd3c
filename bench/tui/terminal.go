//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal that pawl runs on.
type terminal struct {
	master *os.File
	cmd    *exec.Cmd
	began  time.Time

	mu    sync.Mutex
	seen  []byte
	total int
	more  chan struct{}
}

// start starts pawl in a new terminal.
func start(pawl, dir, url string, args ...string) (*terminal, error) {
	return open(dir, url, pawl, append(arguments(), args...)...)
}

// arguments are those of every pawl here.
func arguments() []string { return []string{"-m", "openai/gpt-5", "--max-budget-usd", "1000"} }

// open starts a program in a new terminal, with the home in dir and the server as OpenAI's.
func open(dir, url, program string, args ...string) (*terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		return nil, err
	}
	t := &terminal{master: master, more: make(chan struct{}, 1), began: time.Now()}
	work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
	for _, d := range []string{work, home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	t.cmd = exec.Command(program, args...)
	t.cmd.Dir = work
	t.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "OPENAI_API_KEY=sk-bench-0000000000000000", "OPENAI_BASE_URL=" + url + "/v1"}
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = side, side, side
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	_ = side.Close() // the child has it
	go t.read()
	return t, nil
}

// read keeps what pawl writes, and answers as a terminal does what it asks.
func (t *terminal) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buf)
		t.mu.Lock()
		t.seen = append(t.seen, buf[:n]...)
		t.total += n
		t.mu.Unlock()
		if bytes.Contains(buf[:n], []byte("\x1b[c")) {
			t.send("\x1b[?2026;2$y\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62c")
		}
		select {
		case t.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (t *terminal) send(keys string) *terminal {
	_, _ = t.master.WriteString(keys) // a terminal that is gone shows nothing more
	return t
}

func (t *terminal) all() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.seen)
}

func (t *terminal) written() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// until waits for one of some texts, drops the output before it, and returns the time
// since the start.
func (t *terminal) until(texts ...string) (time.Duration, error) {
	late := time.After(60 * time.Second)
	for {
		t.mu.Lock()
		for _, text := range texts {
			if i := bytes.Index(t.seen, []byte(text)); i >= 0 {
				t.seen = slices.Clone(t.seen[i+len(text):])
				t.mu.Unlock()
				return time.Since(t.began), nil
			}
		}
		t.mu.Unlock()
		select {
		case <-t.more:
		case <-late:
			return 0, fmt.Errorf("no %q came; seen: %q", texts, t.all())
		}
	}
}

// reply asks for a reply and waits for its end.
func (t *terminal) reply(prompt string) error {
	_, err := t.send(prompt + "\r").until("model reply")
	return err
}

// keys types letters while a reply streams, each once the one before was seen,
// and tells how long that took.
func (t *terminal) keys() (string, error) {
	t.send("write\r")
	if _, err := t.until("sentence"); err != nil {
		return "", err
	}
	var took []time.Duration
	for i := range 40 {
		letter := string(rune('а' + i%32)) // Cyrillic: nothing else writes it
		began := time.Now()
		if _, err := t.send(letter).until(letter); err != nil {
			return "", err
		}
		took = append(took, time.Since(began))
		time.Sleep(70 * time.Millisecond)
	}
	t.send("\x15")
	if _, err := t.until("model reply"); err != nil {
		return "", err
	}
	slices.Sort(took)
	return fmt.Sprintf("p50 %s, p95 %s, worst %s", ms(took[20]), ms(took[38]), ms(took[39])), nil
}

// cpu is what pawl has used.
func (t *terminal) cpu() time.Duration {
	total := int64(0)
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.cmd.Process.Pid))
	for _, task := range tasks {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", t.cmd.Process.Pid, task.Name()))
		if err == nil {
			n, _ := strconv.ParseInt(strings.Fields(string(b))[0], 10, 64)
			total += n
		}
	}
	return time.Duration(total)
}

// memory is what pawl holds, in MB; own is that without the pages of its program
// file, which the system shares and takes back.
func (t *terminal) memory() float64 { return t.status("VmRSS:") }

func (t *terminal) own() float64 { return t.status("RssAnon:") }

func (t *terminal) status(name string) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.cmd.Process.Pid))
	for l := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(l, name); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(n) / 1024
		}
	}
	return 0
}

func (t *terminal) end() {
	t.send("\x03")
	_ = t.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- t.cmd.Wait() }()
	select {
	case err := <-done:
		if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
			fmt.Fprintln(os.Stderr, "tui:", err)
		}
	case <-time.After(10 * time.Second):
		_ = t.cmd.Process.Kill()
	}
	_ = t.master.Close()
}
