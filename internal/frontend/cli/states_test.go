package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// SPEC 2.5: pawl states draws every table, or the one asked for, and says what
// there is where it is asked for another.
func TestStates(t *testing.T) {
	run := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := Main(context.Background(), &App{Environment: setup.Environment{Err: &errs, Env: func(string) string { return "" }}, Out: &out, Args: append([]string{"states"}, args...)})
		return code, out.String(), errs.String()
	}
	for _, format := range []string{"text", "mermaid", "dot"} {
		code, all, _ := run("--format", format)
		if code != 0 {
			t.Errorf("--format %s: exit %d", format, code)
		}
		for _, table := range drawn() {
			want := must.Get(table.Draw(format))(t)
			if !strings.Contains(all, want) {
				t.Errorf("--format %s lacks %s", format, table.Name)
			}
			if code, one, _ := run("--format", format, table.Name); code != 0 || one != want {
				t.Errorf("--format %s %s: exit %d\n%s", format, table.Name, code, one)
			}
		}
	}
	if _, text, _ := run(); !strings.Contains(text, "agent: 7 states, 18 transitions") {
		t.Errorf("without a format:\n%s", text)
	}
	for what, args := range map[string][]string{"mermaid": {"--format", "png"}, "activity": {"weather"}, "usage": {"agent", "call"}} {
		if code, out, errs := run(args...); code != 2 || out != "" || !strings.Contains(errs, what) {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, errs)
		}
	}
}
