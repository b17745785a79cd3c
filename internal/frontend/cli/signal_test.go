//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
)

// running is the real program on its way, its output read line by line.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    *bufio.Scanner
	pipe   io.Closer
	stderr bytes.Buffer
	dir    string
	home   string
	temp   string // for temporary files
	last   []byte // the last line of stdout
}

// begin starts pawl run against a scripted server.
func begin(t *testing.T, srv *llmtest.Server, args ...string) *running {
	t.Helper()
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	r := &running{t: t, dir: t.TempDir(), home: t.TempDir()}
	r.temp = filepath.Join(r.home, "tmp")
	must.Do(t, os.Mkdir(r.temp, 0o700))
	env := []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL, "TMPDIR=" + r.temp}
	args = append([]string{"run", "--permission-mode", "yolo", "-m", "anthropic/claude-script"}, args...)
	r.cmd = pawl(t, r.dir, r.home, env, args...)
	r.cmd.Stderr = &r.stderr
	out := must.Get(r.cmd.StdoutPipe())(t)
	must.Do(t, r.cmd.Start())
	// What hangs is a failure and not the end of the test run.
	guard := time.AfterFunc(patient, func() { _ = r.cmd.Process.Kill() })
	t.Cleanup(func() { guard.Stop(); _ = r.cmd.Process.Kill() })
	r.out, r.pipe = bufio.NewScanner(out), out
	r.out.Buffer(nil, 8<<20)
	return r
}

// until reads the output up to a line with these words in it.
func (r *running) until(words string) {
	r.t.Helper()
	for r.out.Scan() {
		r.last = bytes.Clone(r.out.Bytes())
		if bytes.Contains(r.last, []byte(words)) {
			return
		}
	}
	r.t.Fatalf("the output ended without %q: %s\n%s", words, r.last, r.stderr.String())
}

func (r *running) signal(sigs ...syscall.Signal) {
	r.t.Helper()
	for _, s := range sigs {
		must.Do(r.t, r.cmd.Process.Signal(s))
	}
}

// end reads the rest and gives the exit code.
func (r *running) end() int {
	r.t.Helper()
	for r.out.Scan() {
		r.last = bytes.Clone(r.out.Bytes())
	}
	_ = r.cmd.Wait() // the code says it
	return r.cmd.ProcessState.ExitCode()
}

// log gives the events of the only session.
func (r *running) log() []event.Event {
	r.t.Helper()
	st, err := sqlite.Open(r.t.Context(), filepath.Join(r.home, ".local", "state", "pawl", "pawl.db"), sqlite.Options{})
	must.Do(r.t, err)
	defer st.Close()
	rows, err := st.Sessions(r.t.Context(), "")
	if err != nil || len(rows) != 1 {
		r.t.Fatalf("%d sessions: %v", len(rows), err)
	}
	var es []event.Event
	for e, err := range st.Read(context.Background(), rows[0].ID, 0) {
		must.Do(r.t, err)
		es = append(es, e)
	}
	return es
}

// interrupted checks how a run that a signal ended left things.
func (r *running) interrupted(code int, by string) {
	r.t.Helper()
	var res headless.Result
	if err := json.Unmarshal(r.last, &res); err != nil {
		r.t.Errorf("the last line is no result: %s", r.last)
	} else if res.Outcome != "interrupted" || res.ExitCode != code || res.Error == nil || res.Error.Category != "cancellation" {
		r.t.Errorf("%+v", res)
	}
	es := r.log()
	open := 0
	for _, e := range es {
		switch e.Body.(type) {
		case event.CallAsked:
			open++
		case event.CallDone:
			open--
		}
	}
	mark, ok := es[len(es)-2].Body.(event.Interrupted)
	end, ok2 := es[len(es)-1].Body.(event.Ended)
	if open != 0 || !ok || mark.By != by || !ok2 || end.End != event.EndInterrupted {
		r.t.Errorf("%d calls are open; the log ends in %+v, %+v", open, es[len(es)-2].Body, es[len(es)-1].Body)
	}
}

