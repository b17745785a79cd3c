package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/plugin"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file runs pawl under the Claude Agent SDK (ADR 021, doc/programs.md).

// sdkFlags are the flags of a run that a program drives.
type sdkFlags struct {
	input   string
	asks    string
	partial bool
	hooks   bool
	replay  bool
	nobody  bool     // --permission-prompts none
	left    []string // flags that are not used, each with the reason
}

const inputFormat = "input-format"

// claudeStream is the output format with Claude Code's schema.
const claudeStream = "claude-stream-json"

func (s *sdkFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&s.input, inputFormat, "text", "text, or stream-json: read messages in the format of the Claude Agent SDK from standard input")
	fs.StringVar(&s.asks, "permission-prompt-tool", "", "stdio: ask the program on standard input for permissions")
	fs.BoolVar(&s.partial, "include-partial-messages", false, "with claude-stream-json: also print the parts of a reply as they arrive")
	fs.BoolVar(&s.hooks, "include-hook-events", false, "")
	fs.BoolVar(&s.replay, "replay-user-messages", false, "")
	fs.Func("permission-prompts", "", func(who string) error {
		if s.nobody = who == "none"; !s.nobody && who != "host" {
			return errors.New("use host or none")
		}
		return nil
	})
	for flag, note := range agentsdk.LeftFlags() {
		name := strings.TrimPrefix(flag, "--")
		if fs.Lookup(name) != nil {
			continue
		}
		fs.Func(name, "", func(string) error {
			s.left = append(s.left, flag+" is not used: "+note)
			return nil
		})
	}
	hideBare(fs)
}

// hideBare hides the flags without a description: they are other agents', or for programs.
func hideBare(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) { f.Hidden = f.Hidden || f.Usage == "" })
}

// leastTaskBudget is the least that the Claude API takes.
const leastTaskBudget = 20_000

// addGiven adds the flags by which a program hands over settings, servers and tools.
func addGiven(c *cobra.Command, opt *setup.Options) {
	fs := c.Flags()
	fs.StringArrayVar(&opt.Settings, "settings", nil, "")
	fs.StringArrayVar(&opt.Settings, "managed-settings", nil, "")
	fs.StringVar(&opt.Agent, "agent", "", "")
	for name, alone := range map[string]bool{"plugin-dir": false, "plugin-dir-no-mcp": true} {
		fs.Func(name, "", func(path string) error {
			opt.Plugins = append(opt.Plugins, agentsdk.Plugin{Path: path, NoServers: alone})
			return nil
		})
	}
	fs.StringVar(&opt.ForkAfter, "resume-session-at", "", "")
	fs.StringVar(&opt.Drops, "resume-drops-turn", "", "")
	fs.BoolVar(&opt.StrictMCP, "strict-mcp-config", false, "")
	fs.Func("tools", "", func(list string) error {
		if list != "default" {
			opt.Tools = append([]string{}, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })...)
		}
		return nil
	})
	fs.Func("max-thinking-tokens", "", func(n string) (err error) {
		opt.Effort, err = thinking(n)
		return err
	})
	fs.Func("task-budget", "", func(n string) (err error) {
		if opt.TaskBudget, err = strconv.Atoi(n); err != nil || opt.TaskBudget < leastTaskBudget {
			err = fmt.Errorf("it must be a number of tokens from %d on", leastTaskBudget)
		}
		return err
	})
	hideBare(fs)
}

// thinking returns the effort that thinks within a number of tokens.
func thinking(tokens string) (string, error) {
	n, err := strconv.Atoi(tokens)
	switch {
	case err != nil || n < 0:
		return "", errors.New("it must be a number of tokens")
	case n == 0:
		return "minimal", nil
	case n < 8192:
		return "low", nil
	case n < 31999:
		return "medium", nil
	}
	return "high", nil
}

// isSDK reports whether a program drives the conversation, or reads it in Claude
// Code's schema.
func (f *flags) isSDK() bool {
	return f.sdk.input != "" && f.sdk.input != "text" || f.format == claudeStream
}

