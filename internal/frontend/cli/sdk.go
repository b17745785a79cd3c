package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// This file runs pawl under the Claude Agent SDK (ADR 021, doc/sdk.md).

// sdkFlags are the flags of a run that a program drives.
type sdkFlags struct {
	input   string
	asks    string
	partial bool
	sources string
}

const (
	inputFormat = "input-format"
	allSources  = "all" // --setting-sources was not given
)

// claudeStream is the output format with Claude Code's schema.
const claudeStream = "claude-stream-json"

func (s *sdkFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&s.input, inputFormat, "text", "text, or stream-json: read messages in the format of the Claude Agent SDK from standard input")
	fs.StringVar(&s.asks, "permission-prompt-tool", "", "stdio: ask the program on standard input for permissions")
	fs.BoolVar(&s.partial, "include-partial-messages", false, "with claude-stream-json: also print the parts of a reply as they arrive")
	fs.StringVar(&s.sources, "setting-sources", allSources, "")
	_ = fs.MarkHidden("setting-sources")
}

// driven reports whether a program drives the conversation, or reads it in Claude
// Code's schema.
func (f *flags) driven() bool {
	return f.sdk.input != "" && f.sdk.input != "text" || f.format == claudeStream
}

// driven runs a conversation that a program drives.
func (a *App) driven(ctx context.Context, f *flags, args []string) error {
	o := agentsdk.Options{
		In: a.In, Out: a.Out, Err: wrapped(a.Err, false), Ask: f.sdk.asks == "stdio", Partial: f.sdk.partial,
		Answer: f.shape, Version: Version, Timeout: f.Timeout, Now: a.Now, Signals: a.Signals(),
	}
	if err := f.asDriven(args); err != nil {
		return err
	}
	if f.sdk.input == "text" {
		var err error
		if o.Prompt, o.Piped, err = a.prompt(args); err != nil {
			return err
		}
	}
	leave, err := a.inWorktree(ctx, f)
	if err != nil {
		return err
	}
	defer leave()
	var s *setup.Opened
	o.Open = func(ctx context.Context, set agentsdk.Setup) (*session.Session, error) {
		g := *f
		g.Driver = set
		g.Ask, g.Deny = set.Ask, slices.Concat(f.Deny, set.Deny)
		if set.System != "" {
			g.SystemPrompt = set.System
		}
		if set.Append != "" {
			g.AppendPrompt = set.Append
		}
		if set.Answer != nil {
			g.AppendPrompt = strings.TrimSpace(g.AppendPrompt + "\n\n" + set.Answer.Instruction())
		}
		var err error
		if s, err = a.Open(ctx, &g.Options, setup.Frontend{Name: "sdk", Person: o.Ask, Commands: true}); err != nil {
			return nil, err
		}
		for _, w := range s.Warnings {
			fmt.Fprintln(o.Err, "pawl: "+plain.Line(w))
		}
		return s.Session, nil
	}
	o.Custom = func() []slash.Custom {
		if s == nil {
			return a.Commands(&f.Options)
		}
		return slices.Concat(s.Custom, slash.Prompts(s.Session))
	}
	if f.sdk.sources != allSources {
		fmt.Fprintln(o.Err, "pawl: --setting-sources is ignored: pawl reads its own settings; see pawl config path")
	}
	surviveClosedOutput()
	code, err := agentsdk.Run(ctx, o)
	if s != nil {
		s.Close()
	}
	if bad := (*agentsdk.InputError)(nil); errors.As(err, &bad) {
		if bad.Told {
			fmt.Fprintln(o.Err, "pawl: "+plain.Line(err.Error()))
			return &exitError{code: 2}
		}
		return usageError("%w", err)
	}
	if err != nil || code == 0 {
		return err
	}
	return &exitError{code: code}
}

// asDriven checks that the flags can be combined.
func (f *flags) asDriven(args []string) error {
	switch {
	case f.format != claudeStream && f.format != string(headless.Stream):
		return usageError("--input-format stream-json needs --output-format stream-json")
	case f.sdk.input == "stream-json" && len(args) > 0:
		return usageError("with --input-format stream-json, send the prompt on standard input, not as an argument")
	case f.sdk.asks != "" && f.sdk.asks != "stdio":
		return usageError("--permission-prompt-tool takes stdio, not %q; to allow calls without a question: --allow or --permission-mode", f.sdk.asks)
	case f.sdk.asks != "" && f.sdk.input == "text":
		return usageError("--permission-prompt-tool stdio needs --input-format stream-json, to read the answers")
	case f.verify, f.goal.command != "":
		return usageError("--verify and --until run one prompt: do not use --input-format or claude-stream-json with them")
	}
	return nil
}
