package autofix

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// trusting makes a rig trust what its checks are defined by now, and what its
// person says of what is not.
func (r *rig) trusting(yes bool) {
	var e *trust.Entry
	if yes {
		found, _, err := r.finder.Everywhere()
		must.Do(r.T, err)
		a := trust.Accept(r.Dir, "1", r.Cfg.Now(), true, r.finder.Parts(found))
		e = &a
	}
	r.fix.Trusted = func(c checks.Check) (string, string) {
		parts := r.finder.Parts([]checks.Check{c})
		if open := trust.Assess(e, "1", parts).Asks(); len(open) > 0 {
			return open[0].Why, parts[0].Hash
		}
		return "", parts[0].Hash
	}
}

// SPEC 16.1: without a person the checks of a folder that is not trusted do not
// run, whatever mode and rules say; what the model asks for itself is a call
// like any: a rule allows it.
func TestUntrustedIsInert(t *testing.T) {
	t.Parallel()
	for _, mode := range []permission.Mode{permission.AcceptEdits, permission.Auto, permission.Yolo} {
		r := newRig(t, "-- package.json --\n{\"scripts\": {\"test\": \"x\"}}", write("a.js", "1"), llmtest.Say("done"))
		r.program("npm", "echo ran >>"+r.Dir+"/ran; echo '# tests 1'; echo '# pass 1'")
		r.trusting(false)
		r.Cfg.Permission = permission.New(permission.Config{Mode: mode, Root: r.Dir, Home: "/home/nobody"})
		must.Do(t, r.Cfg.Permission.Add(permission.Flag, []string{"bash(npm test)"}, nil, nil))
		r.told(r.run(nil), "0 npm test → not run: this folder is not trusted (pawl trust, or --trust for one run)", "done")
		if p := r.View().Evidence(); p.Verified != nil || !strings.Contains(p.Unverified, "this folder is not trusted") {
			t.Errorf("%s: %+v", mode, p)
		}
		if got := r.File("ran"); !strings.HasPrefix(got, "error") {
			t.Errorf("%s: it ran", mode)
		}
	}
	r := newRig(t, "-- package.json --\n{\"scripts\": {\"test\": \"x\"}}", write("a.js", "1"), llmtest.Use("bash", `{"command":"npm test"}`), llmtest.Say("done"))
	must.Do(t, r.Cfg.Permission.Add(permission.User, []string{"bash(npm test)"}, nil, nil))
	r.program("npm", `echo ran >>"`+r.Dir+`/ran"; printf '\n> shop@1.0.0 test\n> jest\n\nTests:       2 passed, 2 total\n'`)
	r.trusting(false)
	es := r.run(nil)
	r.told(es, "done") // and is not run again
	if got := r.File("ran"); got != "ran\n" {
		t.Errorf("%s", got)
	}
}

// SPEC 16.1, 16.4: what the agent makes of a definition is not what was
// trusted, in whichever of its files, and also where the permission of checks
// does not know the file.
func TestTrustIsNotTheAgents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text string }{
		{"package.json", `{"scripts": {"test": "evil"}}`},
		{".npmrc", "script-shell=./evil"},
		{"jest.config.js", "evil()"},
		{"ci.sh", "evil"},
	} {
		r := newRig(t, "-- package.json --\n{\"scripts\": {\"test\": \"sh ci.sh\"}}\n-- ci.sh --\ntrue", write(c.file, c.text), write("a.js", "1"), llmtest.Say("done"))
		r.program("npm", "echo ran >>"+r.Dir+"/ran; echo '# tests 1'; echo '# pass 1'")
		r.trusting(true)
		r.Cfg.Permission = permission.New(permission.Config{Mode: permission.Yolo, Root: r.Dir, Home: "/home/nobody"})
		cs := find[event.Checked](r.run(nil))
		if len(cs) != 1 || cs[0].Exit != nil || !strings.HasPrefix(cs[0].Why, "not run: it changed since this folder was trusted") {
			t.Errorf("%s: %+v", c.file, cs)
		}
	}
	r := newRig(t, "-- package.json --\n{\"scripts\": {\"test\": \"x\"}, \"version\": \"1\"}", write("a.js", "1"), llmtest.Say("done"))
	r.program("npm", "echo '# tests 1'; echo '# pass 1'")
	r.trusting(true)
	r.told(r.run(nil), "0 npm test → 0", "done")
}

// SPEC 16.1: a person is asked, and what they say is for what they were shown.
func TestUntrustedAsks(t *testing.T) {
	t.Parallel()
	turns := []llmtest.Turn{
		write("a.js", "1"), llmtest.Say("done"),
		write("a.js", "2"), llmtest.Say("done"),
		write(".npmrc", "x=1"), llmtest.Say("done"),
	}
	for _, c := range []struct {
		scope event.Scope
		asks  []int // in each turn
		story []string
	}{
		{event.Session, []int{1, 0, 1}, []string{"0 npm test → 0", "0 npm test → 0", "0 npm test → 0"}},
		{event.Once, []int{1, 1, 1}, []string{"0 npm test → 0", "0 npm test → 0", "0 npm test → 0"}},
		{event.No, []int{1, 0, 0}, []string{"0 npm test → you did not allow it", "0 npm test → you did not allow it", "0 npm test → you did not allow it"}},
	} {
		r := newRig(t, "-- package.json --\n{\"scripts\": {\"test\": \"x\"}}", turns...)
		r.program("npm", "echo '# tests 1'; echo '# pass 1'")
		r.trusting(false)
		r.Cfg.Person = true
		r.Cfg.Permission = permission.New(permission.Config{Mode: permission.Yolo, Root: r.Dir, Home: "/home/nobody"})
		for i, want := range c.asks {
			es := r.run(r.answering(c.scope))
			asked := find[event.Asked](es)
			if len(asked) != want {
				t.Errorf("%s, turn %d: asks %d times, want %d", c.scope, i, len(asked), want)
			}
			for _, a := range asked {
				if q := a.Questions[0]; !strings.Contains(q.Reason, "not trusted") || q.Always {
					t.Errorf("%+v", q)
				}
			}
			r.told(es, c.story[i], "done")
		}
	}
}