// driven runs a conversation that a program drives.
func (a *App) driven(ctx context.Context, f *flags, args []string) error {
	o := agentsdk.Options{
		In: a.In, Out: a.Out, Err: wrapped(a.Err, false), Ask: f.sdk.asks == "stdio" && !f.sdk.nobody, Partial: f.sdk.partial, HookEvents: f.sdk.hooks, Replay: f.sdk.replay,
		Answer: f.shape, Version: Version, Timeout: f.Timeout, Now: a.Now, Signals: a.Signals(),
	}
	if err := f.asDriven(args); err != nil {
		return err
	}
	o.Silent = f.silent() // before the session is opened
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
	// A program that chooses no mode counts on being asked, as by Claude Code.
	mode := permission.AskMode
	if f.sdk.input == "text" {
		mode = ""
	}
	var s atomic.Pointer[setup.Opened]
	open := func(ctx context.Context, set agentsdk.Setup, g flags) (*session.Session, error) {
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
		now, err := a.Open(ctx, &g.Options, setup.Frontend{Name: "sdk", Person: o.Ask, Commands: true, Mode: mode})
		if err != nil {
			return nil, err
		}
		a.warn(now.Warnings...)
		s.Store(now)
		return now.Session, nil
	}
	o.Open = func(ctx context.Context, set agentsdk.Setup) (*session.Session, error) { return open(ctx, set, *f) }
	o.Reopen = func(ctx context.Context, set agentsdk.Setup, old *session.Session) (*session.Session, error) {
		if f.NoSession {
			return old, errors.New("a session that is not kept cannot be opened again")
		}
		g, v := *f, old.View()
		g.Resume, g.Continue, g.Fork, g.ForkAfter, g.Drops, g.SessionID = old.ID(), false, false, "", "", ""
		g.Model, g.Mode = v.Info().Ref(), string(v.Mode())
		if was := s.Swap(nil); was != nil {
			was.Close()
		}
		return open(ctx, set, g)
	}
	o.Custom = func(set agentsdk.Setup) []slash.Custom {
		s := s.Load()
		if s == nil {
			return a.Commands(with(f.Options, set))
		}
		return slices.Concat(s.Custom, slash.Prompts(s.Session))
	}
	o.SetServers = func(ctx context.Context, config []byte) (any, error) { return s.Load().SetServers(ctx, config) }
	o.Models = func() (out []string) {
		for _, ref := range a.knownModels(ctx) {
			out = append(out, strings.Split(ref, "\t")[0])
		}
		return out
	}
	o.Kinds = func(set agentsdk.Setup) []agents.Kind { return a.kindsHere(with(f.Options, set)) }
	o.Plugins = func() []plugin.Plugin {
		if s := s.Load(); s != nil {
			return s.Plugins
		}
		return nil
	}
	a.warn(f.sdk.left...)
	surviveClosedOutput()
	code, err := agentsdk.Run(ctx, o)
	if s := s.Load(); s != nil {
		s.Close()
	}
	if bad := (*agentsdk.InputError)(nil); errors.As(err, &bad) {
		if bad.Told {
			a.warn(err.Error())
			return &exitError{code: 2}
		}
		return usageError("%w", err)
	}
	if err != nil || code == 0 {
		return err
	}
	return &exitError{code: code}
}

// silent reports whether nobody is asked, as the mode says. It replaces that mode's name
// by pawl's.
func (f *flags) silent() bool {
	if f.Mode != agentsdk.DontAsk {
		return false
	}
	f.Mode = string(permission.AskMode)
	return true
}

// with returns the options with what the program provides.
func with(opt setup.Options, set agentsdk.Setup) *setup.Options {
	opt.Driver = set
	return &opt
}

// kindsHere lists the kinds of agents of the folder that a run works in.
func (a *App) kindsHere(opt *setup.Options) []agents.Kind {
	_, paths, err := a.Settings()
	dir, err2 := a.RealDir(opt.Dir)
	if err != nil || err2 != nil {
		return nil // opening the session reports it
	}
	kinds, _ := a.AgentKinds(dir, paths, slices.Concat(opt.Plugins, opt.Driver.Plugins)...)
	return kinds
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
