package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/offline/demo"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

const demoPrompt = "The tests of this project fail. Find the bug and fix it."

// demoCommand runs the real agent on a small broken project, on the same screen
// as everything else.
func demoCommand(a *App) *cobra.Command {
	bug, f := 0, &flags{Options: setup.Options{Model: "offline", Mode: "accept-edits"}, format: "text"}
	c := &cobra.Command{
		Use: "demo", Short: "Watch the agent find and fix a bug, with no key and no network",
		Long: `Copy a small broken Go project to a temporary folder and run the real agent on
it with the built-in planner, which is not a language model. This is not a
recording: with --bug there is another bug, and the agent finds it. On a terminal,
you can continue the conversation: /diff, /undo turn, /why.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), a, f, bug) },
	}
	c.Flags().IntVar(&bug, "bug", 0, fmt.Sprintf("put this bug into the project, 0 to %d", len(demo.Bugs())-1))
	c.Flags().BoolVar(&f.plain, "plain", false, "print line by line, also on a terminal")
	return c
}

func runDemo(ctx context.Context, a *App, f *flags, bug int) error {
	if bug < 0 || bug >= len(demo.Bugs()) {
		return usageError("unknown bug %d: use a number from 0 to %d", bug, len(demo.Bugs())-1)
	}
	fmt.Fprintln(wrapped(a.Out, false), "pawl demo: the model is the built-in planner, not a language model; no key and no network are used")
	dir, err := os.MkdirTemp("", "pawl-demo-*")
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if err := demo.Write(dir, bug); err != nil {
		return err
	}
	f.Dir = dir
	next := fmt.Sprintf(`
Next:
  1. undo the changes:     pawl undo -C %s
  2. try another bug:      pawl demo --bug %d
  3. your own project:     export ANTHROPIC_API_KEY=… (or another key; see pawl models), then pawl in its folder
`, dir, (bug+1)%len(demo.Bugs()))
	conf, paths, err := a.Settings()
	if err != nil {
		return err
	}
	if t := a.screenOn(f, conf.User.Screen); t != nil {
		fmt.Fprintf(wrapped(a.Out, false), "a small broken project is in %s; press Ctrl+D to leave\n\n", dir)
		if err := a.onScreen(ctx, f, setup.Frontend{Name: "demo", OwnFolder: true}, demoPrompt, t, conf, paths); err != nil {
			return err
		}
		_, err := io.WriteString(wrapped(a.Out, true), next)
		return err
	}
	fmt.Fprintf(wrapped(a.Out, false), "a small broken project is in %s\n\n$ pawl run -C %s -m offline %q\n", dir, dir, demoPrompt)
	s, err := a.Open(ctx, &f.Options, setup.Frontend{Name: "demo", OwnFolder: true})
	if err != nil {
		return err
	}
	defer s.Close()
	// One screen: progress and answer belong together here.
	r, err := headless.Run(ctx, s.Session, demoPrompt, headless.Options{
		Trust: s.Trust.Event(), Format: headless.Text, Out: a.Out, Err: wrapped(a.Out, false), Columns: columns(a.Out), Now: a.Now, Signals: a.Signals(), Abort: os.Exit,
	})
	if err != nil {
		return err
	}
	diff, err := s.View().Changes().Diff(ctx, undo.Selector{Kind: undo.ByTurn})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\nThe change:\n%s", plain.Text(diff))
	if v := r.Verified; v != nil {
		fmt.Fprintf(a.Out, "\nThe evidence: %s, exit code %d, after the last change.\n", plain.Line(v.Command), v.Exit)
	} else {
		fmt.Fprintf(a.Out, "\nThe evidence: none: %s.\n", plain.Line(r.Unverified))
	}
	_, spent := s.View().Spent()
	fmt.Fprintf(a.Out, "The cost: %s.\n", brief.Spending(spent))
	if _, err := io.WriteString(wrapped(a.Out, true), next); err != nil {
		return err
	}
	if r.ExitCode != 0 {
		return &exitError{code: r.ExitCode}
	}
	return nil
}
