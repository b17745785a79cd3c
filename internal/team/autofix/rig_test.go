package autofix

import (
	"encoding/json"
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
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a project with a session over it, and the checks that are found there.
type rig struct {
	*sessiontest.Rig
	bin    string // a folder at the front of the commands' PATH
	finder *checks.Finder
	fix    Config
}

// newRig writes files, each behind its "-- name --", and makes ready a session
// that open opens.
func newRig(t *testing.T, files string, turns ...llmtest.Turn) *rig {
	t.Helper()
	r := &rig{bin: t.TempDir()}
	r.Rig = sessiontest.Of(t, sessiontest.Config(t, must.Dir(t), llmtest.New(turns...), func() []string {
		return append(os.Environ(), "PATH="+r.bin+":"+os.Getenv("PATH"), "GOFLAGS=-mod=mod")
	}))
	for _, f := range strings.Split("\n"+files, "\n-- ")[1:] {
		name, text, _ := strings.Cut(f, " --")
		r.Put(name, strings.TrimPrefix(text, "\n")+"\n")
	}
	r.Cfg.Mask = secrets.New("hunter2hunter2")
	r.finder = &checks.Finder{Root: r.Dir, LookPath: exec.LookPath}
	r.fix.Find = r.finder.Find
	return r
}

// configure makes a command the check of everything.
func (r *rig) configure(command string) {
	r.finder.Configured = []checks.Configured{{Name: "own", Command: command}}
}

func (r *rig) open() {
	r.T.Helper()
	if r.Cfg.Autofix == nil {
		r.Cfg.Autofix = New(r.fix)
	}
	r.Rig.Open()
}

// program puts a shell script on the PATH of commands.
func (r *rig) program(name, script string) {
	r.T.Helper()
	must.WriteMode(r.T, filepath.Join(r.bin, name), "#!/bin/sh\n"+script, 0o700)
	look := r.finder.LookPath
	r.finder.LookPath = func(s string) (string, error) {
		if s == name {
			return filepath.Join(r.bin, name), nil
		}
		return look(s)
	}
}

// run prompts and follows the turn to its end; on is called for each event.
func (r *rig) run(on func(event.Event)) []event.Event {
	r.T.Helper()
	if r.Session == nil {
		r.open()
	}
	es := r.Run("do it", on)
	var activity lifecycle.Activity
	for _, e := range es {
		activity.Apply(e)
	}
	if vs := activity.Violations(); len(vs) > 0 { // SPEC 2.3
		r.T.Errorf("activity: %+v", vs)
	}
	return es
}

func find[B event.Body](es []event.Event) []B { return sessiontest.Find[B](es) }

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
	r.T.Helper()
	got := story(es)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.T.Errorf("it went\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		for _, c := range find[event.CallDone](es) {
			if c.Outcome != event.OK {
				r.T.Logf("%s: %s", c.Outcome, c.Result.Text)
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
