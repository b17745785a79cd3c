// Package cli is pawl's command line: flags, subcommands (one file each) and exit
// codes. Package setup opens its sessions, and a frontend runs them. It contains no
// policy.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/team/structured"
)

// Version is pawl's version. `make dist` sets it by the linker, and main sets it if `go
// install` built a release.
var Version = "0.1.0-dev"

// App is the environment of the command line.
type App struct {
	setup.Environment // its Version is set by Main

	In   io.Reader
	Out  io.Writer
	Args []string // without the name of the program
	// Terminal reports whether both In and Out are terminals.
	Terminal bool
	// Signals starts to handle SIGINT, SIGTERM and SIGHUP, and returns a channel of
	// their names. Before it is called, these signals end the process.
	Signals func() <-chan string
	// NATSLease is how long a worker on another machine may be silent; 0 means 30 s.
	NATSLease time.Duration
}

// exitError carries an exit code up to Main. Its message, if any, is not printed yet.
type exitError struct {
	code   int
	err    error
	result bool // the result was written as JSON already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError returns the error for a wrong command line: exit code 2.
func usageError(format string, args ...any) error { return setup.Usage(format, args...) }

// Main runs a command line and returns the exit code.
func Main(ctx context.Context, a *App) int {
	private()
	a.Version = Version
	a.Prepare()
	root := a.root()
	if len(a.Args) > 0 && strings.HasPrefix(a.Args[0], cobra.ShellCompRequestCmd) { // no other use of cobra's request
		a.complete(root)
		root.SetArgs(a.Args)
	} else {
		root.SetArgs(asRun(root, withResume(a.Args, a.Terminal)))
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	wrapHelp(root, func() int { return columns(a.Out) })
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code, said := exitCode(err)
	if !said {
		fmt.Fprintln(wrapped(a.Err, false), "pawl: "+plain.Text(err.Error()))
		if e := (*exitError)(nil); wantsJSON(a.Args) && !(errors.As(err, &e) && e.result) { // a program that reads JSON gets an object for every error
			if b, merr := json.Marshal(headless.Failure(code, turn.Describe(err))); merr == nil {
				fmt.Fprintln(a.Out, string(b))
			}
		}
	}
	return code
}

// exitCode returns the exit code of an error, and whether the error was printed
// already.
func exitCode(err error) (code int, said bool) {
	if e := (*exitError)(nil); errors.As(err, &e) {
		return e.code, e.err == nil
	}
	if e := (*setup.UsageError)(nil); errors.As(err, &e) {
		return 2, false
	}
	if store.Full(err) {
		return headless.Full, false
	}
	switch fault.CategoryOf(err) {
	case fault.Configuration:
		return 3, false
	case fault.Provider, fault.LLM:
		return 4, false
	case fault.Budget:
		return 6, false
	case fault.Permission:
		return 8, false
	case fault.Cancellation:
		return 130, false
	}
	return 1, false
}

// flags are the flags of every command that opens a session.
type flags struct {
	setup.Options
	pickSession bool   // the person picks the session to continue
	worktree    string // the name of a linked working tree, "" for none
	format      string
	verify      bool
	verbose     bool
	print       bool
	plain       bool
	goal        goal
	sdk         sdkFlags
	attached    *attached // set: the session is another process's
	inside      *inside   // what /serve started

	schema string             // the path of a file, or JSON
	shape  *structured.Answer // from the schema
}

func (a *App) root() *cobra.Command {
	f := &flags{}
	version := false
	root := &cobra.Command{
		Use:   "pawl [flags] [PROMPT | command]",
		Short: "A coding agent for the terminal",
		Long: `pawl is a coding agent for the terminal.

Without a command, it starts a conversation in the current folder. If there is a
PROMPT, the conversation starts with it. With -p, or without a terminal, pawl runs
the prompt without asking questions, like "pawl run".`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if version {
				return nil
			}
			return noCommand(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if version {
				return printVersion(a.Out)
			}
			if err := f.notAnOverride(args); err != nil {
				return err
			}
			switch {
			case a.Terminal:
				return a.converse(c.Context(), f, strings.Join(args, " "))
			case len(args) > 0:
				return a.run(c.Context(), f, args)
			default:
				return usageError("a conversation needs a terminal; without one, run a prompt: pawl run \"…\", or pipe it into pawl run")
			}
		},
	}
	// The version flag of cobra prints by a template. Templates call methods by name,
	// so the linker would have to keep the methods of all types.
	root.Flags().BoolVarP(&version, "version", "v", false, "print pawl's version")
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = checkFlags
	f.addSession(root)
	f.addWorktree(root)
	f.addRun(root)
	root.Flags().BoolVarP(&f.print, "print", "p", false, "run one prompt (argument or standard input) without asking questions, and print the answer")
	root.Flags().BoolVar(&f.plain, "plain", false, "show the conversation line by line, not on a full screen: for screen readers and logs")
	root.AddCommand(
		progressCommand(a),
		runCommand(a), attachCommand(a), serveCommand(a), demoCommand(a), repairCommand(a), sessionsCommand(a), modelsCommand(a),
		doctorCommand(a), permissionsCommand(a), undoCommand(a), redoCommand(a), diffCommand(a), statesCommand(a), exitCodesTopic(),
		whyCommand(a), statsCommand(a), replayCommand(a), rulesCommand(a), memoryCommand(a), versionCommand(a),
		sandboxCommand(a), trustCommand(a), lspCommand(a), mcpCommand(a), hooksCommand(a), pluginCommand(a), swarmCommand(a), workerCommand(a), acpCommand(a),
		configCommand(a), manCommand(a), licensesCommand(a), flagsTopic(),
	)
	root.AddCommand(a.forPerson(loginCommand(a), logoutCommand(a))...)
	shellScripts(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c == root {
			rootHelp(c.OutOrStdout(), root)
			return
		}
		help(c, args)
	})
	return root
}

// addSession adds the flags that choose the session, the folder and the model.
func (f *flags) addSession(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVarP(&f.Dir, "dir", "C", "", "work in this folder instead of the current one")
	addModel(c, &f.Options, "the model: provider/model, a provider, or offline", "the session")
	addRights(c, &f.Options)
	fs.BoolFuncP("yolo", "y", "the same as --permission-mode yolo: pawl asks nothing", func(string) error { f.Mode = "yolo"; return nil })
	fs.BoolFunc("full-auto", "the same as --permission-mode auto", func(string) error { f.Mode = "auto"; return nil })
	fs.StringVar(&f.SystemPrompt, "system-prompt", "", "use this system prompt instead of pawl's own")
	fs.StringVar(&f.AppendPrompt, "append-system-prompt", "", "add this text to the system prompt")
	fs.StringSliceVar(&f.AddDirs, "add-dir", nil, "allow reading in this folder, too; writing there needs a permission (repeatable)")
	fs.StringArrayVar(&f.MCPConfig, "mcp-config", nil, "MCP servers for this session: a file like .mcp.json, or JSON text (repeatable)")
	fs.StringVar(&f.SessionID, "session-id", "", "the id of the new session: 8 to 64 letters, digits and hyphens")
	fs.StringVar(&f.Route, "route", "", "how prompts are classified: auto, off, read, edit, run or profile (see doc/tasks.md)")
	fs.StringVar(&f.MetricsAddr, "metrics-addr", "", "serve Prometheus metrics on this address, such as 127.0.0.1:9464")
	fs.BoolVar(&f.NoSession, "no-session", false, "do not save this session")
	fs.BoolVarP(&f.Continue, "continue", "c", false, "continue the newest session of this folder")
	fs.StringVarP(&f.Resume, "resume", "r", "", "continue this session (the start of its id is enough, if it is unique); without an id: pick one")
	fs.BoolVar(&f.Fork, "fork-session", false, "with --continue or --resume: continue in a copy of the session")
	fs.SetNormalizeFunc(othersWords)
	addAutofix(c, &f.Options)
	addGiven(c, &f.Options)
	fs.StringVar(&f.Plan, "plan", "", "read the phases of the task from this Markdown file (see doc/tasks.md)")
	exclude(c, "continue", "resume", "no-session")
	exclude(c, "yolo", "full-auto", "permission-mode")
}

// addModel adds the flags of the model, which about describes, and the limits of what
// who, such as "the session", may spend on it.
func addModel(c *cobra.Command, opt *setup.Options, about, who string) {
	fs := c.Flags()
	fs.StringVarP(&opt.Model, "model", "m", "", about)
	fs.StringVar(&opt.Effort, "effort", "", "reasoning effort: "+strings.Join(catalog.Efforts(), ", "))
	fs.Float64Var(&opt.MaxUSD, "max-budget-usd", 0, "stop before "+who+" costs more than this (USD)")
	fs.Int64Var(&opt.MaxTokens, "max-tokens-total", 0, "stop before "+who+" uses more tokens than this (input and output)")
	fs.StringVar(&opt.Budget, "budget", "", "limits for "+who+": quick, standard, deep or unlimited (see doc/budgets.md)")
	fs.StringArrayVar(&opt.Fallback, "fallback-model", nil, "use this model if the first one does not answer (repeatable)")
	fs.StringVar(&opt.RetryFor, "retry-for", "", "retry a request for this long if the server does not answer, such as 10m; 0: do not retry (default 5m)")
}

// addRights adds the flags for what may be done without a question.
func addRights(c *cobra.Command, opt *setup.Options) {
	fs := c.Flags()
	fs.StringVar(&opt.Mode, "permission-mode", "", permission.ModeNames())
	fs.StringVar(&opt.Sandbox, "sandbox", "", "how commands are confined: workspace, read-only or off (see doc/safety.md)")
	fs.StringArrayVar(&opt.Allow, "allow", nil, "allow calls that match this rule, such as 'bash(go generate *)' (repeatable)")
	fs.StringArrayVar(&opt.Deny, "deny", nil, "deny calls that match this rule (repeatable)")
}

// addWorktree adds the flag --worktree, for commands that choose their folder
// themselves.
func (f *flags) addWorktree(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVarP(&f.worktree, "worktree", "w", "", "work in a git worktree, on its own branch (see doc/conversation.md)")
	fs.Lookup("worktree").NoOptDefVal = anyTree
}

// addRun adds the flags of a run without a person.
func (f *flags) addRun(c *cobra.Command) {
	f.addResult(c)
	f.goal.add(c)
	fs := c.Flags()
	fs.BoolVar(&f.verbose, "verbose", false, "show the size of each request (messages, tools, tokens); with --plain also the thinking")
	fs.StringVar(&f.schema, "json-schema", "", "require an answer in JSON that matches this schema (a file or JSON text); ask again at most twice")
	for name := range needlessFlags {
		fs.BoolFunc(name, "", func(string) error { return nil }) // it takes any value, as in --debug=api
	}
	hideBare(fs)
}

// addResult adds the flags that limit a run and choose the form of its result.
func (f *flags) addResult(c *cobra.Command) {
	fs := c.Flags()
	fs.IntVar(&f.MaxTurns, "max-turns", 0, "stop after this many model replies")
	fs.DurationVar(&f.Timeout, "timeout", 0, "stop after this long, such as 90s or 10m")
	fs.StringVar(&f.format, "output-format", "text", "text, json, stream-json or claude-stream-json (see doc/programs.md)")
	fs.BoolFunc("json", "the same as --output-format stream-json", func(string) error { f.format = "stream-json"; return nil })
	_ = fs.MarkHidden("json")
	fs.BoolVar(&f.Trust, "trust", false, "for this run, trust the programs that this folder configures, such as its checks (see pawl trust)")
	fs.BoolVar(&f.verify, "verify", false, "exit with code 9 if files changed and no check with tests passed after the last change")
}

// addAutofix adds the flags that decide whether the changes of a turn are checked.
func addAutofix(c *cobra.Command, opt *setup.Options) {
	c.Flags().BoolVar(&opt.Autofix, "autofix", false, "run the project's checks after changes and have the model fix failures, even if the configuration turns this off")
	c.Flags().BoolVar(&opt.NoAutofix, "no-autofix", false, "do not run the project's checks after changes")
	exclude(c, "autofix", "no-autofix")
}
