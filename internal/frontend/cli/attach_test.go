//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

var shownID = regexp.MustCompile(`session ([0-9a-f]{20}),`)

// sessionOf asks a terminal for the id of its session.
func sessionOf(x *terminal) string {
	x.send("/status\r")
	x.expect(" events")
	id := shownID.FindStringSubmatch(x.text())
	if id == nil {
		x.t.Fatal("no id:", x.text())
	}
	return id[1]
}

// A second terminal watches, a third takes part; the session ends, or its pawl is
// killed; nobody is there.
//
// SPEC 18.1
func TestAttach(t *testing.T) {
	home, err := os.MkdirTemp("", "pawl-home-") // a socket's path must be short
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	dir := t.TempDir()
	const term = "xterm-256color"
	say := func(int, []byte) llmtest.Turn { return llmtest.Say("a friendly answer") }
	open := func(args ...string) *terminal { return onTerminalIn(t, dir, home, term, say, args...) }

	x := open("attach")
	x.expect("there are no sessions yet")
	x.ended(2)

	owner := open()
	owner.expect("enter a task")
	owner.send("hello\r")
	owner.expect("1 model reply")

	watcher := open("attach")
	watcher.expect("a friendly answer") // as the owner shows it
	watcher.expect("watching   ? keys")
	printing := open("attach", "--plain")
	printing.expect("a friendly answer")
	helper := open("attach", "--steer")
	helper.expect("taking part")
	helper.send("and again\r")
	owner.expect("and again")
	owner.expect("1 model reply")
	watcher.expect("and again")
	watcher.expect("1 model reply")

	watcher.send("/clear\r")
	watcher.expect("is attached to session")
	watcher.send("not mine\r")
	watcher.expect("only watches")
	if strings.Contains(owner.text(), "not mine") {
		t.Error("who only watches reached the session")
	}
	x = open("sessions", "delete", sessionOf(owner), "--yes")
	x.expect("was not deleted")

	owner.send("\x04")
	owner.ended(0)
	watcher.expect("has ended")
	watcher.expect("pawl --resume ")
	watcher.ended(0)
	printing.expect("a friendly answer")
	printing.expect("has ended")
	printing.ended(0)
	helper.expect("has ended")
	helper.ended(0)

	owner = open("--continue")
	owner.expect("a friendly answer") // it is open: its past is shown
	watcher = open("attach")
	watcher.expect("watching")
	_ = owner.cmd.Process.Kill()
	watcher.expect("was killed")
	watcher.ended(0)
	x = open("attach")
	x.expect("is open in another terminal")
	x.ended(2)
	if left, _ := filepath.Glob(filepath.Join(home, ".local/state/pawl/live/*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A command of pawl's own agent can watch, and not answer its own questions.
func TestAttachFromACommand(t *testing.T) {
	var said strings.Builder
	a := &App{
		Environment: setup.Environment{Err: &said, Dir: t.TempDir(), Env: func(name string) string {
			return map[string]string{"PAWL_JOB": "1", "HOME": t.TempDir()}[name]
		}},
		Out:  &said,
		Args: []string{"attach", "--steer"},
	}
	if err := a.attach(t.Context(), &flags{}, true); err == nil || !strings.Contains(err.Error(), "started by an agent") {
		t.Errorf("%v", err)
	}
}
