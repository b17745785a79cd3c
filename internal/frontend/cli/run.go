package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/engine/mention"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/team/structured"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// maxPrompt is the size limit of a prompt, in bytes: no model accepts more.
const maxPrompt = 4 << 20

func runCommand(a *App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "run [flags] PROMPT", Aliases: []string{"exec"},
		Short: "Run one prompt without asking questions",
		Long: `Run one prompt without asking questions. The answer goes to stdout, progress to
stderr. The prompt is the argument, standard input, or both (the argument first).
A call that needs a permission is denied, and the result lists it.
See "pawl help exit-codes".`,
		RunE: func(c *cobra.Command, args []string) error { return a.run(c.Context(), f, args) },
	}
	f.addSession(c)
	f.addWorktree(c)
	f.addRun(c)
	f.sdk.add(c)
	return c
}

func (a *App) run(ctx context.Context, f *flags, args []string) error {
	if err := f.parseSchema(); err != nil {
		return err
	}
	if f.isSDK() {
		return a.driven(ctx, f, args)
	}
	f.silent() // a run asks nobody
	a.warn(f.sdk.left...)
	if err := f.notAnOverride(args); err != nil {
		return err
	}
	if f.goal.command != "" && len(args) == 0 && keyboard(a.In) {
		args = []string{until.Prompt(f.goal.command)}
	}
	prompt, piped, err := a.prompt(args)
	if err != nil {
		return err
	}
	leave, err := a.inWorktree(ctx, f)
	if err != nil {
		return err
	}
	defer leave()
	if f.goal.made, err = a.goal(f, f.goal); err != nil {
		return err
	}
	if f.shape != nil {
		f.AppendPrompt = strings.TrimSpace(f.AppendPrompt + "\n\n" + f.shape.Instruction())
	}
	calls := strings.HasPrefix(strings.TrimSpace(prompt), "/")
	if calls { // else the session of an unknown command would be the newest one
		if err := named(slash.Sent(a.Commands(&f.Options), prompt)); err != nil {
			return err
		}
	}
	s, err := a.Open(ctx, &f.Options, setup.Frontend{Name: "headless", Commands: calls})
	if err != nil { // a person mends all at once
		for _, name := range mention.Missing(prompt, func(name string) bool { _, err := os.Stat(a.Path(name)); return err == nil }) {
			a.warn("there is no file " + name)
		}
		return err
	}
	defer s.Close()
	return a.headless(ctx, s, prompt, piped, f)
}

// headless runs a prompt in an open session; the error carries the exit code.
func (a *App) headless(ctx context.Context, s *setup.Opened, prompt, piped string, f *flags) error {
	format := headless.Format(f.format)
	a.warn(s.Warnings...)
	surviveClosedOutput()
	r, err := headless.Run(ctx, s.Session, prompt, headless.Options{
		Trust: s.Trust.Event(), Piped: piped, Custom: s.Custom, Format: format, Verbose: f.verbose, Verify: f.verify, Until: f.goal.made, Answer: f.shape, Undo: f.followUpCommand("undo"), Why: f.followUpCommand("why"), Timeout: f.Timeout, Out: a.Out, Err: wrapped(a.Err, false), Columns: columns(a.Out), Now: a.Now, Signals: a.Signals(), Abort: os.Exit,
	})
	if err != nil && format != headless.Text && r.Type != "" { // the result contains the error
		return &exitError{code: r.ExitCode, err: err, result: true}
	}
	if err != nil {
		return named(err)
	}
	if r.ExitCode != 0 {
		return &exitError{code: r.ExitCode}
	}
	return nil
}

// named turns the error for an unknown command into a usage error.
func named(err error) error {
	if no := (*slash.NoCommand)(nil); errors.As(err, &no) {
		return usageError("%w", err)
	}
	return err
}

// parseSchema reads the schema of the answer, if one is given.
func (f *flags) parseSchema() (err error) {
	if f.schema == "" {
		return nil
	}
	raw := []byte(f.schema)
	if !strings.HasPrefix(strings.TrimSpace(f.schema), "{") {
		if raw, err = os.ReadFile(f.schema); err != nil {
			return usageError("--json-schema: cannot read the file: %w", err)
		}
	}
	if f.shape, err = structured.New(raw); err != nil {
		return usageError("--json-schema: %w", err)
	}
	return nil
}

// followUpCommand returns a command line for the session after the run, or "" if the session is
// not stored.
func (f *flags) followUpCommand(command string) string {
	switch {
	case f.NoSession:
		return ""
	case f.Dir != "":
		return "pawl " + command + " -C " + shellsyntax.Quote(f.Dir)
	}
	return "pawl " + command
}

// prompt returns the prompt from arguments and standard input. If both are given,
// standard input (piped) is data for the prompt.
func (a *App) prompt(args []string) (text, piped string, err error) {
	if text = strings.Join(args, " "); text == "-" { // standard input, as in other programs
		text = ""
	}
	if text == "" && !keyboard(a.In) || text != "" && a.inputWaits() {
		in, err := io.ReadAll(io.LimitReader(a.In, maxPrompt+1))
		if err != nil {
			return "", "", usageError("cannot read the prompt from standard input: %w", err)
		}
		if piped = string(in); text == "" {
			text, piped = piped, ""
		}
	}
	switch {
	case len(text)+len(piped) > maxPrompt:
		return "", "", usageError("the prompt is longer than %d MB, the limit for prompts; write it to a file, and name the file in the prompt", maxPrompt>>20)
	case !utf8.ValidString(text) || !utf8.ValidString(piped):
		return "", "", usageError("the prompt is not UTF-8 text; write it to a file, and name the file in the prompt")
	case strings.TrimSpace(text) == "":
		return "", "", usageError("no prompt: write it as an argument, or pipe it to standard input")
	}
	return text, piped, nil
}
