package cli

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// parsed reads a command line as far as its flags and words, and runs nothing.
func parsed(t *testing.T, args []string) error {
	t.Helper()
	a := &App{Environment: setup.Environment{Err: io.Discard, Env: func(k string) string { return map[string]string{"HOME": "/home/nobody"}[k] }, Dir: t.TempDir()}, In: strings.NewReader("from stdin"), Out: io.Discard}
	root := a.root()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	for _, c := range append(root.Commands(), root) {
		runnable(c)
	}
	root.SetArgs(append([]string{}, asRun(root, args)...)) // cobra takes the test's own for nil
	return root.Execute()
}

// runnable has a command and those below it do nothing.
func runnable(c *cobra.Command) {
	if c.RunE != nil {
		c.RunE = func(*cobra.Command, []string) error { return nil }
	}
	for _, s := range c.Commands() {
		runnable(s)
	}
}

var inTicks = regexp.MustCompile("`(pawl[^`]*)`")

var slashes = regexp.MustCompile("`/[a-z]+`")

// taken returns the parts of the page for those who come from another agent that say
// what works in pawl: what is unchanged, and the right column of the tables.
func taken(t *testing.T) (out []string) {
	t.Helper()
	page := must.Get(os.ReadFile("../../../doc/coming-from.md"))(t)
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "¦"), "|")
		switch {
		case strings.HasPrefix(line, "Unchanged: "):
			out = append(out, line)
		case len(cells) == 4 && !strings.Contains(cells[2], "not here") && !strings.Contains(cells[2], "not read"):
			out = append(out, cells[2])
		}
	}
	return out
}

// words returns the arguments of a pawl command line as a shell reads them.
func words(t *testing.T, line string) []string {
	t.Helper()
	cmds, err := command.Parse(line, "/")
	if err != nil || len(cmds) == 0 || cmds[0].Words[0].Text != "pawl" {
		t.Fatalf("%s: %v", line, err)
	}
	args := []string{} // not nil, for which cobra takes those of the test itself
	for _, w := range cmds[0].Words[1:] {
		args = append(args, w.Text)
	}
	return args
}

// SPEC 17.6: the page says of no word that it works which does not.
func TestComingFrom(t *testing.T) {
	lines, commands := 0, 0
	for _, part := range taken(t) {
		for _, c := range slashes.FindAllString(part, -1) {
			commands++
			if _, err := slash.Find(strings.Trim(c, "`/")); err != nil {
				t.Errorf("%s: %v", c, err)
			}
		}
		for _, m := range inTicks.FindAllStringSubmatch(part, -1) {
			lines++
			if err := parsed(t, words(t, m[1])); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
		}
	}
	if lines < 90 || commands < 8 {
		t.Errorf("only %d command lines and %d slash commands were found on the page", lines, commands)
	}
}

// What the page says is not here is refused in words that say what is.
func TestNotHere(t *testing.T) {
	for _, args := range []string{
		"update", "-a never", "-i shot.png", "--yes-always x", "--test-cmd x y", "exec --image a.png x",
		"--share x", "run --format json x", "--data-dir x", "logs", "update-providers", "--mode rpc", "--list-models", "--provider anthropic x", "--export x", "--no-tools x", "--title x", "web", "export",
		"--prompt-interactive x", "--checkpointing", "-p --agents {} x", "--architect", "extensions install x", "auth login", "--list-sessions", "resume --last", "--oss",
	} {
		err := parsed(t, strings.Fields(args))
		if err == nil {
			t.Errorf("pawl %s is taken", args)
			continue
		}
		if code, _ := exitCode(err); code != 2 || !strings.Contains(err.Error(), "in pawl: ") && !strings.Contains(err.Error(), "unknown command ") {
			t.Errorf("pawl %s: exit code %d: %v", args, code, err)
		}
	}
}

// Every hint is about a flag that pawl does not have, and none is empty.
func TestHintsAreOfOthers(t *testing.T) {
	a := &App{Environment: setup.Environment{Env: func(string) string { return "" }}}
	root := a.root()
	for name, hint := range otherFlags {
		if hint == "" || root.Flags().Lookup(strings.TrimPrefix(name, "--")) != nil {
			t.Errorf("%s: pawl has it: %q", name, hint)
		}
	}
	for short, hint := range otherShort {
		if hint == "" || root.Flags().ShorthandLookup(short) != nil {
			t.Errorf("-%s: pawl has it: %q", short, hint)
		}
	}
	for name, hint := range otherCommands {
		if hint == "" || isCommand(root, name) {
			t.Errorf("%s: pawl has it: %q", name, hint)
		}
	}
	for name, ours := range sameFlags {
		if root.Flags().Lookup(ours) == nil {
			t.Errorf("--%s is --%s, which is not there", name, ours)
		}
	}
}

// Several values behind a flag of Claude Code's are no prompt; what is not a value
// stays one.
func TestOneByOne(t *testing.T) {
	for in, want := range map[string]string{
		"-p --allowedTools Bash Edit hello":      "-p --allowedTools Bash --allowedTools Edit hello",
		"--allowedTools=Bash Read(src/**) -p":    "--allowedTools=Bash --allowedTools Read(src/**) -p",
		"--disallowedTools mcp__a__b WebFetch x": "--disallowedTools mcp__a__b --disallowedTools WebFetch x",
		"--allow Bash Edit":                      "--allow Bash Edit",
		"--allowedTools Bash Fix it":             "--allowedTools Bash Fix it",
		"-- --allowedTools Bash Edit":            "-- --allowedTools Bash Edit",
		"--allowedTools":                         "--allowedTools",
		"--add-dir .. ./. x":                     "--add-dir .. --add-dir ./. x",
	} {
		if got := strings.Join(oneByOne(strings.Fields(in)), " "); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