// wrote reports whether a command came as far as to write its id to a file: it may have
// been ended between making it and that.
func (r *running) wrote(file string) bool {
	raw, err := os.ReadFile(filepath.Join(r.dir, file))
	return err == nil && bytes.HasSuffix(raw, []byte("\n"))
}

// gone checks that the process whose id a command wrote to a file runs no more.
func (r *running) gone(file string) {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, file))
	must.Do(r.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	must.Do(r.t, err)
	if syscall.Kill(pid, 0) != nil {
		return
	}
	// Dead, and not yet taken by whoever is its parent now.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if _, rest, _ := strings.Cut(string(stat), ") "); err == nil && (strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")) {
		return
	}
	r.t.Errorf("process %d (%s) is still there", pid, file)
}

var ends = []struct {
	sigs []syscall.Signal
	by   string
	code int
}{
	{[]syscall.Signal{syscall.SIGINT}, "SIGINT", 130},
	{[]syscall.Signal{syscall.SIGTERM}, "SIGTERM", 143},
	{[]syscall.Signal{syscall.SIGHUP}, "SIGHUP", 129},
	{[]syscall.Signal{syscall.SIGINT, syscall.SIGINT}, "SIGINT", 130},
}

// SPEC 10.3, 4.8: a signal ends a run in order, whatever it is doing.
func TestSignals(t *testing.T) {
	t.Parallel()
	const pids = `sleep 1000 & echo $! > child; echo $$ > parent; echo started; `
	for _, sig := range ends {
		name := fmt.Sprintf("%s-%d", sig.by, len(sig.sigs))
		t.Run(name+"/streaming", func(t *testing.T) {
			t.Parallel()
			never := make(chan struct{})
			r := begin(t, &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
				return llmtest.Turn{Text: "half of an", Wait: never}
			}}, "--output-format", "stream-json", "hello")
			r.until("half of an")
			r.signal(sig.sigs...)
			if code := r.end(); code != sig.code {
				t.Errorf("exit code %d, want %d: %s", code, sig.code, r.stderr.String())
			}
			r.interrupted(sig.code, sig.by)
		})
		t.Run(name+"/command", func(t *testing.T) {
			t.Parallel()
			r := begin(t, &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
				return llmtest.Use("bash", `{"command":"`+pids+`sleep 1000; true"}`, "write", `{"path":"after.txt","content":"x"}`)
			}}, "--output-format", "stream-json", "hello")
			r.until("started\\n")
			r.signal(sig.sigs...)
			if code := r.end(); code != sig.code {
				t.Errorf("exit code %d, want %d: %s", code, sig.code, r.stderr.String())
			}
			r.interrupted(sig.code, sig.by)
			r.gone("child")
			r.gone("parent")
			if _, err := os.Stat(filepath.Join(r.dir, "after.txt")); err == nil {
				t.Error("the next call ran after the interrupt")
			}
		})
	}
	t.Run("deaf", func(t *testing.T) {
		t.Parallel()
		r := begin(t, &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
			return llmtest.Use("bash", `{"command":"trap '' INT TERM HUP; `+pids+`while :; do sleep 1000; done"}`)
		}}, "--output-format", "stream-json", "hello")
		r.until("started\\n")
		r.signal(syscall.SIGTERM)
		if code := r.end(); code != 143 {
			t.Errorf("exit code %d: %s", code, r.stderr.String())
		}
		r.interrupted(143, "SIGTERM")
		r.gone("child")
		r.gone("parent")
	})
	t.Run("background", func(t *testing.T) {
		t.Parallel()
		never := make(chan struct{})
		r := begin(t, &llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
			switch n {
			case 0:
				return llmtest.Use("bash", `{"command":"`+pids+`sleep 1000; true","background":true}`)
			case 1:
				return llmtest.Use("bash", `{"command":"until [ -s parent ]; do :; done"}`)
			}
			return llmtest.Turn{Text: "half of an", Wait: never}
		}}, "--output-format", "stream-json", "hello")
		r.until("half of an")
		r.signal(syscall.SIGINT)
		if code := r.end(); code != 130 {
			t.Errorf("exit code %d: %s", code, r.stderr.String())
		}
		r.interrupted(130, "SIGINT")
		r.gone("child")
		r.gone("parent")
	})
	t.Run("waiting", func(t *testing.T) { // for the next try of a request
		t.Parallel()
		r := begin(t, &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
			return llmtest.Turn{Err: errors.New("busy")}
		}}, "--output-format", "stream-json", "hello")
		r.until(`"attempt":3,"error"`) // from here on it waits for a second and more
		r.signal(syscall.SIGINT)
		if code := r.end(); code != 130 {
			t.Errorf("exit code %d: %s", code, r.stderr.String())
		}
		r.interrupted(130, "SIGINT")
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		r := begin(t, &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
			return llmtest.Use("bash", `{"command":"`+pids+`sleep 1000; true"}`)
		}}, "--output-format", "stream-json", "--timeout", "2s", "hello")
		if code := r.end(); code != 124 {
			t.Errorf("exit code %d: %s", code, r.stderr.String())
		}
		if r.wrote("parent") { // it had come so far
			r.gone("child")
			r.gone("parent")
		}
	})
	t.Run("json", func(t *testing.T) {
		t.Parallel()
		here, never := make(chan struct{}), make(chan struct{})
		r := begin(t, &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
			close(here)
			return llmtest.Turn{Text: "half of an", Wait: never}
		}}, "--output-format", "json", "hello")
		<-here
		r.signal(syscall.SIGTERM)
		if code := r.end(); code != 143 {
			t.Errorf("exit code %d: %s", code, r.stderr.String())
		}
		r.interrupted(143, "SIGTERM")
	})
}

