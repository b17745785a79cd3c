//go:build unix

package hooks_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	hookrun "github.com/pawl-agent/pawl/internal/adapter/hook"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// SPEC 17.3, 16.13: hooks of one point run beside each other; one that hangs,
// floods, or leaves a process behind holds nothing up and leaves nothing.
func TestRun(t *testing.T) {
	dir := must.Dir(t)
	starter := shell.NewStarter(shell.StarterOptions{})
	t.Cleanup(func() { _ = starter.Close() })
	h := hookrun.New(nil, hookrun.Options{Dir: dir, Start: starter, Confine: func(r hook.Rule) process.Confine {
		if r.Matcher == "confined" {
			return process.Confine{}
		}
		return process.Free
	}, Changed: func(r hook.Rule) string {
		if r.Matcher == "changed" {
			return "it changed"
		}
		return ""
	}})
	rule := func(command string, more ...string) hook.Rule {
		r := hook.Rule{Event: hook.PreToolUse, Command: command, Timeout: 30 * time.Second}
		if len(more) > 0 {
			r.Matcher = more[0]
		}
		return r
	}
	hangs := rule("sleep 1000")
	hangs.Timeout = 200 * time.Millisecond
	// The first two wait for each other.
	rules := []hook.Rule{
		rule("mkfifo p 2>/dev/null; cat > in.json; cat p"), rule("while ! test -p p; do :; done; echo met > p; exit 2"),
		hangs,
		rule("head -c 5000000 /dev/zero"),
		rule("(trap '' HUP TERM; exec sleep 1001) & echo $! > daemon; echo left"),
		rule("exit 3"), rule("kill -9 $$"), rule("echo $CLAUDE_PROJECT_DIR; pwd"),
		rule("touch ran", "confined"), rule("touch ran", "changed"),
		rule("true"), // it reads nothing
	}
	ran := make([]hook.Ran, len(rules))
	var wg sync.WaitGroup
	for i, r := range rules {
		wg.Go(func() { ran[i] = h.Run(t.Context(), r, []byte(`{"a": 1}`+strings.Repeat(" ", 1<<20))) })
	}
	wg.Wait()
	if string(ran[0].Out) != "met\n" || ran[1].Exit != 2 {
		t.Errorf("beside each other: %q %+v", ran[0].Out, ran[1])
	}
	if in, err := os.ReadFile(filepath.Join(dir, "in.json")); err != nil || len(in) != 1<<20+8 {
		t.Errorf("its input: %d bytes, %v", len(in), err)
	}
	if !strings.Contains(ran[2].Failed, "stopped after 200ms") {
		t.Errorf("a hook that hangs: %+v", ran[2])
	}
	if !ran[3].Cut || len(ran[3].Out) > 2<<20 {
		t.Errorf("a flood: %v, %d bytes", ran[3].Cut, len(ran[3].Out))
	}
	if string(ran[4].Out) != "left\n" || ran[4].Failed != "" {
		t.Errorf("a daemon: %+v", ran[4])
	}
	pid := must.Get(os.ReadFile(filepath.Join(dir, "daemon")))(t)
	if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err != nil || syscall.Kill(n, 0) == nil && !zombie(n) {
		t.Errorf("it is still there: %d %v", n, err)
	}
	if ran[5].Exit != 3 || ran[6].Failed == "" || string(ran[7].Out) != dir+"\n"+dir+"\n" {
		t.Errorf("%+v\n%+v\n%q", ran[5], ran[6], ran[7].Out)
	}
	if ran[8].Failed == "" || ran[9].Failed != "it changed" {
		t.Errorf("%+v\n%+v", ran[8], ran[9])
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a hook ran that must not")
	}
	if ran[10].Exit != 0 || ran[10].Failed != "" {
		t.Errorf("%+v", ran[10])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ran := h.Run(ctx, rule("true"), nil); ran.Failed == "" {
		t.Errorf("a cancelled one: %+v", ran)
	}
}

// zombie reports whether a process has ended and waits for whoever it belongs to.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}
