//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func newStarter(t *testing.T, o StarterOptions) *Starter {
	t.Helper()
	s := NewStarter(o)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// SPEC 16.12: nothing runs unconfined by forgetting to say how it is to run.
func TestNothingIsUnconfinedByDefault(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/ran"
	s := newStarter(t, StarterOptions{})
	for _, c := range []process.Confine{{}, {Level: process.Workspace}, {Writes: []string{"/"}}} {
		if _, err := s.Start(t.Context(), process.Program{Path: "touch", Args: []string{file}, Confine: c}); !errors.Is(err, process.ErrUnconfined) {
			t.Errorf("%+v: %v", c, err)
		}
		sh := New(Options{Starter: s, Root: t.TempDir()})
		if _, err := sh.Run(t.Context(), tool.Run{Command: "touch " + file, Confine: c}); !errors.Is(err, process.ErrUnconfined) {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := sh.Start(t.Context(), tool.Run{Command: "touch " + file, Confine: c}); !errors.Is(err, process.ErrUnconfined) {
			t.Errorf("%+v: %v", c, err)
		}
		_ = sh.Close()
	}
	if _, err := exec.Command("ls", file).Output(); err == nil {
		t.Error("it ran")
	}
}

type brokenConfiner struct{}

func (brokenConfiner) Confine(*exec.Cmd, process.Confine, process.Hold) (process.Confined, error) {
	return nil, errors.Join(process.ErrUnconfined, errors.New("the kernel is too old"))
}

// A sandbox that fails never leads to a run without it.
func TestABrokenSandboxRunsNothing(t *testing.T) {
	t.Parallel()
	s := newStarter(t, StarterOptions{Confiner: brokenConfiner{}})
	out, err := process.Output(t.Context(), s, process.Program{Path: "echo", Args: []string{"ran"}, Confine: process.Confine{Level: process.Workspace}})
	if !errors.Is(err, process.ErrUnconfined) || len(out) > 0 {
		t.Errorf("%q %v", out, err)
	}
}

// explaining confines nothing and knows of refusals by what is printed.
type explaining struct{}

type explained struct{ cmd *exec.Cmd }

func (explaining) Confine(cmd *exec.Cmd, _ process.Confine, _ process.Hold) (process.Confined, error) {
	return explained{cmd}, cmd.Start()
}

func (e explained) Wait() error              { return e.cmd.Wait() }
func (explained) Refused() []process.Refusal { return nil }
func (explained) Explain(output string) []process.Refusal {
	return []process.Refusal{{Act: process.ActWrite, What: strings.TrimSpace(output)}}
}

// SPEC 16.12: where the system does not tell what it refused, a failed command's
// own message does.
func TestRefusalsByTheOutput(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"echo /x; exit 1": "[write /x] false", "echo /x": "[] false",
		"echo '[Errno -3] Temporary failure in name resolution'; exit 1": "[write [Errno -3] Temporary failure in name resolution] true",
		"echo 'getaddrinfo EAI_AGAIN a.org'; exit 1":                     "[host a.org write getaddrinfo EAI_AGAIN a.org] false",
		"echo 'Temporary failure in name resolution'":                    "[] false",
	} {
		sh := newShell(t, Options{Starter: newStarter(t, StarterOptions{Confiner: explaining{}})})
		ran := must.Get(sh.Run(t.Context(), tool.Run{Command: line, Confine: process.Confine{Level: process.Workspace}}))(t)
		if got := fmt.Sprint(ran.Refused, ran.Nameless); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// holding confines nothing and holds a command at its end.
type holding struct{}

type heldAtEnd struct {
	explained
	hold process.Hold
}

func (holding) Confine(cmd *exec.Cmd, _ process.Confine, hold process.Hold) (process.Confined, error) {
	return heldAtEnd{explained{cmd}, hold}, cmd.Start()
}

func (h heldAtEnd) Wait() error {
	h.hold(context.Background(), process.Refusal{})
	return h.explained.Wait()
}

// How long a command took leaves out how long somebody decided about it.
func TestDurationWithoutTheAnswer(t *testing.T) {
	t.Parallel()
	sh := newShell(t, Options{Starter: newStarter(t, StarterOptions{Confiner: holding{}})})
	var held time.Duration
	hold := func(context.Context, process.Refusal) (string, process.Answer) {
		began := time.Now()
		<-time.After(500 * time.Millisecond)
		held = time.Since(began)
		return "", process.Allowed
	}
	began := time.Now()
	ran := must.Get(sh.Run(t.Context(), tool.Run{Command: "true", Confine: process.Confine{Level: process.Workspace}, Hold: hold}))(t)
	if most := time.Since(began) - held; ran.Duration > most {
		t.Errorf("it took %s, and at most %s without the answer", ran.Duration, most)
	}
}

func TestPipes(t *testing.T) {
	t.Parallel()
	s := newStarter(t, StarterOptions{Env: func() []string { return []string{"PATH=/usr/bin:/bin", "ANTHROPIC_API_KEY=sk-x"} }})
	p := must.Get(s.Start(t.Context(), process.Program{Path: "sh", Args: []string{"-c", "cat; env"}, Env: []string{"MINE=1"}, Pipes: true, Confine: process.Free}))(t)
	must.Done(t)(io.WriteString(p.In(), "hello\n"))
	_ = p.In().Close()
	got, err := io.ReadAll(p.Out())
	if err != nil || p.Wait() != nil || p.Wait() != nil {
		t.Fatal(err)
	}
	if out := string(got); !strings.HasPrefix(out, "hello\n") || !strings.Contains(out, "MINE=1") || strings.Contains(out, "sk-x") {
		t.Errorf("%s", out)
	}
	must.Do(t, p.Out().Close())
}

// Kill, the end of the context and Close take all that a process started.
func TestStarterEndsAll(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(p process.Process, cancel func(), s *Starter){
		"kill":    func(p process.Process, _ func(), _ *Starter) { p.Kill(cancelGrace) },
		"context": func(p process.Process, cancel func(), _ *Starter) { cancel(); _ = p.Wait() },
		"close":   func(_ process.Process, _ func(), s *Starter) { _ = s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watching(t)
			s := newStarter(t, StarterOptions{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := must.Get(s.Start(ctx, process.Program{Path: "sh", Args: []string{"-c", self("hold", w.path) + " & " + self("hold", w.path)}, Confine: process.Free}))(t)
			w.wait(2)
			stop(p, cancel, s)
			w.gone()
			if p.Wait() == nil {
				t.Error("it ended well")
			}
		})
	}
	s := newStarter(t, StarterOptions{})
	_ = s.Close()
	if _, err := s.Start(t.Context(), process.Program{Path: "true", Confine: process.Free}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}
