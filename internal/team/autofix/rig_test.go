package autofix

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a project with a session over it: real files, a real shell, a
// scripted model, and the checks that are found there.
type rig struct {
	*session.Session
	t      *testing.T
	dir    string
	bin    string // a folder at the front of the commands' PATH
	model  *llmtest.Model
	cfg    session.Config
	finder *checks.Finder
	fix    Config
}

// newRig writes files, each behind its "-- name --", and makes ready a session
// that open opens.
func newRig(t *testing.T, files string, turns ...llmtest.Turn) *rig {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	r := &rig{t: t, dir: dir, bin: t.TempDir(), model: llmtest.New(turns...)}
	for _, f := range strings.Split("\n"+files, "\n-- ")[1:] {
		name, text, _ := strings.Cut(f, " --")
		r.put(name, strings.TrimPrefix(text, "\n")+"\n")
	}
	r.cfg = sessiontest.Config(t, dir, r.model, func() []string {
		return append(os.Environ(), "PATH="+r.bin+":"+os.Getenv("PATH"), "GOFLAGS=-mod=mod")
	})
	r.cfg.Mask = secrets.New("hunter2hunter2")
	r.finder = &checks.Finder{Root: dir, LookPath: exec.LookPath}
	r.fix.Find = r.finder.Find
	return r
}

// configure makes a command the check of everything.
func (r *rig) configure(command string) {
	r.finder.Configured = []checks.Configured{{Name: "own", Command: command}}
}

func (r *rig) open() {
	r.t.Helper()
	if r.cfg.Autofix == nil {
		r.cfg.Autofix = New(r.fix)
	}
	r.Session = sessiontest.Open(r.t, r.cfg)
}

// program puts a shell script on the PATH of commands.
func (r *rig) program(name, script string) {
	r.t.Helper()
	must.WriteMode(r.t, filepath.Join(r.bin, name), "#!/bin/sh\n"+script, 0o700)
	look := r.finder.LookPath
	r.finder.LookPath = func(s string) (string, error) {
		if s == name {
			return filepath.Join(r.bin, name), nil
		}
		return look(s)
	}
}

func (r *rig) put(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.dir, name)
	must.Do(r.t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)))
}

func (r *rig) file(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

// run prompts and follows the turn to its end; on is called for each event.
func (r *rig) run(on func(event.Event)) []event.Event {
	r.t.Helper()
	if r.Session == nil {
		r.open()
	}
	var out []event.Event
	events := r.Events(r.t.Context(), r.View().Last())
	must.Done(r.t)(r.Submit(r.t.Context(), session.Prompt{Text: "do it"}))
	var activity lifecycle.Activity
	for e, err := range events {
		must.Do(r.t, err)
		out = append(out, e)
		activity.Apply(e)
		if on != nil {
			on(e)
		}
		if _, ok := e.Body.(event.Ended); ok {
			if vs := activity.Violations(); len(vs) > 0 { // SPEC 2.3
				r.t.Errorf("activity: %+v", vs)
			}
			return out
		}
	}
	r.t.Fatal("the events ended before the turn")
	return nil
}

func find[B event.Body](es []event.Event) []B {
	var out []B
	for _, e := range es {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// prompts are what pawl asked the model for.
func prompts(es []event.Event) []string {
	var out []string
	for _, p := range find[event.Prompted](es) {
		if p.Source == event.Autofix {
			out = append(out, p.Text)
		}
	}
	return out
}

// story is the checks and prompts of a turn, a line each.
func story(es []event.Event) []string {
	var out []string
	for _, e := range es {
		switch b := e.Body.(type) {
		case event.Checked:
			s := b.Command
			if b.Part {
				s += " (part)"
			}
			switch {
			case b.Exit != nil && b.Why == "":
				s += fmt.Sprint(" → ", *b.Exit)
			default:
				s += " → " + b.Why
			}
			out = append(out, fmt.Sprintf("%d %s", b.Attempt, strings.TrimSpace(s)))
		case event.Prompted:
			if b.Source == event.Autofix {
				out = append(out, "asked")
			}
		case event.Ended:
			out = append(out, string(b.End))
		}
	}
	return out
}

func (r *rig) told(es []event.Event, want ...string) {
	r.t.Helper()
	got := story(es)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("it went\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		for _, c := range find[event.CallDone](es) {
			if c.Outcome != event.OK {
				r.t.Logf("%s: %s", c.Outcome, c.Result.Text)
			}
		}
	}
}

// write is a reply that writes a file; the read lets it replace one.
func write(name, text string) llmtest.Turn {
	args, err := json.Marshal(map[string]string{"path": name, "content": text})
	if err != nil {
		panic(err)
	}
	return llmtest.Use("read", fmt.Sprintf(`{"files":[{"path":%q}]}`, name), "write", string(args))
}

// fakeGo puts a go on the PATH that behaves as go test does with the shop, and
// is quick: the ordinary one is tested by TestGo and its like.
func (r *rig) fakeGo() {
	r.program("go", `
case "$*" in
"test ./report") echo "ok  	example.com/shop/report	0.001s"; exit 0 ;;
esac
grep -qE 'sum [+]= p( [+] 0)?$' price/price.go && { printf "=== RUN   TestTotal\n--- PASS: TestTotal (0.00s)\nPASS\nok  \texample.com/shop/price\t0.001s\n"; exit 0; }
printf -- '--- FAIL: TestTotal (0.00s)\n    price_test.go:7: Total by %s, want 30\nFAIL\nFAIL\texample.com/shop/price\t0.001s\nFAIL\n' "$(grep -o 'sum [^:=]*=.*' price/price.go)"
exit 1
`)
}