// A reader that goes away ends the run in order: what ran is stopped and has
// its result, the turn its end.
func TestOutputClosed(t *testing.T) {
	t.Parallel()
	r := begin(t, &llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
		return llmtest.Use("bash", `{"command":"echo $$ > parent; echo started; for i in $(seq 1 20000); do seq 1 20; sleep 0.05; done; true"}`)
	}}, "--output-format", "stream-json", "hello")
	r.until("call_started")
	r.hangUp()
	_ = r.cmd.Wait() // the code says it
	if code := r.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(r.stderr.String(), "write the output") || strings.Count(r.stderr.String(), "\n") != 1 {
		t.Errorf("exit code %d: %s", code, r.stderr.String())
	}
	es := r.log()
	if end, ok := es[len(es)-1].Body.(event.Ended); !ok || end.End != event.EndInterrupted {
		t.Errorf("the log ends in %+v", es[len(es)-1].Body)
	}
	if r.wrote("parent") {
		r.gone("parent")
	}
}

// hangUp closes the reading end of pawl's output. Another test's process that
// is just being started holds a copy of it until it runs its own program.
func (r *running) hangUp() {
	r.t.Helper()
	must.Do(r.t, r.pipe.Close())
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
}

// The same for an answer in words: the run is over when it is written.
func TestTextOutputClosed(t *testing.T) {
	t.Parallel()
	here, on := make(chan struct{}), make(chan struct{})
	r := begin(t, &llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
		if n == 0 {
			close(here)
			<-on
		}
		return llmtest.Say("the answer")
	}}, "hello")
	<-here
	r.hangUp()
	close(on)
	_ = r.cmd.Wait() // the code says it
	if code := r.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d: %s", code, r.stderr.String())
	}
	es := r.log()
	if end, ok := es[len(es)-1].Body.(event.Ended); !ok || end.End != event.EndDone {
		t.Errorf("the log ends in %+v", es[len(es)-1].Body)
	}
}
