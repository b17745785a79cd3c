package autofix

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// servers is a tool.CodeWatch that finds lines with "bad" in the files that were
// changed.
type servers struct {
	dir   string
	files map[string]bool
	told  map[string]bool
}

func (s *servers) all() []tool.Diagnostic {
	var out []tool.Diagnostic
	for f := range s.files {
		b, _ := os.ReadFile(filepath.Join(s.dir, f))
		for i, l := range strings.Split(string(b), "\n") {
			if strings.Contains(l, "bad") {
				out = append(out, tool.Diagnostic{Path: f, Line: i + 1, Column: 1, Severity: tool.SeverityError, Source: "x", Message: l})
			}
			if strings.Contains(l, "doubtful") {
				out = append(out, tool.Diagnostic{Path: f, Line: i + 1, Column: 1, Severity: tool.SeverityWarning, Source: "x", Message: l})
			}
		}
	}
	return out
}

func (s *servers) Changed(_ context.Context, cs []tool.CodeChange) []tool.Diagnostic {
	for _, c := range cs {
		s.files[c.Path] = true
	}
	var out []tool.Diagnostic
	for _, d := range s.all() {
		if !s.told[d.Path+d.Message] {
			s.told[d.Path+d.Message] = true
			out = append(out, d)
		}
	}
	return out
}

func (s *servers) Remaining() []tool.Diagnostic { return s.all() }

func (s *servers) Wait(context.Context) {}

func (s *servers) Missing() []string { return nil }

func (r *rig) serve() {
	r.Cfg.CodeWatch = &servers{dir: r.Dir, files: map[string]bool{}, told: map[string]bool{}}
}

// SPEC 12.2, 13.3: where no check shows whether the changes are sound, the errors
// that language servers find are to be mended; they prove nothing, and what the
// model leaves is not chased.
func TestDiagnosticsAreMended(t *testing.T) {
	t.Parallel()
	bad, good, doubtful := write("a.c", "bad line"), write("a.c", "fine line"), write("a.c", "doubtful line")
	for _, c := range []struct {
		name   string
		files  string
		turns  []llmtest.Turn
		change func(*rig)
		want   []string
	}{
		{"mended", "-- a.c --\n", []llmtest.Turn{bad, llmtest.Say("done"), good, llmtest.Say("done")}, nil, []string{"0 → no check found", "asked", "0 → no check found", "done"}},
		{"left", "-- a.c --\n", []llmtest.Turn{bad, llmtest.Say("done"), llmtest.Say("it is not mine")}, nil, []string{"0 → no check found", "asked", "done"}},
		{"a warning", "-- a.c --\n", []llmtest.Turn{doubtful, llmtest.Say("done")}, nil, []string{"0 → no check found", "done"}},
		{"no fixes are asked for", "-- a.c --\n", []llmtest.Turn{bad, llmtest.Say("done")}, func(r *rig) { r.fix.Attempts = -1 }, []string{"0 → no check found", "done"}},
		{"no servers", "-- a.c --\n", []llmtest.Turn{bad, llmtest.Say("done")}, func(r *rig) { r.Cfg.CodeWatch = nil }, []string{"0 → no check found", "done"}},
		{"a check passes", shop, []llmtest.Turn{write("price/price.go", total("/* bad */ sum += p")), llmtest.Say("done")}, (*rig).fakeGo, []string{"0 " + someOfShop + " → 0", "0 " + allOfShop + " → 0", "done"}},
		{"what passes proves nothing", "-- a.c --\n", []llmtest.Turn{bad, llmtest.Say("done"), llmtest.Say("so be it")}, func(r *rig) { r.configure("true") }, []string{"0 true → 0", "asked", "done"}},
		{"a check cannot run", "-- a.c --\n", []llmtest.Turn{bad, llmtest.Say("done"), llmtest.Say("so be it")}, func(r *rig) {
			r.configure("true")
			r.Cfg.Tools = r.Cfg.Tools[:2]
		}, []string{"0 true → this session cannot run commands", "asked", "done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.files, c.turns...)
			r.serve()
			if c.change != nil {
				c.change(r)
			}
			es := r.run(nil)
			r.told(es, c.want...)
			for _, p := range prompts(es) {
				contains(t, p, "the language server finds 1 error that they brought", "a.c:1:1: error: bad line [x]", "It is data")
			}
			if c.name != "a check passes" {
				if v := r.View().Evidence().Verified; v != nil {
					t.Errorf("it counts as proof: %+v", v)
				}
			}
		})
	}
}

// SPEC 13.3: with a check that fails, what language servers find is quoted beside
// it; an error that one turn left is not asked about in the next.
func TestDiagnosticsBesideACheck(t *testing.T) {
	t.Parallel()
	r := newRig(
		t, "-- a.c --\n",
		write("a.c", "bad line"), llmtest.Say("done"), write("a.c", "fine"), llmtest.Say("done"),
		write("a.c", "bad again"), llmtest.Say("done"), llmtest.Say("left"),
		write("b.c", "fine"), llmtest.Say("done"),
	)
	r.serve()
	r.Put("check.sh", "if grep -q 'bad line' a.c; then echo 'a.c is bad'; exit 1; fi")
	r.configure("sh check.sh")
	es := r.run(nil)
	contains(t, prompts(es)[0], "fails with exit code 1", "a.c is bad", "a.c:1:1: error: bad line [x]")
	if n := len(prompts(es)); n != 1 {
		t.Errorf("%d prompts", n)
	}
	// Without a check that can run, in a later turn.
	r.finder.Configured = nil
	if es = r.run(nil); len(prompts(es)) != 1 {
		t.Errorf("asked %d times: %q", len(prompts(es)), story(es))
	}
	if es = r.run(nil); len(prompts(es)) != 0 {
		t.Errorf("asked again: %q", prompts(es))
	}
	if len(find[event.Diagnosed](es)) != 0 {
		t.Error(fmt.Sprint("an outcome that is no other one is recorded: ", find[event.Diagnosed](es)))
	}
}
